import {
  createHealth,
  createLogger,
  createMetrics,
  exitOnUncaught,
  readConfig,
  serve,
} from '@gatehouse/http';
import { configureServer, createApp } from './app.ts';
import { environment } from './config.ts';
import { createAgent } from './forward.ts';

const config = readConfig(environment, process.env);
const log = createLogger('gateway-router', { level: config.LOG_LEVEL });
exitOnUncaught(log);
const metrics = createMetrics('gateway-router');
const health = createHealth();
const agent = createAgent();
const app = createApp({
  urls: {
    auth: config.AUTH_URL,
    'model-gateway': config.MODEL_GATEWAY_URL,
    memory: config.MEMORY_URL,
    registry: config.REGISTRY_URL,
    account: config.ACCOUNT_URL,
  },
  trustedHops: config.TRUSTED_HOPS,
  log,
  metrics,
  health,
  agent,
});
await serve({
  app,
  config,
  health,
  metrics,
  log,
  configure: (server) => configureServer(server, app),
  close: async () => agent.destroy(),
});
