import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import type { StopStage } from '../src/child-process.ts';
import { commandLineOf } from '../src/process-identity.ts';
import { endLeftovers, Supervisor } from '../src/supervisor.ts';
import { firstLine, isRunning, shell, temporaryFolder, until } from './support.ts';

const pidsIn = (line: string): number[] => line.split(' ').map(Number);

/** Starts a supervisor in another process; resolves when its child and grandchild run. */
async function superviseElsewhere(dataDir: string) {
  const script = join(import.meta.dirname, 'fixtures/supervise.ts');
  const supervisor = spawn(process.execPath, [script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: supervisor.stdout }), 'line')) as [string];
  return { supervisor, children: pidsIn(line) };
}

/** The pids of the watchdogs that the given process started. */
function watchdogOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const found = pidsIn(children).find((child) => commandLineOf(child).includes('watchdog'));
  if (!found) throw new Error('no watchdog');
  return found;
}

describe('stop', () => {
  test('leaves no process: not a child that ignores SIGTERM, not what it started', async () => {
    const supervisor = new Supervisor(temporaryFolder());
    let pids: number[] = [];
    await supervisor.start(
      shell('stubborn', `trap '' TERM; sleep 1000 & echo $$ $!; while :; do wait; done`, {
        stopSteps: [
          ['SIGTERM', 100],
          ['SIGKILL', 5_000],
        ],
      }),
      async (child) => void (pids = pidsIn(await firstLine(child))),
    );
    expect(pids.map(isRunning)).toEqual([true, true]);
    await supervisor.stop();
    await until(() => !pids.some(isRunning));
  });

  test('goes from the router to the database, one stage after the other', async () => {
    const ended: string[] = [];
    const supervisor = new Supervisor(temporaryFolder(), (name, line) => {
      if (line === 'bye') ended.push(name);
    });
    const stages: StopStage[] = ['postgres', 'redis', 'tools', 'services', 'router'];
    for (const stage of stages) {
      const script = `trap 'sleep 0.05; echo bye; exit' TERM; echo up; while :; do sleep 0.01; done`;
      await supervisor.start(shell(stage, script, { stage }), async (child) => {
        await firstLine(child);
      });
    }
    await Promise.all([supervisor.stop(), supervisor.stop()]);
    expect(ended).toEqual(stages.toReversed());
  });
});

describe('a child that dies', () => {
  test('is named, with its last lines', async () => {
    const supervisor = new Supervisor(temporaryFolder());
    const script = 'echo up; while [ ! -e "$0" ]; do sleep 0.01; done; echo out of memory; exit 3';
    const flag = join(temporaryFolder(), 'flag');
    const spec = shell('auth', script);
    await supervisor.start({ ...spec, args: [...spec.args, flag] }, async (child) => {
      await firstLine(child);
    });
    writeFileSync(flag, '');
    await expect(supervisor.failure).rejects.toThrow(
      /^auth ended with status 3; its last lines .*logs\/auth\.log\):\n {2}auth \| up\n {2}auth \| out of memory$/,
    );
    await supervisor.stop();
  });

  test('before it is ready fails its start', async () => {
    const supervisor = new Supervisor(temporaryFolder());
    const never = new Promise<void>(() => undefined);
    await expect(supervisor.start(shell('auth', 'echo bad; exit 78'), () => never)).rejects.toThrow(
      /auth ended with status 78.*\n {2}auth \| bad/,
    );
    await supervisor.stop();
  });

  test('is told in one line when there is no such program', async () => {
    const supervisor = new Supervisor(temporaryFolder());
    const spec = { ...shell('redis', ''), command: '/nowhere/redis-server' };
    await expect(supervisor.run(spec)).rejects.toThrow(/^redis could not be started: .*ENOENT/);
    await supervisor.stop();
  });
});

describe('a supervisor that is killed', () => {
  test('leaves no orphan: the watchdog ends its children', async () => {
    const { supervisor, children } = await superviseElsewhere(temporaryFolder());
    expect(children.map(isRunning)).toEqual([true, true]);
    supervisor.kill('SIGKILL');
    await until(() => !children.some(isRunning));
  });

  test('together with its watchdog: the next start ends what is left', async () => {
    const dataDir = temporaryFolder();
    const { supervisor, children } = await superviseElsewhere(dataDir);
    process.kill(watchdogOf(supervisor.pid as number), 'SIGKILL');
    supervisor.kill('SIGKILL');
    await once(supervisor, 'exit');
    expect(children.map(isRunning)).toEqual([true, true]);
    expect(await endLeftovers(dataDir)).toBe(1);
    await until(() => !children.some(isRunning));
    expect(await endLeftovers(dataDir)).toBe(0);
  });
});
