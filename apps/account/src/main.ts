import { openStores } from '@gatehouse/credentials';
import { runService } from '@gatehouse/http';
import { createApp } from './app.ts';
import { environment } from './config.ts';
import { ensureConsoleProject } from './console-project.ts';
import { createConsoleUsers } from './console-users.ts';

await runService('account', environment, process.env, async (context) => {
  const { AUTH_URL, CONSOLE_PUBLISHABLE_KEY, CREDENTIALS_PEPPERS } = context.config;
  const { close, ...stores } = await openStores(context, CREDENTIALS_PEPPERS);
  await ensureConsoleProject(stores, CONSOLE_PUBLISHABLE_KEY);
  const app = createApp({
    ...context,
    ...stores,
    consoleUsers: createConsoleUsers({
      authUrl: AUTH_URL,
      publishableKey: CONSOLE_PUBLISHABLE_KEY,
    }),
    pepper: CREDENTIALS_PEPPERS[0],
    now: Date.now,
  });
  return { app, close };
});
