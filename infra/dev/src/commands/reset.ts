import { existsSync, rmSync } from 'node:fs';
import type { Command } from '../command.ts';
import { repositoryRoot } from '../house.ts';
import { acquireLock } from '../lock.ts';
import { isNodeError, PlainError } from '../plain-error.ts';
import { endLeftovers } from '../supervisor.ts';
import { dataDirOf } from './start.ts';

/** `npm run reset`: the next start begins with nothing. */
export const reset: Command = async ({ env, log }) => {
  const dataDir = dataDirOf(repositoryRoot);
  if (existsSync(dataDir)) {
    acquireLock(dataDir, 'npm run reset');
    await endLeftovers(dataDir);
    try {
      rmSync(dataDir, { recursive: true, force: true });
    } catch (error) {
      if (!isNodeError(error)) throw error;
      throw new PlainError(`${error.path ?? dataDir} cannot be deleted (${error.code})`);
    }
  }
  log('reset            .gatehouse is deleted: database, Redis, mails, keys and logs');
  if (env.DATABASE_URL) log('reset            the database at DATABASE_URL is left as it is');
  return 0;
};
