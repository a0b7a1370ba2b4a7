import { createHmac } from 'node:crypto';

/** A pepper of the ring `CREDENTIALS_PEPPERS`: see `parseKeyRing` of libs/secrets. */
export interface Pepper {
  id: string;
  secret: Buffer;
}

/** HMAC-SHA-256 of a key under a pepper: what is stored and looked up in place of the key. */
export const hashKey = (key: string, pepper: Pepper): Buffer<ArrayBuffer> =>
  createHmac('sha256', pepper.secret).update(key).digest();
