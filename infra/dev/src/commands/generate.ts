import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { repositoryRoot } from '../house.ts';
import { generateClient } from '../prisma-generate.ts';
import { createProgress } from '../progress.ts';
import { Supervisor } from '../supervisor.ts';

/** `npm run generate`: works beside a running house, which keeps the client that it loaded. */
export const generate: Command = async ({ env, log, signal }) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-generate-'));
  const supervisor = new Supervisor(folder);
  signal.addEventListener('abort', () => void supervisor.stop());
  try {
    await createProgress(log).step(
      'generate',
      () => generateClient(supervisor, repositoryRoot, env.PATH ?? ''),
      (isNew) => (isNew ? 'database client written' : 'the database client fits the schema'),
    );
  } finally {
    await supervisor.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
};
