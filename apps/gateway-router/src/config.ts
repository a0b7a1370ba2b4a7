import { serverEnvironment } from '@gatehouse/http';
import { z } from 'zod';

/** An origin inside the cluster. Plain HTTP: where it must be encrypted, a mesh does that. */
const origin = z
  .url({ protocol: /^http$/ })
  .transform((url) => new URL(url))
  .refine(({ pathname, search }) => pathname === '/' && search === '', 'must have no path');

export const environment = serverEnvironment.extend({
  AUTH_URL: origin,
  MODEL_GATEWAY_URL: origin,
  MEMORY_URL: origin,
  REGISTRY_URL: origin,
  ACCOUNT_URL: origin,
  /**
   * How many reverse proxies of yours stand in front of the router. Only their entries in
   * `X-Forwarded-*` are believed; with 0, whatever a caller writes there is dropped.
   */
  TRUSTED_HOPS: z.coerce.number().int().min(0).max(16).default(0),
});
