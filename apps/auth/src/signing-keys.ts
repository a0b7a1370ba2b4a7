import { generateKeyPair, type JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';
import type { Database } from '@gatehouse/database';
import type { Envelope } from '@gatehouse/secrets';
import type { SigningKey } from '@gatehouse/tokens';
import {
  calculateJwkThumbprint,
  decodeJwt,
  errors,
  importJWK,
  importPKCS8,
  type CryptoKey,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import { LRUCache } from 'lru-cache';

const generateRsa = promisify(generateKeyPair);

/** How long a process goes on with the keys that it has read. */
const maxAgeMs = 60_000;
/** How old its keys must be before a token with a key that is not among them makes it look again. */
const reloadAfterMs = 5_000;
/** A retired key is published for as long as a token that it signed may be valid. */
const publishedAfterRetirementMs = 25 * 3_600_000;

/** A member of the published set, as RFC 7517 has it. */
export type PublicJwk = JWK & { kid: string };

interface KeySet {
  loadedAt: number;
  jwks: PublicJwk[];
  publicKeys: Map<string, CryptoKey>;
  /** Absent until the project's first token is signed. */
  signer: SigningKey | undefined;
}

export interface SigningKeys {
  /** The key that signs for a project; made on first use. */
  signerOf(projectId: string): Promise<SigningKey>;
  /** The published keys of a project; makes the first one, so that the set is never empty. */
  publicKeysOf(projectId: string): Promise<PublicJwk[]>;
  /** Finds the key of a token within the key set of the project that the token names. */
  getKey: JWTVerifyGetKey;
}

export interface SigningKeyOptions {
  db: Database;
  envelope: Envelope;
  now: () => number;
}

/** One RSA signing key set per project. Private keys are at rest in an envelope only. */
export function createSigningKeys({ db, envelope, now }: SigningKeyOptions): SigningKeys {
  const cache = new LRUCache<string, KeySet>({ max: 10_000, ttl: maxAgeMs, perf: { now } });

  async function keySetOf(projectId: string): Promise<KeySet | undefined> {
    const known = cache.get(projectId);
    const keySet = known ?? (await loadKeySet(projectId));
    // That there is none is not remembered: another process may make the first key any moment.
    if (keySet && !known) cache.set(projectId, keySet);
    return keySet;
  }

  async function loadKeySet(projectId: string): Promise<KeySet | undefined> {
    const rows = await db.signingKey.findMany({
      where: {
        projectId,
        OR: [
          { retiredAt: null },
          { retiredAt: { gt: new Date(now() - publishedAfterRetirementMs) } },
        ],
      },
    });
    if (rows.length === 0) return undefined;
    const jwks = rows.map(({ publicJwk }) => publicJwk as unknown as PublicJwk);
    const imported = await Promise.all(
      jwks.map(async (jwk) => [jwk.kid, (await importJWK(jwk, 'RS256')) as CryptoKey] as const),
    );
    const active = rows.find(({ retiredAt }) => retiredAt === null);
    const signer = active && {
      kid: active.id,
      privateKey: await importPKCS8(
        envelope.open(active.privateKey, contextOf(active.id)).toString('utf8'),
        'RS256',
      ),
    };
    return { loadedAt: now(), jwks, publicKeys: new Map(imported), signer };
  }

  /** Concurrent first uses in this process share one generation; the database decides between processes. */
  const generating = new Map<string, Promise<void>>();

  async function generate(projectId: string): Promise<void> {
    const pair = await generateRsa('rsa', { modulusLength: 2048 });
    const { n, e } = pair.publicKey.export({ format: 'jwk' }) as JsonWebKey & JWK;
    const publicJwk = { kty: 'RSA', n: n ?? '', e: e ?? '', alg: 'RS256', use: 'sig' };
    const kid = await calculateJwkThumbprint(publicJwk);
    const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    await db.signingKey.createMany({
      data: {
        id: kid,
        projectId,
        publicJwk: { ...publicJwk, kid },
        privateKey: envelope.seal(Buffer.from(pem), contextOf(kid)),
        createdAt: new Date(now()),
      },
      skipDuplicates: true, // another process was first: its key serves
    });
    cache.delete(projectId);
  }

  async function ensureKeySet(projectId: string): Promise<KeySet & { signer: SigningKey }> {
    let keySet = await keySetOf(projectId);
    if (!keySet?.signer) {
      const generation = generating.get(projectId) ?? generate(projectId);
      generating.set(projectId, generation);
      await generation.finally(() => generating.delete(projectId));
      keySet = await keySetOf(projectId);
    }
    if (!keySet?.signer) throw new Error(`Project ${projectId} has no signing key.`);
    return { ...keySet, signer: keySet.signer };
  }

  return {
    signerOf: async (projectId) => (await ensureKeySet(projectId)).signer,
    publicKeysOf: async (projectId) => (await ensureKeySet(projectId)).jwks,
    getKey: async ({ kid }, { payload, ...rest }) => {
      const { projectId } = decodeJwt(`${rest.protected}.${payload as string}.`);
      // Nothing of the token is proven yet. PostgreSQL refuses a text with NUL as an error.
      const isId = typeof projectId === 'string' && !projectId.includes('\0');
      if (!isId || kid === undefined) throw new errors.JWKSNoMatchingKey();
      let keySet = await keySetOf(projectId);
      if (keySet && !keySet.publicKeys.has(kid) && now() - keySet.loadedAt >= reloadAfterMs) {
        // Another process may have changed the key since.
        cache.delete(projectId);
        keySet = await keySetOf(projectId);
      }
      const key = keySet?.publicKeys.get(kid);
      if (!key) throw new errors.JWKSNoMatchingKey();
      return key;
    },
  };
}

/**
 * Rejects when the store holds keys that the key ring cannot open, naming the store: better at
 * the start than in every answer.
 */
export async function checkSigningKeys({ db, envelope }: SigningKeyOptions): Promise<void> {
  const newest = await db.signingKey.findFirst({ orderBy: { createdAt: 'desc' } });
  if (!newest) return;
  try {
    envelope.open(newest.privateKey, contextOf(newest.id));
  } catch (cause) {
    throw new Error('auth.signing_keys cannot be opened with SECRETS_KEY_RING.', { cause });
  }
}

const contextOf = (kid: string) => `auth.signing_keys/${kid}/private_key`;
