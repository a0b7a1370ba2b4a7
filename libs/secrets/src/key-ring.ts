import { hkdfSync } from 'node:crypto';
import { z } from 'zod';

/** One 256-bit secret and the id under which stored values name it. */
export interface RingKey {
  id: string;
  secret: Buffer;
}

/** Secrets from the environment. The first one writes, all of them read. */
export type KeyRing = readonly [RingKey, ...RingKey[]];

/**
 * Reads `id:base64,id:base64,…`: each id 1 to 16 characters of `[a-z0-9_-]`, each secret 32 bytes.
 * To rotate, put a new key in front and keep the old ones until nothing names them.
 *
 * @throws {TypeError} says which entry is wrong, never what stands in it
 */
export function parseKeyRing(text: string): KeyRing {
  const keys = text.split(',').map((entry, index) => {
    const [, id, base64] = /^([a-z0-9_-]{1,16}):([A-Za-z0-9+/]{43}=)$/.exec(entry.trim()) ?? [];
    if (!id || !base64) {
      throw new TypeError(`entry ${index + 1} is not "id:" and 32 bytes in base64`);
    }
    return { id, secret: Buffer.from(base64, 'base64') };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new TypeError('an id is repeated');
  return keys as unknown as KeyRing;
}

/**
 * A ring whose keys serve one purpose alone (HKDF-SHA-256, RFC 5869), so that no two purposes
 * ever share a key.
 */
export const deriveRing = (ring: KeyRing, purpose: string): KeyRing =>
  ring.map(({ id, secret }) => ({
    id,
    secret: Buffer.from(hkdfSync('sha256', secret, '', `gatehouse/${purpose}`, 32)),
  })) as unknown as KeyRing;

/** A key ring in the environment, for a configuration schema. */
export const keyRingField = z.string().transform((text, context) => {
  try {
    return parseKeyRing(text);
  } catch (error) {
    context.addIssue((error as TypeError).message);
    return z.NEVER;
  }
});
