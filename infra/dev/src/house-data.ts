import { migrateDatabase } from '@gatehouse/database/migrate';
import { freePort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { line, type Progress } from './progress.ts';
import { startRedis } from './redis.ts';
import type { Secrets } from './secrets.ts';
import type { Supervisor } from './supervisor.ts';

export interface DataOptions {
  supervisor: Supervisor;
  dataDir: string;
  secrets: Pick<Secrets, 'postgresPassword' | 'redisPassword'>;
  /** False for throw-away data, that is faster when nothing has to reach the disk. */
  isDurable: boolean;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  progress: Progress;
}

/** The URL of a database in which roles and schemas may be made: DATABASE_URL, or a private server. */
export async function startDatabase(options: DataOptions): Promise<string> {
  const { env, progress, secrets } = options;
  const given = env.DATABASE_URL;
  if (given) {
    options.log(line('database', 'DATABASE_URL'));
    return given;
  }
  const port = await freePort();
  return progress.step(
    'database',
    () =>
      startPostgres({
        ...options,
        port,
        password: secrets.postgresPassword,
        path: env.PATH ?? '',
      }),
    () => `PostgreSQL on port ${port}`,
  );
}

/** REDIS_URL, or a private server. */
export async function startCache(options: DataOptions): Promise<string> {
  const { env, log, progress, secrets } = options;
  const given = env.REDIS_URL;
  if (given) {
    log(line('redis', 'REDIS_URL'));
    return given;
  }
  const port = await freePort();
  return progress.step(
    'redis',
    () =>
      startRedis({
        ...options,
        port,
        password: secrets.redisPassword,
        onInstall: () => log(line('redis', 'none found; installing redis-server with apt-get …')),
      }),
    () => `on port ${port}`,
  );
}

export const migrate = (progress: Progress, adminUrl: string, rolePassword: string) =>
  progress.step(
    'migrations',
    () => migrateDatabase({ adminUrl, rolePassword }),
    ({ applied }) => (applied.length === 0 ? 'none to apply' : `${applied.length} applied`),
  );
