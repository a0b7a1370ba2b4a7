import { dev } from './commands/dev.ts';
import { generate } from './commands/generate.ts';
import { reset } from './commands/reset.ts';
import { start } from './commands/start.ts';
import { test } from './commands/test.ts';
import type { Command } from './command.ts';
import { PlainError } from './plain-error.ts';

const commands: Record<string, Command> = { start, test, dev, reset, generate };

const usage = `gatehouse: one of
  npm start                    everything, on ${'http://127.0.0.1:8080'} or PORT
  npm test [-- project …]      all checks and tests, or the tests of some projects
  npm run dev -- <service>     one service by itself
  npm run generate             the database client, when the schema changed
  npm run reset                deletes the data of this checkout
`;

const stop = new AbortController();
// However often it is asked: a terminal and npm both pass a signal on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stop.abort());
}
// infra/run.mjs holds the other end: gone without a signal, it was killed.
process.on('disconnect', () => stop.abort());
process.channel?.unref();
// A reader that went away (| head, a closed terminal) is no reason to leave children behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const [name = '', ...args] = process.argv.slice(2);
const command = commands[name];
if (!command) {
  process.stderr.write(usage);
  process.exit(2);
}
try {
  const log = (line: string) => void process.stdout.write(`${line}\n`);
  process.exitCode = await command({ args, env: process.env, log, signal: stop.signal });
} catch (error) {
  process.exitCode = stop.signal.aborted ? 0 : 1;
  if (!stop.signal.aborted) {
    const isPlain = error instanceof PlainError;
    process.stderr.write(`gatehouse: ${isPlain ? error.message : String(stackOf(error))}\n`);
  }
}
// Nothing of ours is open any more; an idle connection of a library must not hold the prompt.
process.exit();

function stackOf(error: unknown): unknown {
  return error instanceof Error ? error.stack : error;
}
