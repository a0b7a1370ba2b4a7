import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';

const root = path.join(import.meta.dirname, '../../..');

/** Imports that the module boundaries forbid, each in a file of its own. */
const breaches = {
  'apps/auth/src/breach-by-name.ts': "export { createApp } from '@gatehouse/account/src/app.ts';",
  'apps/auth/src/breach-by-path.ts': "export { createApp } from '../../account/src/app.ts';",
  'libs/http/src/breach-to-app.ts': "export { createApp } from '../../../apps/auth/src/app.ts';",
  'libs/secrets/src/breach-to-lib.ts': "export { route } from '@gatehouse/http';",
};

afterAll(() => {
  for (const file of Object.keys(breaches)) rmSync(path.join(root, file), { force: true });
});

/** Lints projects as `npm test` does. @returns what it printed, and whether it passed */
const lint = (projects: string) =>
  new Promise<{ output: string; isClean: boolean }>((resolve) => {
    const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false', FORCE_COLOR: '0' };
    const args = [
      'run-many',
      '-t',
      'lint',
      '-p',
      projects,
      '--skip-nx-cache',
      '--outputStyle=stream',
    ];
    execFile('node_modules/.bin/nx', args, { cwd: root, env }, (error, stdout, stderr) => {
      resolve({ output: stdout + stderr, isClean: error === null });
    });
  });

describe('the module boundaries', () => {
  it('reject each planted import', async () => {
    for (const [file, line] of Object.entries(breaches)) {
      writeFileSync(path.join(root, file), `${line}\n`);
    }
    const { output, isClean } = await lint('auth,http,secrets');
    expect(isClean).toBe(false);
    const complaints = output.split(/(?=\/(?:apps|libs)\/)/);
    for (const file of Object.keys(breaches)) {
      const complaint = complaints.find((text) => text.startsWith(`/${file}`));
      expect([file, complaint]).toEqual([
        file,
        expect.stringContaining('enforce-module-boundaries'),
      ]);
    }
  }, 120_000);
});
