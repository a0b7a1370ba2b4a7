import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startHouse, type House } from '@gatehouse/dev';
import { createCaller, type Caller } from './caller.ts';

export interface OpenHouse extends Caller {
  house: House;
  /** Of the built-in console project. */
  consolePublishableKey: string;
  /** Lines of the services' logs, each after the name of its file, that hold a secret in use. */
  leaks(): string[];
  /** All that the services have logged. */
  logs(): string;
  close(): Promise<void>;
}

/**
 * The whole house as `npm start` runs it, each service a process of its own, on throw-away data
 * and free ports. With the sandbox vendor, whatever keys the developer has.
 */
export async function openHouse(env: Record<string, string> = {}): Promise<OpenHouse> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'gatehouse-e2e-'));
  const started: string[] = [];
  const house = await startHouse({
    dataDir,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    log: (line) => void started.push(line),
    isDurable: false,
  });
  const caller = createCaller(house.devJson.base_url);
  const { api_key, account_password } = house.devJson;
  const made = madeUp(dataDir);
  for (const secret of [api_key, account_password, ...made.secrets]) caller.secrets.add(secret);
  const logFolder = path.join(dataDir, 'logs');
  const logFiles = () => readdirSync(logFolder).filter((name) => name.endsWith('.log'));
  const read = (name: string) => readFileSync(path.join(logFolder, name), 'utf8');
  return {
    ...caller,
    house,
    consolePublishableKey: made.publishableKey,
    logs: () => logFiles().map(read).join(''),
    leaks: () =>
      logFiles().flatMap((name) =>
        read(name)
          .split('\n')
          .filter((line) => [...caller.secrets].some((secret) => line.includes(secret)))
          .map((line) => `${name}: ${line}`),
      ),
    async close() {
      await house.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** What the dev runtime made up for this house: ring secrets, passwords, a publishable key. */
function madeUp(dataDir: string) {
  const file = JSON.parse(readFileSync(path.join(dataDir, 'secrets.json'), 'utf8')) as object;
  const values = Object.values(file).map(String);
  const isPublic = (value: string) => value.startsWith('gh_pub_');
  return {
    publishableKey: values.find(isPublic) ?? '',
    secrets: values
      .filter((value) => !isPublic(value))
      .flatMap((value) => value.split(','))
      .map((value) => value.replace(/^[a-z0-9_-]{1,16}:/, '')),
  };
}
