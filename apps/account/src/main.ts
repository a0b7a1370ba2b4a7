import { createCredentials, createInvalidation } from '@gatehouse/credentials';
import { openDatabase, pingDatabase } from '@gatehouse/database';
import * as http from '@gatehouse/http';
import { Redis } from 'ioredis';
import { createApp } from './app.ts';
import { environment } from './config.ts';
import { ensureConsoleProject } from './console-project.ts';
import { createConsoleUsers } from './console-users.ts';

const config = http.readConfig(environment, process.env);
const log = http.createLogger('account', { level: config.LOG_LEVEL });
http.exitOnUncaught(log);

const db = openDatabase({ url: config.DATABASE_URL });
const redis = new Redis(config.REDIS_URL, { maxRetriesPerRequest: 1 });
redis.on('error', (error) => log.warn({ err: error }, 'redis'));
const maxAgeMs = 5_000;
const invalidation = createInvalidation({ redis, prefix: config.REDIS_PREFIX, maxAgeMs });
const peppers = config.CREDENTIALS_PEPPERS;
const credentials = await createCredentials({ db, invalidation, peppers, maxAgeMs });
const metrics = http.createMetrics('account');
const health = http.createHealth({ database: () => pingDatabase(db), redis: () => redis.ping() });

await ensureConsoleProject({ db, invalidation }, config.CONSOLE_PUBLISHABLE_KEY);
const app = createApp({
  db,
  credentials,
  invalidation,
  consoleUsers: createConsoleUsers({
    authUrl: config.AUTH_URL,
    publishableKey: config.CONSOLE_PUBLISHABLE_KEY,
  }),
  pepper: peppers[0],
  now: Date.now,
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
