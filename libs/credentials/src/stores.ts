import { openDatabase, pingDatabase, type Database } from '@gatehouse/database';
import type { ServiceContext } from '@gatehouse/http';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { createCredentials, type Credentials } from './credentials.ts';
import { createInvalidation, type Invalidation } from './invalidation.ts';
import type { Pepper } from './key-hash.ts';

/** The environment of a service that has a database and looks credentials up. */
export const storeVariables = {
  /** With the role of the service. */
  DATABASE_URL: z.url(),
  REDIS_URL: z.url(),
  /** Namespace in Redis, so that two installations can share one. */
  REDIS_PREFIX: z.string().default('gatehouse'),
};

export interface Stores {
  db: Database;
  credentials: Credentials;
  invalidation: Invalidation;
  close(): Promise<void>;
}

/** How long a looked-up credential may be used again. See ADR 3. */
const maxAgeMs = 5_000;

/**
 * Opens the database and the read side of the credentials. The service is ready while its database
 * answers. Redis is no condition: without it every lookup goes to the database, and all works.
 */
export async function openStores(
  { config, log, health }: ServiceContext<z.output<z.ZodObject<typeof storeVariables>>>,
  peppers: readonly Pepper[] = [],
): Promise<Stores> {
  const db = openDatabase({ url: config.DATABASE_URL });
  health.checks['database'] = () => pingDatabase(db);
  const redis = new Redis(config.REDIS_URL, { maxRetriesPerRequest: 1 });
  redis.on('error', (error) => log.warn({ err: error }, 'redis'));
  const invalidation = createInvalidation({ redis, prefix: config.REDIS_PREFIX, maxAgeMs });
  return {
    db,
    invalidation,
    credentials: await createCredentials({ db, invalidation, peppers, maxAgeMs }),
    async close() {
      await invalidation.close();
      redis.disconnect();
      await db.$disconnect();
    },
  };
}
