import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Child } from './child-process.ts';
import { PlainError } from './plain-error.ts';
import { loopback } from './ports.ts';
import { installRedis } from './redis-install.ts';
import type { Supervisor } from './supervisor.ts';

export interface RedisOptions {
  supervisor: Supervisor;
  /** Its data is kept in `redis` below it. */
  dataDir: string;
  port: number;
  password: string;
  /** False for throw-away data: nothing is written to disk. */
  isDurable: boolean;
  /** Its PATH is searched; its proxies are used where Redis has to be installed. */
  env: NodeJS.ProcessEnv;
  onInstall(): void;
}

/** A private Redis or Valkey; installed where there is none and the user may. Resolves with its URL. */
export async function startRedis(options: RedisOptions): Promise<string> {
  const { supervisor, dataDir, port, password, env } = options;
  const path = env.PATH ?? '';
  const command = findServer(path) ?? (await install(options, path));
  const folder = join(dataDir, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const config = join(folder, 'redis.conf');
  // In a file, because the arguments of a process can be read by every user of the machine.
  writeFileSync(config, settings(options, folder), { mode: 0o600 });
  await supervisor.start(
    {
      name: 'redis',
      command,
      args: [config],
      env: { PATH: path, LC_ALL: 'C' },
      cwd: folder,
      stage: 'redis',
    },
    isServing,
  );
  return `redis://:${password}@${loopback}:${port}`;
}

const settings = ({ port, password, isDurable }: RedisOptions, folder: string): string =>
  [
    `bind ${loopback}`,
    `port ${port}`,
    `requirepass ${password}`,
    `dir "${folder}"`,
    `appendonly ${isDurable ? 'yes' : 'no'}`,
    'save ""',
    // What BullMQ asks for: a full Redis refuses writes rather than to drop jobs.
    'maxmemory-policy noeviction',
    'daemonize no',
    '',
  ].join('\n');

const isServing = (child: Child): Promise<void> =>
  new Promise((done) => {
    child.onLine((line) => {
      if (/ready to accept connections/i.test(line)) done();
    });
  });

/** The path of `redis-server` or `valkey-server`, if one is on the PATH. */
function findServer(path: string): string | undefined {
  const folders = [...path.split(delimiter), '/usr/bin', '/usr/local/bin'];
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isExecutable);
}

async function install({ supervisor, env, onInstall }: RedisOptions, path: string) {
  let reason = '';
  try {
    await installRedis(supervisor, env, onInstall);
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    reason = `\n${error.message}`;
  }
  const command = findServer(path);
  if (command) return command;
  throw new PlainError(
    `no Redis found. One of: set REDIS_URL to a Redis of yours; install it (e.g. "sudo apt-get install redis-server" or "brew install redis"); or run as root, or with passwordless sudo, on a Debian or Ubuntu to have it installed${reason}`,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
