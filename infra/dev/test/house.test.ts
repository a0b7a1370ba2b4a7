import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { startHouse, type HouseOptions } from '../src/house.ts';
import { lockHolder } from '../src/lock.ts';
import { pasteLines } from '../src/ready-text.ts';
import { services, type Service } from '../src/services.ts';
import { isRunning, temporaryFolder, until } from './support.ts';

const env = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };

/** The table of services with a stand-in for each program. */
const fakes = (behaviour: Record<string, string> = {}): Service[] =>
  services.map((service) => ({
    ...service,
    entry: 'infra/dev/test/fixtures/fake-service.ts',
    env: (context) => ({
      ...service.env(context),
      FAKE: behaviour[service.name] ?? '',
    }),
  }));

const options = (dataDir: string, more: Partial<HouseOptions> = {}): HouseOptions => ({
  dataDir,
  env,
  log: () => undefined,
  isDurable: false,
  services: fakes(),
  ...more,
});

/** The processes that are recorded as running on a data folder. */
const recorded = (dataDir: string): number[] =>
  (JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as { pid: number }[]).map(
    ({ pid }) => pid,
  );

describe('a house', () => {
  const dataDir = temporaryFolder();
  const first: { lines: string[]; keys?: string } = { lines: [] };

  beforeAll(async () => {
    const house = await startHouse(options(dataDir, { log: (line) => first.lines.push(line) }));
    first.keys = house.devJson.api_key;
    await house.stop();
  }, 60_000);

  test('is seeded through its own door and tells one line per step', () => {
    expect(first.keys).toBe('gh_live_1');
    const steps = first.lines.map((line) => line.split(' ')[0]);
    expect(steps.toSorted()).toEqual(
      ['database', 'mailbox', 'migrations', 'redis', 'seed', 'services'].toSorted(),
    );
  });

  test('starts again with its data and keys, refuses a second one, and leaves nothing', async () => {
    const lines: string[] = [];
    const house = await startHouse(options(dataDir, { log: (line) => lines.push(line) }));
    expect(lines.join('\n')).toMatch(/seed +account and keys kept/);
    expect(lines.join('\n')).toMatch(/migrations +none to apply/);
    expect(statSync(join(dataDir, 'dev.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
    await expect(startHouse(options(dataDir))).rejects.toThrow(/already running/);

    const pids = recorded(dataDir);
    // Every service, the mailbox, Redis and PostgreSQL.
    expect(pids.filter(isRunning)).toHaveLength(services.length + 3);
    await Promise.all([house.stop(), house.stop()]);
    expect(pids.some(isRunning)).toBe(false);
    expect(lockHolder(dataDir)).toBeUndefined();
  }, 60_000);

  test('prints lines that work as pasted', async () => {
    const house = await startHouse(options(dataDir));
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', pasteLines(house.devJson)]);
    await house.stop();
    expect(stderr).toBe('');
    expect(stdout).toContain('== sign in\n{"access_token":"a2","refresh_token":"r2"}');
    expect(stdout).toContain('== refresh\n{"access_token":"a3","refresh_token":"r3"}');
    const log = readFileSync(join(dataDir, 'logs/gateway-router.log'), 'utf8');
    const requests = log
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    const sent = (route: string) => requests.find((request) => request.route === route);
    expect(sent('POST /api/v1/auth/token?grant_type=refresh_token').body).toBe(
      '{"refresh_token":"r2"}',
    );
    expect(sent('GET /api/v1/auth/user').headers.authorization).toBe('Bearer a3');
    expect(JSON.parse(sent('POST /v1/chat/completions').body).model).toBe('sandbox-chat');
  }, 60_000);
});

describe('a start that does not get far', () => {
  test('names the service that ended and why, and leaves nothing', async () => {
    const dataDir = temporaryFolder();
    const start = startHouse(options(dataDir, { services: fakes({ account: 'dies' }) }));
    await expect(start).rejects.toThrow(
      /^account ended with status 78.*\n {2}account \| config: SECRETS_KEY_RING: missing/,
    );
    expect(lockHolder(dataDir)).toBeUndefined();
    expect(() => recorded(dataDir)).toThrow('ENOENT');
  }, 60_000);

  test('can be ended early', async () => {
    const dataDir = temporaryFolder();
    const abort = new AbortController();
    const start = startHouse(options(dataDir, { signal: abort.signal }));
    start.catch(() => undefined);
    let pids: number[] = [];
    await until(() => {
      try {
        pids = recorded(dataDir);
      } catch {
        // Not written yet.
      }
      return pids.length > 2;
    });
    abort.abort();
    await expect(start).rejects.toThrow('stopped');
    expect(pids.some(isRunning)).toBe(false);
  }, 60_000);

  test('on a busy port starts nothing', async () => {
    const dataDir = temporaryFolder();
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    await expect(startHouse(options(dataDir, { port }))).rejects.toThrow(`port ${port} is busy`);
    server.close();
    expect(() => statSync(join(dataDir, 'postgres'))).toThrow('ENOENT');
  });
});

describe('what services are told', () => {
  const contextFor = (user: NodeJS.ProcessEnv) => ({
    urlOf: (name: string) => `http://${name}`,
    databaseUrl: (role: string) => `postgresql://${role}`,
    redisUrl: 'redis://r',
    redisPrefix: 'p',
    secrets: { sandboxVendorKey: 'sandbox-key' } as Parameters<Service['env']>[0]['secrets'],
    user,
  });
  const gateway = services.find(({ name }) => name === 'model-gateway') as Service;

  test('the sandbox vendor, unless the user has a key for the real one', () => {
    expect(gateway.env(contextFor({ OPENAI_API_KEY: 'real' }))).toMatchObject({
      OPENAI_API_KEY: 'real',
      ANTHROPIC_API_KEY: 'sandbox-key',
      ANTHROPIC_BASE_URL: 'http://sandbox-vendor',
    });
    expect(gateway.env(contextFor({ OPENAI_API_KEY: 'real' }))).not.toHaveProperty(
      'OPENAI_BASE_URL',
    );
    expect(gateway.env(contextFor({}))).toMatchObject({
      OPENAI_BASE_URL: 'http://sandbox-vendor/v1',
    });
  });

  test('each its own database role, and nothing of the others', () => {
    const told = Object.fromEntries(
      services.map(({ name, env: envOf }) => [name, envOf(contextFor({ AWS_SECRET: 'x' }))]),
    );
    expect(told.auth?.DATABASE_URL).toBe('postgresql://gatehouse_auth');
    expect(told.account?.DATABASE_URL).toBe('postgresql://gatehouse_account');
    expect(told['gateway-router']).not.toHaveProperty('DATABASE_URL');
    expect(JSON.stringify(told)).not.toContain('AWS_SECRET');
  });
});
