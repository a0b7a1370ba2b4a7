import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ChildSpec } from './child-process.ts';
import { PlainError } from './plain-error.ts';
import { line, seconds, type Log } from './progress.ts';
import type { Supervisor } from './supervisor.ts';

export interface Counts {
  passed: number;
  failed: number;
}

export interface StepContext {
  supervisor: Supervisor;
  root: string;
  env: Record<string, string>;
  log: Log;
  /** What the running step has written, while it is kept back. */
  kept: string[];
}

interface Step {
  name: string;
  args: readonly string[];
}

const bin = (root: string, name: string) => join(root, 'node_modules/.bin', name);

export const checks: readonly Step[] = [
  { name: 'format', args: ['prettier', '--check', '--log-level=warn', '.'] },
  { name: 'types', args: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'lint', args: ['nx', 'run-many', '-t', 'lint', '--parallel=2', '--outputStyle=stream'] },
];

/** Runs a check; its output is shown only when it fails. Resolves with whether it passed. */
export async function runCheck(context: StepContext, step: Step): Promise<boolean> {
  const startedAt = performance.now();
  context.kept.length = 0;
  const isGood = await runStep(context, step);
  if (!isGood) for (const output of context.kept) context.log(output);
  context.log(line(step.name, `${isGood ? 'passed' : 'FAILED'} ${seconds(startedAt)}`));
  return isGood;
}

/** Runs the tests of all projects, or of those named, and adds up what Jest counted. */
export async function runTests(
  context: StepContext,
  projects: readonly string[],
  countsDir: string,
): Promise<Counts> {
  const startedAt = performance.now();
  const chosen = projects.length > 0 ? ['-p', projects.join(',')] : [];
  const args = ['nx', 'run-many', '-t', 'test', ...chosen, '--parallel=1', '--outputStyle=stream'];
  const isGood = await runStep(context, { name: 'tests', args });
  const counts = addUp(countsDir);
  // A run that crashed has counted nothing.
  if (!isGood && counts.failed === 0) counts.failed = 1;
  context.log(line('tests', `${counts.failed === 0 ? 'passed' : 'FAILED'} ${seconds(startedAt)}`));
  return counts;
}

async function runStep({ supervisor, root, env }: StepContext, step: Step): Promise<boolean> {
  const [name = '', ...args] = step.args;
  const spec: ChildSpec = {
    name: step.name,
    command: bin(root, name),
    args,
    env,
    cwd: root,
    stage: 'router',
    stopSteps: [
      ['SIGTERM', 5_000],
      ['SIGKILL', 5_000],
    ],
  };
  try {
    await supervisor.run(spec);
    return true;
  } catch (error) {
    if (error instanceof PlainError) return false;
    throw error;
  }
}

function addUp(countsDir: string): Counts {
  const sum: Counts = { passed: 0, failed: 0 };
  for (const file of readdirSync(countsDir)) {
    const counts = JSON.parse(readFileSync(join(countsDir, file), 'utf8')) as Counts;
    sum.passed += counts.passed;
    sum.failed += counts.failed;
  }
  return sum;
}

/** The user's own environment without what would lead tests to real vendors or other data. */
export function stepEnvironment(
  root: string,
  user: NodeJS.ProcessEnv,
  forTests: Record<string, string>,
): Record<string, string> {
  const left = Object.entries(user).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/_API_KEY$|_BASE_URL$|^(DATABASE_URL|REDIS_URL|PORT|HOST)$/.test(entry[0]),
  );
  return {
    ...Object.fromEntries(left),
    // The pinned Node before the machine's.
    PATH: [join(root, 'node_modules/.bin'), user.PATH ?? ''].join(delimiter),
    ...(!process.stdout.isTTY && { NO_COLOR: '1', FORCE_COLOR: '0' }),
    NX_DAEMON: 'false',
    NX_TUI: 'false',
    NX_NO_CLOUD: 'true',
    // Plain child processes: those of a pseudo-terminal leave our process group.
    NX_NATIVE_COMMAND_RUNNER: 'false',
    ...forTests,
  };
}
