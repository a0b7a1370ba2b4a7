import { createInterface } from 'node:readline';
import { endGroups } from './end-groups.ts';

/**
 * A process of its own that outlives a supervisor which is killed without a chance to stop its
 * children. It reads `add <pid> <signal>` and `remove <pid>`; when the pipe ends it ends the
 * process groups that are left.
 */
const signals = new Map<number, NodeJS.Signals>();

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, pid, signal] = line.split(' ');
  if (verb === 'add') signals.set(Number(pid), signal as NodeJS.Signals);
  else signals.delete(Number(pid));
}
await endGroups([...signals].map(([pid, signal]) => ({ pid, signal })));
