import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { acquireLock, lockHolder, lockPath } from '../src/lock.ts';
import { temporaryFolder } from './support.ts';

test('there is one Gatehouse per data folder', () => {
  const folder = temporaryFolder();
  const lock = acquireLock(folder, 'npm start', 8080);
  expect(() => acquireLock(folder, 'npm start', 8081)).toThrow(
    `Gatehouse is already running in this checkout (npm start, pid ${process.pid} at http://127.0.0.1:8080)`,
  );
  lock.release();
  expect(lockHolder(folder)).toBeUndefined();
  acquireLock(folder, 'npm start').release();
});

test('the lock of a killed one is taken over, also when its pid was given away since', () => {
  const folder = temporaryFolder();
  const stale = { running: true, pid: process.pid, started: 'long ago', command: 'npm start' };
  writeFileSync(lockPath(folder), JSON.stringify(stale));
  acquireLock(folder, 'npm start').release();
  writeFileSync(lockPath(folder), '');
  acquireLock(folder, 'npm start').release();
});
