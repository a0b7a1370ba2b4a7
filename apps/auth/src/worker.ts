import { openDatabase, pingDatabase } from '@gatehouse/database';
import * as http from '@gatehouse/http';
import { scheduleJob, startWorker } from '@gatehouse/queues';
import { Redis } from 'ioredis';
import { storeEnvironment } from './config.ts';
import { purgeSessions } from './jobs/purge-sessions.ts';

const config = http.readConfig(storeEnvironment, process.env);
const log = http.createLogger('auth-worker', { level: config.LOG_LEVEL });
http.exitOnUncaught(log);

const db = openDatabase({ url: config.DATABASE_URL, maxConnections: 2, queryTimeoutMs: 60_000 });
const redis = new Redis(config.REDIS_URL, { maxRetriesPerRequest: null });
redis.on('error', (error) => log.warn({ err: error }, 'redis'));
const queues = { redis, prefix: config.REDIS_PREFIX };

await scheduleJob(queues, purgeSessions, {}, 3_600_000);
const worker = startWorker(purgeSessions, {
  ...queues,
  deps: { db, now: Date.now },
  onFailed: (job, error) => log.error({ err: error, job }, 'job failed'),
});
await http.serve({
  config,
  health: http.createHealth({ database: () => pingDatabase(db), redis: () => redis.ping() }),
  metrics: http.createMetrics('auth-worker'),
  log,
  close: async () => {
    await worker.close();
    redis.disconnect();
    await db.$disconnect();
  },
});
