import { join } from 'node:path';
import type { Command } from '../command.ts';
import { repositoryRoot, startHouse } from '../house.ts';
import { createNotices } from '../notices.ts';
import { readPort } from '../ports.ts';
import { seconds } from '../progress.ts';
import { readyText } from '../ready-text.ts';
import { runUntilStopped } from '../run-until-stopped.ts';

export const dataDirOf = (root: string): string => join(root, '.gatehouse');

const defaultPort = 8080;

/** `npm start`: the whole house, until Ctrl-C. */
export const start: Command = async ({ env, log, signal }) => {
  const startedAt = performance.now();
  const house = await startHouse({
    dataDir: dataDirOf(repositoryRoot),
    port: readPort(env.PORT, defaultPort),
    env,
    log,
    signal,
    command: 'npm start',
    onOutput: createNotices(log),
  });
  log(`${readyText(house.devJson)}\nstarted ${seconds(startedAt)}`);
  return runUntilStopped(house, { log, signal });
};
