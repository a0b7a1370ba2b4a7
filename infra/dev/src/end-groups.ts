import { setTimeout as delay } from 'node:timers/promises';

/** A process group that some process started and can no longer stop itself. */
export interface Group {
  /** Of its leader. */
  pid: number;
  /** How it likes to be asked. */
  signal: NodeJS.Signals;
}

const graceMs = 5_000;

/** Sends to the whole group; false when it has no member left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Asks all groups to end, and ends by force what is left after five seconds. */
export async function endGroups(groups: readonly Group[]): Promise<void> {
  for (const { pid, signal } of groups) signalGroup(pid, signal);
  const deadline = Date.now() + graceMs;
  while (Date.now() < deadline && groups.some(({ pid }) => signalGroup(pid, 0))) await delay(50);
  for (const { pid } of groups) signalGroup(pid, 'SIGKILL');
}
