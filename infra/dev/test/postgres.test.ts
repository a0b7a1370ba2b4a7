import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { freePort } from '../src/ports.ts';
import { startPostgres } from '../src/postgres.ts';
import { Supervisor } from '../src/supervisor.ts';
import { isRunning, temporaryFolder, until } from './support.ts';

const path = process.env.PATH ?? '';

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function start(dataDir: string) {
  const supervisor = new Supervisor(dataDir);
  const port = await freePort();
  const options = { supervisor, dataDir, port, password: 'secret', isDurable: false, path };
  return { supervisor, url: await startPostgres(options) };
}

const pidFile = (dataDir: string) => join(dataDir, 'postgres/postmaster.pid');
const pidIn = (dataDir: string) => Number(readFileSync(pidFile(dataDir), 'utf8').split('\n')[0]);

test('keeps its data over a stop, and over a pid file whose pid now belongs to another', async () => {
  const dataDir = temporaryFolder();
  chmodSync(dataDir, 0o755);
  const first = await start(dataDir);
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
  const pidLines = readFileSync(pidFile(dataDir), 'utf8').split('\n');
  await first.supervisor.stop();

  writeFileSync(pidFile(dataDir), [process.pid, ...pidLines.slice(1)].join('\n'));
  const second = await start(dataDir);
  expect(await query(second.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  expect(await query(second.url, 'SHOW listen_addresses')).toEqual([
    { listen_addresses: '127.0.0.1' },
  ]);
  await second.supervisor.stop();
});

test('starts again after SIGKILL, in a folder that is closed to other users', async () => {
  const dataDir = temporaryFolder();
  const first = await start(dataDir);
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
  const pid = pidIn(dataDir);
  process.kill(pid, 'SIGKILL');
  await expect(first.supervisor.failure).rejects.toThrow('postgres ended by SIGKILL');
  await first.supervisor.stop();
  await until(() => !isRunning(pid));

  const second = await start(dataDir);
  await expect(query(second.url.replace('secret', 'wrong'), 'SELECT 1')).rejects.toThrow(
    /password authentication failed/,
  );
  await second.supervisor.stop();
});
