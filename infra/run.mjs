/**
 * The command behind `npm start`, `npm test` and `npm run dev`, on the machine's own Node and with
 * built-in modules only: it has to work before anything is installed. It installs what the lock
 * file asks for and hands over to infra/dev/src/main.ts on the Node that the project pins.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const modules = join(root, 'node_modules');
const oldestNode = 20;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const [command, ...args] = process.argv.slice(2);

if (Number(process.versions.node.split('.')[0]) < oldestNode) {
  fail(
    `Node ${oldestNode} or later is needed to begin with; this is Node ${process.versions.node}`,
  );
}
if (process.platform === 'win32') fail('Windows is not supported: use WSL, or Docker Compose');

if (!dependenciesAreInstalled()) await installDependencies();
handOver();

function fail(message) {
  process.stderr.write(`gatehouse: ${message}\n`);
  process.exit(1);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Compares the lock file with npm's own record of what it installed, and that with the disk, so
 * that an `npm ci` by hand counts, and a folder that was deleted since is noticed.
 */
function dependenciesAreInstalled() {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  const installed = readJson(join(modules, '.package-lock.json'))?.packages;
  if (!wanted) fail('package-lock.json is missing or broken');
  if (!installed) return false;
  const isSame = Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    // What is built for another system or processor stays out.
    if (!found) return entry.optional === true || entry.devOptional === true;
    return (
      found.version === entry.version &&
      found.integrity === entry.integrity &&
      existsSync(join(root, path))
    );
  });
  return isSame && existsSync(join(modules, '.bin', 'node'));
}

async function installDependencies() {
  const running = readJson(join(root, '.gatehouse', 'lock.json'));
  if (running && isAlive(running.pid)) {
    fail(
      `the dependencies changed, and Gatehouse is running in this checkout (pid ${running.pid}): stop it first`,
    );
  }
  const startedAt = Date.now();
  process.stdout.write('dependencies     npm ci …\n');
  // npm removes node_modules, the pinned Node in it included: it must run on the machine's own.
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !resolve(folder).startsWith(modules))
    .join(delimiter);
  const npm = spawn(
    'npm',
    ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts=false'],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        PATH: path,
        // Any executable will do: its presence is what stops Prisma from downloading an engine.
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      },
    },
  );
  let output = '';
  npm.stdout.on('data', (chunk) => (output += chunk));
  npm.stderr.on('data', (chunk) => (output += chunk));
  // npm stops by itself on these; this process only has to outlive it.
  let isInterrupted = false;
  for (const signal of signals) {
    process.on(signal, () => {
      isInterrupted = true;
      npm.kill(signal);
    });
  }
  const code = await new Promise((done) => {
    npm.on('error', (error) => fail(`npm could not be run: ${error.message}`));
    npm.on('close', (exitCode, signal) => done(exitCode ?? 128 + constants.signals[signal]));
  });
  for (const signal of signals) process.removeAllListeners(signal);
  if (isInterrupted) fail('interrupted; the next start installs the dependencies');
  if (code !== 0) {
    process.stderr.write(output);
    process.stderr.write('gatehouse: npm ci failed, see above\n');
    process.exit(code);
  }
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`dependencies     installed ${seconds} s\n`);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function handOver() {
  const main = spawn(
    join(modules, '.bin', 'node'),
    [
      '--disable-warning=ExperimentalWarning',
      join(root, 'infra/dev/src/main.ts'),
      ...(command ? [command] : []),
      ...args,
    ],
    // The channel says nothing: its end tells the other side that this process is gone.
    { cwd: root, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] },
  );
  // A terminal signals the whole group and npm passes the signal on once more. main.ts knows that
  // and stops once; this process waits for it, whatever comes.
  for (const signal of signals) process.on(signal, () => main.kill(signal));
  main.on('error', (error) => fail(`${main.spawnfile}: ${error.message}`));
  main.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  // npm that was killed cannot pass on anything.
  if (process.env.npm_lifecycle_event) {
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || main.kill('SIGTERM'), 500).unref();
  }
}
