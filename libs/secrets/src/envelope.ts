import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveRing, type KeyRing } from './key-ring.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** A sealed value that cannot be opened: other key, other row, or changed bytes. */
export class EnvelopeError extends Error {
  /** The ring key that the envelope names; undefined where it is not an envelope at all. */
  readonly keyId: string | undefined;

  constructor(message: string, keyId?: string) {
    super(message);
    this.name = 'EnvelopeError';
    this.keyId = keyId;
  }
}

export interface Envelope {
  /**
   * Encrypts under a data key of its own, which is wrapped by the ring's first key.
   * @param context what the value is bound to, for example `auth.signing_keys/{id}/private_key`;
   *   the sealed value opens there and nowhere else
   * @returns `v1.{key id}.{wrapped data key}.{ciphertext}`, the last two in base64url
   */
  seal(plaintext: Uint8Array, context: string): string;
  /** @throws {EnvelopeError} */
  open(sealed: string, context: string): Buffer;
  /**
   * The same value with its data key wrapped by the ring's first key; what is encrypted is not
   * touched. Returns the argument itself where nothing is to be done.
   * @throws {EnvelopeError}
   */
  rewrap(sealed: string, context: string): string;
}

/**
 * AES-256-GCM envelopes (NIST SP 800-38D): random 96-bit nonces, a data key per value, and the
 * context as additional authenticated data of both layers.
 */
export function createEnvelope(keyRing: KeyRing): Envelope {
  const ring = deriveRing(keyRing, 'envelope');
  const [writer] = ring;

  function unwrap(sealed: string, context: string) {
    const [version, keyId, wrapped, ciphertext, ...rest] = sealed.split('.');
    if (version !== 'v1' || !keyId || !wrapped || !ciphertext || rest.length > 0) {
      throw new EnvelopeError('This is not a sealed value.');
    }
    const key = ring.find(({ id }) => id === keyId);
    if (!key) throw new EnvelopeError(`The key ring has no key "${keyId}".`, keyId);
    return { keyId, ciphertext, dataKey: decrypt(key.secret, wrapped, context, keyId) };
  }

  return {
    seal(plaintext, context) {
      const dataKey = randomBytes(32);
      const wrapped = encrypt(writer.secret, dataKey, context);
      return `v1.${writer.id}.${wrapped}.${encrypt(dataKey, plaintext, context)}`;
    },
    open(sealed, context) {
      const { keyId, ciphertext, dataKey } = unwrap(sealed, context);
      return decrypt(dataKey, ciphertext, context, keyId);
    },
    rewrap(sealed, context) {
      const { keyId, ciphertext, dataKey } = unwrap(sealed, context);
      if (keyId === writer.id) return sealed;
      return `v1.${writer.id}.${encrypt(writer.secret, dataKey, context)}.${ciphertext}`;
    },
  };
}

function encrypt(key: Buffer, plaintext: Uint8Array, context: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64url');
}

function decrypt(key: Buffer, text: string, context: string, keyId: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
    const ciphertext = bytes.subarray(nonceBytes, -tagBytes);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    throw new EnvelopeError(
      'The sealed value was changed, moved, or sealed by another key.',
      keyId,
    );
  }
}
