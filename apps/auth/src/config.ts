import { storeVariables } from '@gatehouse/credentials';
import { serverEnvironment } from '@gatehouse/http';
import { keyRingField } from '@gatehouse/secrets';
import { z } from 'zod';

/** What the server and the worker read alike. */
export const storeEnvironment = serverEnvironment.extend(storeVariables);

export const environment = storeEnvironment.extend({
  SECRETS_KEY_RING: keyRingField,
  /** Password hashes that are computed at the same time. Default: see `hashConcurrency`. */
  PASSWORD_HASH_CONCURRENCY: z.coerce.number().int().min(1).optional(),
  /** Node's own: the threads of libuv's pool. */
  UV_THREADPOOL_SIZE: z.coerce.number().int().min(1).default(4),
  /** Sign-ins that wait for their hash. At 5 to 35 ms each, 64 wait up to two seconds for one core. */
  PASSWORD_HASH_QUEUE: z.coerce.number().int().min(0).default(64),
  /** How long a rotated refresh token is answered with the same successor again. */
  REFRESH_GRACE_SECONDS: z.coerce.number().int().min(0).max(60).default(10),
});

export type Config = z.output<typeof environment>;
