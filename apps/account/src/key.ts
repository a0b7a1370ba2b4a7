import type { ApiKey } from '@gatehouse/database';
import { z } from 'zod';
import { scopes, type Scope } from './scopes.ts';

/** An API key as it is listed: enough to recognise it, nothing to use it. */
export const keyBody = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string().meta({ description: '`gh_live_` or `gh_test_`.' }),
    last_four: z.string(),
    scopes: z.array(z.enum(scopes)),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ApiKey' });

export const renderKey = (key: ApiKey): z.output<typeof keyBody> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last_four: key.lastFour,
  scopes: key.scopes as Scope[],
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
});
