import { openDatabase, pingDatabase } from '@gatehouse/database';
import { runService } from '@gatehouse/http';
import { scheduleJob, startWorker } from '@gatehouse/queues';
import { Redis } from 'ioredis';
import { storeEnvironment } from './config.ts';
import { purgeSessions } from './jobs/purge-sessions.ts';

await runService('auth-worker', storeEnvironment, process.env, async ({ config, log, health }) => {
  const db = openDatabase({ url: config.DATABASE_URL, maxConnections: 2, queryTimeoutMs: 60_000 });
  const redis = new Redis(config.REDIS_URL, { maxRetriesPerRequest: null });
  redis.on('error', (error) => log.warn({ err: error }, 'redis'));
  health.checks = { database: () => pingDatabase(db), redis: () => redis.ping() };
  const queues = { redis, prefix: config.REDIS_PREFIX };
  await scheduleJob(queues, purgeSessions, {}, 3_600_000);
  const worker = startWorker(purgeSessions, {
    ...queues,
    deps: { db, now: Date.now },
    onFailed: (job, error) => log.error({ err: error, job }, 'job failed'),
  });
  return {
    async close() {
      await worker.close();
      redis.disconnect();
      await db.$disconnect();
    },
  };
});
