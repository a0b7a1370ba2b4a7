import { createCredentials, createInvalidation } from '@gatehouse/credentials';
import { openDatabase, pingDatabase } from '@gatehouse/database';
import * as http from '@gatehouse/http';
import { Redis } from 'ioredis';
import { createApp } from './app.ts';
import { environment } from './config.ts';
import { createLimit } from './limit.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';
import { createUpstreams } from './upstream.ts';

const config = http.readConfig(environment, process.env);
const log = http.createLogger('model-gateway', { level: config.LOG_LEVEL });
http.exitOnUncaught(log);

const db = openDatabase({ url: config.DATABASE_URL });
const redis = new Redis(config.REDIS_URL, { maxRetriesPerRequest: 1 });
redis.on('error', (error) => log.warn({ err: error }, 'redis'));
const maxAgeMs = 5_000;
const invalidation = createInvalidation({ redis, prefix: config.REDIS_PREFIX, maxAgeMs });
const upstreams = createUpstreams(config);
const metrics = http.createMetrics('model-gateway');
// Not Redis: without it keys are looked up in the database, and everything works.
const health = http.createHealth({ database: () => pingDatabase(db) });

const app = createApp({
  credentials: await createCredentials({
    db,
    invalidation,
    peppers: config.CREDENTIALS_PEPPERS,
    maxAgeMs,
  }),
  upstreams,
  upstreamMetrics: createUpstreamMetrics(metrics, upstreams),
  timeouts: {
    firstByteMs: config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
    idleMs: config.UPSTREAM_IDLE_TIMEOUT_MS,
    totalMs: config.UPSTREAM_TOTAL_TIMEOUT_MS,
  },
  bodyBytes: createLimit(config.MAX_BUFFERED_BYTES),
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
    await Promise.all(Object.values(upstreams).map(({ pool }) => pool.close()));
    await invalidation.close();
    redis.disconnect();
    await db.$disconnect();
  },
});
