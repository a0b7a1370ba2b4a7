import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { signalGroup } from './end-groups.ts';

/** The order of stopping: who answers users goes first, what others write to goes last. */
export const stopStages = ['router', 'services', 'tools', 'redis', 'postgres'] as const;
export type StopStage = (typeof stopStages)[number];

/** How to ask for the end, and how long to wait before the next, harder way. */
export type StopStep = readonly [signal: NodeJS.Signals, waitMs: number];

export interface ChildSpec {
  name: string;
  command: string;
  args: readonly string[];
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  cwd: string;
  stage: StopStage;
  /** Default: SIGTERM, and SIGKILL after ten seconds. Empty: never interrupted, only awaited. */
  stopSteps?: readonly StopStep[];
  uid?: number;
  gid?: number;
}

export interface Child {
  spec: ChildSpec;
  pid: number;
  /** Settles when the process is gone and its last output is read. Never rejects. */
  ended: Promise<string>;
  /** The last lines that it wrote. */
  tail: string[];
  onLine(listener: (line: string) => void): void;
}

const tailLines = 15;
const defaultStopSteps: readonly StopStep[] = [
  ['SIGTERM', 10_000],
  ['SIGKILL', 5_000],
];

// They hold nothing that must be kept, and the pages and answers they hold open are nobody's.
const toolStopSteps: readonly StopStep[] = [
  ['SIGTERM', 500],
  ['SIGKILL', 5_000],
];

export const stopStepsOf = ({ stage, stopSteps }: ChildSpec): readonly StopStep[] =>
  stopSteps ?? (stage === 'tools' ? toolStopSteps : defaultStopSteps);

/**
 * Starts a child in a process group of its own: Ctrl-C in the terminal reaches only the
 * supervisor, which alone decides the order of stopping. What it writes goes to `<name>.log`.
 */
export async function spawnChild(spec: ChildSpec, logsDir: string): Promise<Child> {
  const spawned = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(spec.uid !== undefined && { uid: spec.uid }),
    ...(spec.gid !== undefined && { gid: spec.gid }),
  });
  const ended = endOf(spawned);
  await once(spawned, 'spawn');
  const listeners: ((line: string) => void)[] = [];
  const tail: string[] = [];
  const log = createWriteStream(rotated(logsDir, spec.name), { mode: 0o600 });
  for (const input of [spawned.stdout, spawned.stderr]) {
    createInterface({ input, crlfDelay: Infinity }).on('line', (line) => {
      log.write(`${line}\n`);
      tail.push(line);
      if (tail.length > tailLines) tail.shift();
      for (const listener of listeners) listener(line);
    });
  }
  void ended.then(() => log.end());
  return {
    spec,
    pid: spawned.pid as number,
    ended,
    tail,
    onLine: (listener) => void listeners.push(listener),
  };
}

/** Ends the child and whatever it started in its group. */
export async function stopChild(child: Child): Promise<void> {
  const steps = stopStepsOf(child.spec);
  if (steps.length === 0) await child.ended;
  for (const [signal, waitMs] of steps) {
    if (!signalGroup(child.pid, signal)) break;
    const abort = new AbortController();
    const isGone = await Promise.race([
      child.ended.then(() => true),
      delay(waitMs, false, { signal: abort.signal }).catch(() => false),
    ]);
    abort.abort();
    if (isGone) break;
  }
  signalGroup(child.pid, 'SIGKILL');
}

async function endOf(spawned: ChildProcess): Promise<string> {
  const how = await new Promise<string>((done) => {
    spawned.once('error', (error) => done(error.message));
    spawned.once('exit', (code, signal) => done(signal ? `by ${signal}` : `with status ${code}`));
  });
  // A grandchild may hold the pipes open: the last lines are worth a short wait, not a long one.
  const abort = new AbortController();
  await Promise.race([
    spawned.stdout?.closed ? undefined : once(spawned, 'close', { signal: abort.signal }),
    delay(500, undefined, { signal: abort.signal }),
  ]).catch(() => undefined);
  abort.abort();
  return how;
}

/** The log of this run; that of the run before is kept beside it. */
function rotated(logsDir: string, name: string): string {
  const path = join(logsDir, `${name}.log`);
  if (existsSync(path)) renameSync(path, join(logsDir, `${name}.previous.log`));
  return path;
}
