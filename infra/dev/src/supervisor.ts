import { once } from 'node:events';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  spawnChild,
  stopChild,
  stopStages,
  stopStepsOf,
  type Child,
  type ChildSpec,
} from './child-process.ts';
import { endGroups, signalGroup, type Group } from './end-groups.ts';
import { PlainError } from './plain-error.ts';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

/** Resolves when the child can do its work; the signal says that it never will. */
export type Ready = (child: Child, gone: AbortSignal) => Promise<void>;

/**
 * Starts children, notices when one dies that should not, and stops all of them in order. A
 * watchdog process does it when this process is killed, and the next start when both were.
 */
export class Supervisor {
  /** Rejects with a {@link PlainError} when a child ends that nobody asked to end. */
  readonly failure: Promise<never>;
  readonly #fail: (error: PlainError) => void;
  readonly #dataDir: string;
  readonly #logsDir: string;
  readonly #watchdog: ChildProcess;
  readonly #children = new Map<number, Child>();
  readonly #onOutput: ((name: string, output: string) => void) | undefined;
  #stopping: Promise<void> | undefined;

  constructor(dataDir: string, onOutput?: (name: string, output: string) => void) {
    this.#onOutput = onOutput;
    this.#dataDir = dataDir;
    this.#logsDir = join(dataDir, 'logs');
    mkdirSync(this.#logsDir, { recursive: true, mode: 0o700 });
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    this.failure = promise;
    this.#fail = reject;
    this.#watchdog = spawn(process.execPath, [join(import.meta.dirname, 'watchdog-process.ts')], {
      detached: true,
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#watchdog.on('error', () => undefined);
    this.#watchdog.stdin?.on('error', () => undefined);
  }

  /**
   * Starts a child that is to run until {@link stop}, and waits until it can do its work. From
   * then on its end is a {@link failure}; before, the promise rejects.
   */
  async start(spec: ChildSpec, ready: Ready): Promise<void> {
    const child = await this.#spawn(spec);
    const gone = new AbortController();
    const death = child.ended.then((how) => {
      gone.abort();
      throw new PlainError(describeEnd(child, how, this.#logsDir));
    });
    death.catch(() => undefined);
    await Promise.race([ready(child, gone.signal), death]);
    death.catch((error: PlainError) => {
      if (!this.#stopping) this.#fail(error);
    });
  }

  /** Runs a child to its end; rejects when that is not a good one. @returns its last lines */
  async run(spec: ChildSpec): Promise<string[]> {
    const child = await this.#spawn(spec);
    const how = await child.ended;
    if (how !== 'with status 0') throw new PlainError(describeEnd(child, how, this.#logsDir));
    return child.tail;
  }

  /** Stops everything, stage by stage, and resolves when no process is left. Repeatable. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (const stage of stopStages) {
      const members = [...this.#children.values()].filter(({ spec }) => spec.stage === stage);
      await Promise.all(members.map(stopChild));
    }
    const isGone = once(this.#watchdog, 'exit');
    this.#watchdog.stdin?.end();
    if (this.#watchdog.exitCode === null && this.#watchdog.signalCode === null) await isGone;
    rmSync(recordPath(this.#dataDir), { force: true });
  }

  async #spawn(spec: ChildSpec): Promise<Child> {
    if (this.#stopping) throw new PlainError('stopping');
    const child = await spawnChild(spec, this.#logsDir).catch((error: Error) => {
      throw new PlainError(`${spec.name} could not be started: ${error.message}`);
    });
    child.onLine((output) => this.#onOutput?.(spec.name, output));
    this.#children.set(child.pid, child);
    this.#watchdog.stdin?.write(`add ${child.pid} ${askToEnd(spec)}\n`);
    this.#record();
    void child.ended.then(() => {
      this.#children.delete(child.pid);
      this.#watchdog.stdin?.write(`remove ${child.pid}\n`);
      // What the child had started in its group goes with it.
      signalGroup(child.pid, 'SIGKILL');
      this.#record();
    });
    // Asked to stop while the process was being made: it must not be left out.
    if (this.#stopping) await stopChild(child);
    return child;
  }

  #record(): void {
    if (this.#children.size === 0 && this.#stopping) return;
    const left = [...this.#children.values()].flatMap(({ pid, spec }) => {
      const identity = identify(pid);
      return identity ? [{ ...identity, signal: askToEnd(spec) }] : [];
    });
    writeFileSync(recordPath(this.#dataDir), JSON.stringify(left));
  }
}

/** Ends what a run left behind whose supervisor and watchdog were both killed. */
export async function endLeftovers(dataDir: string): Promise<number> {
  const path = recordPath(dataDir);
  if (!existsSync(path)) return 0;
  const record = JSON.parse(readFileSync(path, 'utf8')) as (ProcessIdentity & Group)[];
  const left = record.filter(isAlive);
  await endGroups(left);
  rmSync(path, { force: true });
  return left.length;
}

const recordPath = (dataDir: string): string => join(dataDir, 'processes.json');

// A child that must not be interrupted gets a signal that does nothing.
const askToEnd = (spec: ChildSpec): NodeJS.Signals => stopStepsOf(spec)[0]?.[0] ?? 'SIGCONT';

function describeEnd({ spec, tail }: Child, how: string, logsDir: string): string {
  const lines = tail.map((line) => `  ${spec.name} | ${line.slice(0, 500)}`);
  const log = join(logsDir, `${spec.name}.log`);
  return [`${spec.name} ended ${how}; its last lines (all of them in ${log}):`, ...lines].join(
    '\n',
  );
}
