import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNodeError, PlainError } from './plain-error.ts';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

/** Who runs on a data folder, and where its door is. */
export interface LockHolder extends ProcessIdentity {
  running: true;
  command: string;
  port?: number;
}

export interface Lock {
  release(): void;
}

export const lockPath = (dataDir: string): string => join(dataDir, 'lock.json');

/** The live process that holds the data folder, if any. */
export function lockHolder(dataDir: string): LockHolder | undefined {
  const holder = read(lockPath(dataDir));
  return holder && isAlive(holder) ? holder : undefined;
}

/** One Gatehouse per data folder. What a killed one left behind is taken over. */
export function acquireLock(dataDir: string, command: string, port?: number): Lock {
  const path = lockPath(dataDir);
  const identity = identify(process.pid);
  if (!identity) throw new Error('this process has no start time');
  const holder: LockHolder = { running: true, ...identity, command, ...(port && { port }) };
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o644 });
  try {
    while (!tryLink(draft, path)) {
      const other = lockHolder(dataDir);
      if (other) throw new PlainError(alreadyRunning(other));
      removeStale(path);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release: () => {
      if (read(path)?.pid === process.pid) rmSync(path, { force: true });
    },
  };
}

export function alreadyRunning({ pid, command, port }: LockHolder): string {
  const where = port === undefined ? '' : ` at http://127.0.0.1:${port}`;
  return `Gatehouse is already running in this checkout (${command}, pid ${pid}${where}); its keys are in .gatehouse/dev.json`;
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isNodeError(error) && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Moved away before it is judged again: of two that find it stale, one must not take the other's. */
function removeStale(path: string): void {
  const aside = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isNodeError(error) && error.code === 'ENOENT') return;
    throw error;
  }
  const moved = read(aside);
  if (moved && isAlive(moved)) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function read(path: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockHolder;
  } catch {
    return undefined;
  }
}
