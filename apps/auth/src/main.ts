import { createCredentials, createInvalidation } from '@gatehouse/credentials';
import { openDatabase, pingDatabase } from '@gatehouse/database';
import * as http from '@gatehouse/http';
import { createEnvelope } from '@gatehouse/secrets';
import { createAccessTokenVerifier } from '@gatehouse/tokens';
import { Redis } from 'ioredis';
import { createApp } from './app.ts';
import { environment } from './config.ts';
import { createDecoyUserId } from './decoy-user-id.ts';
import { createPasswords } from './password.ts';
import { createRefreshTokens } from './refresh-token.ts';
import { checkSigningKeys, createSigningKeys } from './signing-keys.ts';

const config = http.readConfig(environment, process.env);
const log = http.createLogger('auth', { level: config.LOG_LEVEL });
http.exitOnUncaught(log);

const db = openDatabase({ url: config.DATABASE_URL });
const redis = new Redis(config.REDIS_URL, { maxRetriesPerRequest: 1 });
redis.on('error', (error) => log.warn({ err: error }, 'redis'));
const now = Date.now;
const maxAgeMs = 5_000;
const invalidation = createInvalidation({ redis, prefix: config.REDIS_PREFIX, maxAgeMs });
const envelope = createEnvelope(config.SECRETS_KEY_RING);
const signingKeys = createSigningKeys({ db, envelope, now });
const metrics = http.createMetrics('auth');
const health = http.createHealth({ database: () => pingDatabase(db), redis: () => redis.ping() });

await checkSigningKeys({ db, envelope, now });
const app = createApp({
  db,
  credentials: await createCredentials({ db, invalidation, maxAgeMs }),
  passwords: createPasswords({
    concurrency: config.PASSWORD_HASH_CONCURRENCY,
    maxQueued: config.PASSWORD_HASH_QUEUE,
  }),
  signingKeys,
  refreshTokens: createRefreshTokens(config.SECRETS_KEY_RING),
  verifyAccessToken: createAccessTokenVerifier({ getKey: signingKeys.getKey, now }),
  decoyUserId: createDecoyUserId(config.SECRETS_KEY_RING),
  now,
  refreshGraceMs: config.REFRESH_GRACE_SECONDS * 1000,
  log,
  metrics,
  health,
});
await http.serve({
  app,
  config,
  health,
  metrics,
  log,
  close: async () => {
    await invalidation.close();
    redis.disconnect();
    await db.$disconnect();
  },
});
