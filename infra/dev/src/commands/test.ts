import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareTestTemplate } from '@gatehouse/database/testing';
import type { Command, CommandContext } from '../command.ts';
import { startCache, startDatabase } from '../house-data.ts';
import { repositoryRoot as root } from '../house.ts';
import { PlainError } from '../plain-error.ts';
import { generateClient } from '../prisma-generate.ts';
import { createProgress, type Progress } from '../progress.ts';
import { Supervisor } from '../supervisor.ts';
import {
  checks,
  runCheck,
  runTests,
  stepEnvironment,
  type Counts,
  type StepContext,
} from '../test-steps.ts';

/** `npm test`: all checks, then all tests on throw-away data. With names: only their tests. */
export const test: Command = async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  // PostgreSQL may have to run as another user. Each secret is 0600.
  chmodSync(folder, 0o755);
  const kept: string[] = [];
  const supervisor = new Supervisor(folder, (name, output) => {
    if (name === 'tests') context.log(output);
    else if (checks.some((check) => check.name === name)) kept.push(output);
  });
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  context.signal.addEventListener('abort', () => aborted.reject(new Error('stopped')));
  let counts: Counts = { passed: 0, failed: 1 };
  try {
    const all = runAll(context, supervisor, folder, kept);
    all.catch(() => undefined);
    counts = await Promise.race([all, supervisor.failure, aborted.promise]);
  } catch (error) {
    if (context.signal.aborted || !(error instanceof PlainError)) throw error;
    context.log(`gatehouse: ${error.message}`);
  } finally {
    await supervisor.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  context.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
};

async function runAll(
  { args, env, log }: CommandContext,
  supervisor: Supervisor,
  folder: string,
  kept: string[],
): Promise<Counts> {
  const progress = createProgress(log);
  const rolePassword = randomBytes(18).toString('base64url');
  const servers = startServers({ env, log, supervisor, dataDir: folder, progress, rolePassword });
  // The servers start while the checks run; a failure is told when it is their turn.
  servers.catch(() => undefined);
  await progress.step(
    'database client',
    () => generateClient(supervisor, root, env.PATH ?? ''),
    (isNew) => (isNew ? 'written' : 'fits the schema'),
  );
  const checked: StepContext = { supervisor, root, log, kept, env: stepEnvironment(root, env, {}) };
  let failedChecks = 0;
  if (args.length === 0) {
    for (const check of checks) if (!(await runCheck(checked, check))) failedChecks++;
  }
  const { adminUrl, redisUrl } = await servers;
  const countsDir = join(folder, 'counts');
  mkdirSync(countsDir);
  const testEnvironment = stepEnvironment(root, env, {
    TEST_DATABASE_ADMIN_URL: adminUrl,
    TEST_DATABASE_ROLE_PASSWORD: rolePassword,
    TEST_REDIS_URL: redisUrl,
    GATEHOUSE_TEST_COUNTS: countsDir,
  });
  const counts = await runTests({ ...checked, env: testEnvironment }, args, countsDir);
  return { ...counts, failed: counts.failed + failedChecks };
}

interface ServerOptions {
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  supervisor: Supervisor;
  dataDir: string;
  progress: Progress;
  rolePassword: string;
}

async function startServers({ env, rolePassword, progress, ...options }: ServerOptions) {
  const secret = () => randomBytes(18).toString('base64url');
  // Not the user's own DATABASE_URL: the tests change the passwords of the server's roles.
  const rest = { ...env, DATABASE_URL: undefined };
  const data = {
    ...options,
    progress,
    env: rest,
    secrets: { postgresPassword: secret(), redisPassword: secret() },
    isDurable: false,
  };
  const database = async () => {
    const adminUrl = await startDatabase(data);
    await progress.step(
      'migrations',
      () => prepareTestTemplate({ adminUrl, rolePassword }),
      () => 'a template for the test databases',
    );
    return adminUrl;
  };
  const [adminUrl, redisUrl] = await Promise.all([database(), startCache(data)]);
  return { adminUrl, redisUrl };
}
