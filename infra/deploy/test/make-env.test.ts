import { expect, it } from '@jest/globals';
import { kindOfKey } from '@gatehouse/credentials';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeEnv } from '../src/make-env.ts';

const script = join(import.meta.dirname, '../make-env.mjs');

it('makes a publishable key of the published form', () => {
  for (let i = 0; i < 5; i++) {
    expect(kindOfKey(makeEnv().CONSOLE_PUBLISHABLE_KEY ?? '')).toBe('pub');
  }
});

it('makes key rings of one key of 32 bytes', () => {
  const { SECRETS_KEY_RING = '', CREDENTIALS_PEPPERS = '' } = makeEnv();
  for (const ring of [SECRETS_KEY_RING, CREDENTIALS_PEPPERS]) {
    const [id, base64 = ''] = ring.split(':');
    expect(id).toBe('k1');
    expect(Buffer.from(base64, 'base64')).toHaveLength(32);
  }
});

it('makes no value twice', () => {
  const values = [...Object.values(makeEnv()), ...Object.values(makeEnv())];
  expect(new Set(values).size).toBe(values.length);
});

it('writes a file for its owner alone, and never over one that is there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-env-'));
  try {
    const file = join(folder, '.env');
    execFileSync(process.execPath, [script, file]);
    const first = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = spawnSync(process.execPath, [script, file], { encoding: 'utf8' });
    expect(again.status).toBe(1);
    expect(again.stderr).toContain('is there already');
    expect(readFileSync(file, 'utf8')).toBe(first);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
