import { join } from 'node:path';
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

export interface MigrateOptions {
  supervisor: Supervisor;
  progress: Progress;
  root: string;
  adminUrl: string;
  rolePassword: string;
}

/** Runs the command that a deployment runs. */
export const migrate = ({ supervisor, progress, root, adminUrl, rolePassword }: MigrateOptions) =>
  progress.step(
    'migrations',
    () =>
      supervisor.run({
        name: 'migrate',
        command: process.execPath,
        args: ['--no-warnings', join(root, 'libs/database/src/migrate-main.ts')],
        env: { DATABASE_ADMIN_URL: adminUrl, DATABASE_ROLE_PASSWORD: rolePassword },
        cwd: root,
        stage: 'tools',
      }),
    (lines) => {
      const { applied } = JSON.parse(lines.at(-1) ?? '') as { applied: string[] };
      return applied.length === 0 ? 'none to apply' : `${applied.length} applied`;
    },
  );
