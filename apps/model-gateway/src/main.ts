import { openStores } from '@gatehouse/credentials';
import { runService } from '@gatehouse/http';
import { createApp } from './app.ts';
import { environment } from './config.ts';
import { createLimit } from './limit.ts';
import { createUpstreamMetrics } from './upstream-metrics.ts';
import { createUpstreams } from './upstream.ts';

await runService('model-gateway', environment, process.env, async (context) => {
  const { config, metrics } = context;
  const { credentials, close } = await openStores(context, config.CREDENTIALS_PEPPERS);
  const upstreams = createUpstreams(config);
  const app = createApp({
    ...context,
    credentials,
    upstreams,
    upstreamMetrics: createUpstreamMetrics(metrics, upstreams),
    timeouts: {
      firstByteMs: config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
      idleMs: config.UPSTREAM_IDLE_TIMEOUT_MS,
      totalMs: config.UPSTREAM_TOTAL_TIMEOUT_MS,
    },
    bodyBytes: createLimit(config.MAX_BUFFERED_BYTES),
  });
  return {
    app,
    async close() {
      await Promise.all(Object.values(upstreams).map(({ pool }) => pool.close()));
      await close();
    },
  };
});
