import { hash } from 'node:crypto';
import type { Database, Project } from '@gatehouse/database';
import { LRUCache } from 'lru-cache';
import type { Invalidation } from './invalidation.ts';
import { kindOfKey } from './key-format.ts';
import { hashKey, type Pepper } from './key-hash.ts';

/** An API key that is good right now. */
export interface ApiKeyGrant {
  id: string;
  accountId: string;
  kind: 'live' | 'test';
  scopes: readonly string[];
  expiresAt: Date | null;
}

/** A project and its auth settings. */
export type ProjectConfig = Omit<Project, 'accountId' | 'deletedAt'>;

export interface CredentialsOptions {
  db: Database;
  invalidation: Invalidation;
  /** Peppers of the API key hashes. A process that takes no API keys has none. */
  peppers?: readonly Pepper[];
  /** How long an answer of the database may be used again, in milliseconds. */
  maxAgeMs: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** The read side of projects and keys, for every service. */
export interface Credentials {
  /** The live project of a publishable key. */
  findProject(publishableKey: string | undefined): Promise<ProjectConfig | undefined>;
  /** What an account API key grants; undefined when it is unknown, revoked or expired. */
  findApiKey(key: string): Promise<ApiKeyGrant | undefined>;
  /** Whether any project lets pages of this origin call. */
  isOriginAllowed(origin: string): Promise<boolean>;
}

interface Entry {
  /** The id under which changes are announced. */
  subject: string;
  value: ProjectConfig | ApiKeyGrant | true;
}

/** Entries at most, per process. */
const maxEntries = 20_000;

/**
 * Looks credentials up with a short memory. What is revoked is forgotten at once everywhere
 * ({@link Invalidation}); while changes cannot be heard, every question goes to the database.
 * What is not found is never remembered, so that a new key works at once.
 */
export async function createCredentials(options: CredentialsOptions): Promise<Credentials> {
  const { db, invalidation, peppers = [], maxAgeMs, now = Date.now } = options;
  const cache = new LRUCache<string, Entry>({ max: maxEntries, ttl: maxAgeMs, perf: { now } });
  /** Rises with every change, so that what was read before one is not stored after it. */
  let generation = 0;

  await invalidation.listen({
    forget(id) {
      generation++;
      for (const [key, { subject }] of cache.entries()) if (subject === id) cache.delete(key);
    },
    forgetAll() {
      generation++;
      cache.clear();
    },
  });

  async function remember(key: string, load: () => Promise<Entry | undefined>) {
    const known = invalidation.isListening ? cache.get(key) : undefined;
    const generationBefore = generation;
    const entry = known ?? (await load());
    if (!entry) return undefined;
    if (!known && generation === generationBefore && invalidation.isListening) {
      cache.set(key, entry);
    }
    return entry.value;
  }

  return {
    async findProject(publishableKey) {
      if (!publishableKey || kindOfKey(publishableKey) !== 'pub') return undefined;
      const found = await remember(publishableKey, async () => {
        const value = await db.project.findUnique({
          where: { publishableKey, deletedAt: null },
          omit: { accountId: true, deletedAt: true },
        });
        return value ? { subject: value.id, value } : undefined;
      });
      return found as ProjectConfig | undefined;
    },
    async findApiKey(key) {
      const kind = kindOfKey(key);
      if (kind !== 'live' && kind !== 'test') return undefined;
      // Not the key itself, which has no place in memory, nor its costlier hash under a pepper.
      const found = await remember(`key:${hash('sha256', key, 'base64')}`, async () => {
        const hashes = peppers.map((pepper) => hashKey(key, pepper));
        const row = await db.apiKey.findFirst({
          where: { hash: { in: hashes }, revokedAt: null },
          select: { id: true, accountId: true, scopes: true, expiresAt: true },
        });
        return row ? { subject: row.id, value: { ...row, kind } } : undefined;
      });
      const grant = found as ApiKeyGrant | undefined;
      const isExpired = grant?.expiresAt && grant.expiresAt.getTime() <= now();
      return isExpired ? undefined : grant;
    },
    async isOriginAllowed(origin) {
      const found = await remember(`origin:${origin}`, async () => {
        const project = await db.project.findFirst({
          where: { allowedOrigins: { hasSome: [origin, '*'] }, deletedAt: null },
          select: { id: true },
        });
        return project ? { subject: project.id, value: true } : undefined;
      });
      return found === true;
    },
  };
}
