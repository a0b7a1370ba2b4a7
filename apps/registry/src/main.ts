import { runService } from '@gatehouse/http';
import { createApp } from './app.ts';
import { environment } from './config.ts';

await runService('registry', environment, process.env, async (context) => ({
  app: createApp(context),
  close: async () => undefined,
}));
