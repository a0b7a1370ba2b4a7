import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import { readConfig, type serverEnvironment } from './config.ts';
import { createHealth, type Health } from './health.ts';
import { createLogger } from './logging.ts';
import { createMetrics } from './metrics.ts';
import { exitOnUncaught, serve, type ServeOptions } from './serve.ts';

/** What every process has before it knows what it does. */
export interface ServiceContext<Config> {
  config: Config;
  log: Logger;
  metrics: Registry;
  /** Without checks; `start` adds what the service cannot work without. */
  health: Health;
}

/**
 * The life of a process, from its environment to its end: reads the configuration, lets `start`
 * open and build what it needs, serves that, and stops as {@link serve} says.
 *
 * @param name in logs and metrics
 */
export async function runService<Schema extends z.ZodType<z.output<typeof serverEnvironment>>>(
  name: string,
  environment: Schema,
  variables: NodeJS.ProcessEnv,
  start: (
    context: ServiceContext<z.output<Schema>>,
  ) => Promise<Pick<ServeOptions, 'app' | 'configure' | 'close'>>,
): Promise<void> {
  const config = readConfig(environment, variables);
  const log = createLogger(name, { level: config.LOG_LEVEL });
  exitOnUncaught(log);
  const context = { config, log, metrics: createMetrics(name), health: createHealth() };
  await serve({ ...context, ...(await start(context)) });
}
