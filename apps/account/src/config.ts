import { kindOfKey, storeVariables } from '@gatehouse/credentials';
import { serverEnvironment } from '@gatehouse/http';
import { keyRingField } from '@gatehouse/secrets';
import { z } from 'zod';

export const environment = serverEnvironment.extend({
  ...storeVariables,
  CREDENTIALS_PEPPERS: keyRingField,
  /** Where the auth service is, inside the installation. */
  AUTH_URL: z.url(),
  /** The publishable key of the built-in console project, through which account owners sign in. */
  CONSOLE_PUBLISHABLE_KEY: z
    .string()
    .refine((key) => kindOfKey(key) === 'pub', 'not a publishable key (gh_pub_…)'),
});
