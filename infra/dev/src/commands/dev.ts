import type { Command } from '../command.ts';
import { repositoryRoot, startHouse } from '../house.ts';
import { alreadyRunning, lockHolder } from '../lock.ts';
import { createNotices } from '../notices.ts';
import { PlainError } from '../plain-error.ts';
import { runUntilStopped } from '../run-until-stopped.ts';
import { services } from '../services.ts';
import { dataDirOf } from './start.ts';

/** `npm run dev -- auth`: one service by itself, restarted whenever its code changes. */
export const dev: Command = async ({ args, env, log, signal }) => {
  const [name = ''] = args;
  const chosen = services.filter((service) => service.name === name);
  if (chosen.length === 0) {
    const names = services.map((service) => service.name).join(', ');
    throw new PlainError(`"${name}" is no service; there are ${names}`);
  }
  const dataDir = dataDirOf(repositoryRoot);
  const holder = lockHolder(dataDir);
  if (holder) throw new PlainError(alreadyRunning(holder));
  const vendor = services.filter((service) => service.name === 'sandbox-vendor');
  const house = await startHouse({
    dataDir,
    env,
    log,
    signal,
    command: `npm run dev -- ${name}`,
    services: [...new Set([...chosen, ...vendor])],
    isSeeded: false,
    nodeArgs: ['--watch', '--watch-preserve-output'],
    onOutput: createNotices(log),
  });
  const { devJson } = house;
  log(`\nready: ${name} at ${devJson.services[name]?.url}, restarted when its code changes`);
  log(`mailbox ${devJson.mailbox_url}, sandbox vendor ${devJson.services['sandbox-vendor']?.url}`);
  log(`log .gatehouse/logs/${name}.log`);
  if (!devJson.api_key) log('There are no keys yet: "npm start" once makes a project and a key.');
  return runUntilStopped(house, { log, signal });
};
