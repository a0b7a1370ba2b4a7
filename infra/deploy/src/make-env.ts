import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const script = join(import.meta.dirname, '../make-env.mjs');

/** What `make-env.mjs .env` writes. */
export function makeEnv(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-env-'));
  try {
    const file = join(folder, '.env');
    execFileSync(process.execPath, [script, file]);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Secret {
  metadata: { name: string };
  stringData: Record<string, string>;
}

/** What `make-env.mjs --kubernetes` prints: keys and values by name of the Secret. */
export function makeSecrets(): Record<string, Record<string, string>> {
  const list = execFileSync(process.execPath, [script, '--kubernetes'], { encoding: 'utf8' });
  const { items } = JSON.parse(list) as { items: Secret[] };
  return Object.fromEntries(items.map(({ metadata, stringData }) => [metadata.name, stringData]));
}
