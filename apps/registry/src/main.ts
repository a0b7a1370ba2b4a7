import {
  createHealth,
  createLogger,
  createMetrics,
  exitOnUncaught,
  readConfig,
  serve,
} from '@gatehouse/http';
import { createApp } from './app.ts';
import { environment } from './config.ts';

const config = readConfig(environment, process.env);
const log = createLogger('registry', { level: config.LOG_LEVEL });
exitOnUncaught(log);
const metrics = createMetrics('registry');
const health = createHealth();
await serve({
  app: createApp({ log, metrics, health }),
  config,
  health,
  metrics,
  log,
  close: () => Promise.resolve(),
});
