import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);

/** The environment that every process reads. */
export const serverEnvironment = z.object({
  HOST: z.string().default('0.0.0.0'),
  PORT: port.default(8080),
  METRICS_PORT: port.default(9090),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Time between "not ready" and closing the door, for a load balancer to notice. */
  SHUTDOWN_DELAY_MS: z.coerce.number().int().min(0).default(0),
  SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(0).default(25_000),
});

/**
 * Reads the environment in the form of the schema. All keys that are missing or wrong are
 * reported at once on standard error, by name and never with their value; then the process ends
 * with status 78 (`EX_CONFIG` of sysexits).
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.output<Schema> {
  // An empty variable is one that is not set: that is how Compose and Kubernetes pass "none".
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const result = schema.safeParse(set);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    process.stderr.write(`config: ${path.map(String).join('.')}: ${message}\n`);
  }
  process.exit(78);
}
