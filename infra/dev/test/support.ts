import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll } from '@jest/globals';
import type { Child, ChildSpec } from '../src/child-process.ts';
import { identify } from '../src/process-identity.ts';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone after the tests of this file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-dev-'));
  folders.push(folder);
  return folder;
}

/** Waits for a condition; Jest's own timeout bounds it. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await delay(10);
}

export const isRunning = (pid: number): boolean => identify(pid) !== undefined;

/** A child that runs a line of shell. */
export const shell = (name: string, script: string, more: Partial<ChildSpec> = {}): ChildSpec => ({
  name,
  command: 'sh',
  args: ['-c', script],
  env: { PATH: process.env.PATH ?? '' },
  cwd: '/',
  stage: 'services',
  ...more,
});

/** The first line that a child writes. */
export const firstLine = (child: Child): Promise<string> =>
  new Promise((done) => child.onLine(done));
