import { storeVariables } from '@gatehouse/credentials';
import { serverEnvironment } from '@gatehouse/http';
import { keyRingField } from '@gatehouse/secrets';
import { z } from 'zod';

const vendorKey = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable, without spaces');
const vendorUrl = z
  .url({ protocol: /^https?$/ })
  .refine((url) => new URL(url).search === '', 'must have no query');
const milliseconds = z.coerce.number().int().min(1);

export const environment = serverEnvironment.extend({
  ...storeVariables,
  CREDENTIALS_PEPPERS: keyRingField,
  /** The vendors' own keys. Without one, its paths answer 503 `vendor_not_configured`. */
  OPENAI_API_KEY: vendorKey.optional(),
  ANTHROPIC_API_KEY: vendorKey.optional(),
  /** In the form in which each vendor's client takes it: OpenAI's with `/v1`. */
  OPENAI_BASE_URL: vendorUrl.default('https://api.openai.com/v1'),
  ANTHROPIC_BASE_URL: vendorUrl.default('https://api.anthropic.com'),
  /**
   * Connections to each vendor, and so requests to it at the same time: HTTP/1.1 carries one at a
   * time. One more is answered 503 `overloaded`.
   */
  UPSTREAM_CONNECTIONS: z.coerce.number().int().min(1).default(1024),
  /** Bytes of request bodies held at the same time, of all vendors. */
  MAX_BUFFERED_BYTES: z.coerce
    .number()
    .int()
    .min(32 * 1024 * 1024)
    .default(128 * 1024 * 1024),
  UPSTREAM_CONNECT_TIMEOUT_MS: milliseconds.default(10_000),
  /**
   * From the request to the first byte of the answer's body. The vendors' clients wait 600 s; the
   * gateway outlasts them, and the router outlasts the gateway.
   */
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: milliseconds.default(610_000),
  /** Between two pieces of an answer, whether the vendor sends none or the caller takes none. */
  UPSTREAM_IDLE_TIMEOUT_MS: milliseconds.default(300_000),
  UPSTREAM_TOTAL_TIMEOUT_MS: milliseconds.default(3_600_000),
});

export type Config = z.output<typeof environment>;
