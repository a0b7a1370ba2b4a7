import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { isRunning, temporaryFolder, until } from './support.ts';

/**
 * infra/run.mjs in a repository that is small enough to be installed at once, with an npm that
 * writes down how it was called.
 */
const lock = {
  packages: {
    '': { name: 'small' },
    'node_modules/needed': { version: '1.0.0', integrity: 'sha512-x' },
    'node_modules/for-another-system': { version: '1.0.0', optional: true },
  },
};
const installed = { packages: { 'node_modules/needed': lock.packages['node_modules/needed'] } };

const main = `
process.on('SIGINT', () => console.log('SIGINT'));
process.on('SIGTERM', () => process.exit(7));
process.on('disconnect', () => process.exit());
console.log(process.pid, ...process.argv.slice(2));
setInterval(() => {}, 1000);
`;

let root: string;

const write = (path: string, content: string, mode = 0o644) => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content, { mode });
};

function install(): void {
  write('node_modules/.package-lock.json', JSON.stringify(installed));
  write('node_modules/needed/package.json', '{}');
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
  symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'));
}

beforeEach(() => {
  root = temporaryFolder();
  mkdirSync(join(root, 'infra'));
  copyFileSync(resolve(import.meta.dirname, '../../run.mjs'), join(root, 'infra/run.mjs'));
  write('package-lock.json', JSON.stringify(lock));
  write('infra/dev/src/main.ts', main);
  write('bin/npm', `#!/bin/sh\necho "$@" >> '${root}/npm-calls'\necho broken >&2; exit 4\n`, 0o755);
});

/** Runs it, up to the first line that its main program prints, if it gets there. */
async function run(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(root, 'infra/run.mjs'), 'dev', 'auth'], {
    env: { PATH: `${join(root, 'bin')}:${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const lines: string[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  let isOver = false;
  void exited.then(() => (isOver = true));
  await until(() => isOver || lines.some((line) => /^\d+ /.test(line)));
  return { child, exited, lines, errors: () => errors };
}

const npmCalls = () => readFileSync(join(root, 'npm-calls'), 'utf8');

describe('dependencies', () => {
  test('are left alone when they are what the lock file asks for', async () => {
    install();
    const { child, exited, lines } = await run();
    expect(lines[0]).toMatch(/^\d+ dev auth$/);
    expect(existsSync(join(root, 'npm-calls'))).toBe(false);
    child.kill('SIGTERM');
    expect(await exited).toBe(7);
  });

  test.each([
    ['there are none', () => rmSync(join(root, 'node_modules'), { recursive: true })],
    ['a folder is gone', () => rmSync(join(root, 'node_modules/needed'), { recursive: true })],
    [
      'the lock file asks for another version',
      () => write('package-lock.json', JSON.stringify(lock).replace('1.0.0', '1.0.1')),
    ],
  ])('are installed when %s', async (_when, change) => {
    install();
    change();
    const { exited, errors } = await run();
    expect(await exited).toBe(4);
    expect(npmCalls()).toMatch(/^ci /);
    expect(errors()).toBe('broken\ngatehouse: npm ci failed, see above\n');
  });

  test('are not pulled from under a Gatehouse that runs', async () => {
    write('.gatehouse/lock.json', JSON.stringify({ pid: process.pid }));
    const { exited, errors } = await run();
    expect(await exited).toBe(1);
    expect(errors()).toMatch(/is running in this checkout \(pid \d+\): stop it first/);
    expect(existsSync(join(root, 'npm-calls'))).toBe(false);
  });
});

describe('signals', () => {
  test('are passed on, and it outlives them to report how it ended', async () => {
    install();
    const { child, exited, lines } = await run();
    child.kill('SIGINT');
    await until(() => lines.filter((line) => line === 'SIGINT').length === 1);
    child.kill('SIGINT');
    await until(() => lines.filter((line) => line === 'SIGINT').length === 2);
    child.kill('SIGTERM');
    expect(await exited).toBe(7);
  });

  test('are not needed: killed, it takes its main program along', async () => {
    install();
    const { child, lines } = await run();
    const pid = Number(lines[0]?.split(' ')[0]);
    expect(isRunning(pid)).toBe(true);
    child.kill('SIGKILL');
    await until(() => !isRunning(pid));
  });
});
