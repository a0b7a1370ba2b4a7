import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveRing, type KeyRing, type RingKey } from '@gatehouse/secrets';
import { formatUuid } from './uuid.ts';

const prefix = 'gh_rt_';
const version = 1;
const macBytes = 16;
const form = /^gh_rt_[\w-]{50}$/;

/** What a refresh token says: the n-th one of a session. */
export interface RefreshTokenContent {
  sessionId: string;
  counter: number;
}

export interface RefreshTokens {
  issue(content: RefreshTokenContent): string;
  /** What the token says if we issued it; undefined for anything else, without any lookup. */
  read(token: string): RefreshTokenContent | undefined;
}

/**
 * Refresh tokens that are derived and not stored: version, session id, counter, and an
 * HMAC-SHA-256 over these cut to 128 bits. The database holds the counter alone, so that
 *
 * - a stolen database yields no token, and a made-up token dies before any query;
 * - the successor of a token can be issued again to a client that lost the answer.
 */
export function createRefreshTokens(keyRing: KeyRing): RefreshTokens {
  const ring = deriveRing(keyRing, 'refresh-token');
  return {
    issue({ sessionId, counter }) {
      const content = Buffer.alloc(21);
      content.writeUInt8(version, 0);
      content.write(sessionId.replaceAll('-', ''), 1, 'hex');
      content.writeUInt32BE(counter, 17);
      return prefix + Buffer.concat([content, mac(content, ring[0])]).toString('base64url');
    },
    read(token) {
      if (!form.test(token)) return undefined;
      const bytes = Buffer.from(token.slice(prefix.length), 'base64url');
      // The last character has four bits to spare: one token must not have sixteen spellings.
      if (bytes.toString('base64url') !== token.slice(prefix.length)) return undefined;
      const content = bytes.subarray(0, -macBytes);
      const given = bytes.subarray(-macBytes);
      const isOurs = ring.some((key) => timingSafeEqual(mac(content, key), given));
      if (!isOurs || content.readUInt8(0) !== version) return undefined;
      return {
        sessionId: formatUuid(content.subarray(1, 17)),
        counter: content.readUInt32BE(17),
      };
    },
  };
}

const mac = (content: Buffer, { secret }: RingKey): Buffer =>
  createHmac('sha256', secret).update(content).digest().subarray(0, macBytes);
