import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainError } from './plain-error.ts';
import { writeJson } from './write-json.ts';

/** What the dev runtime itself has to know. Made once per checkout; mode 0600. */
export interface Secrets {
  postgresPassword: string;
  rolePassword: string;
  redisPassword: string;
  /** `id:base64` of 32 bytes, comma separated; the first one writes. */
  keyRing: string;
  peppers: string;
  consolePublishableKey: string;
  accountPassword: string;
  sandboxVendorKey: string;
}

export async function readSecrets(dataDir: string): Promise<Secrets> {
  const path = join(dataDir, 'secrets.json');
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Secrets;
  if (existsSync(join(dataDir, 'postgres'))) {
    throw new PlainError(
      `${path} is missing and the database needs it: put it back, or "npm run reset" to begin anew`,
    );
  }
  const secrets = await makeSecrets();
  writeJson(path, secrets);
  return secrets;
}

async function makeSecrets(): Promise<Secrets> {
  // Loaded only here: a start that finds its secrets has no use for it.
  const { createKey } = await import('@gatehouse/credentials');
  return {
    postgresPassword: password(),
    rolePassword: password(),
    redisPassword: password(),
    keyRing: `dev1:${randomBytes(32).toString('base64')}`,
    peppers: `dev1:${randomBytes(32).toString('base64')}`,
    consolePublishableKey: createKey('pub'),
    accountPassword: password(),
    sandboxVendorKey: `sandbox-${password()}`,
  };
}

const password = (): string => randomBytes(18).toString('base64url');
