import { runService } from '@gatehouse/http';
import { configureServer, createApp } from './app.ts';
import { environment } from './config.ts';
import { createAgent } from './forward.ts';

await runService('gateway-router', environment, process.env, async (context) => {
  const { config } = context;
  const agent = createAgent();
  const app = createApp({
    ...context,
    urls: {
      auth: config.AUTH_URL,
      'model-gateway': config.MODEL_GATEWAY_URL,
      memory: config.MEMORY_URL,
      registry: config.REGISTRY_URL,
      account: config.ACCOUNT_URL,
    },
    trustedHops: config.TRUSTED_HOPS,
    agent,
  });
  return {
    app,
    configure: (server) => configureServer(server, app),
    close: async () => agent.destroy(),
  };
});
