import type { Log } from './progress.ts';

export interface CommandContext {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  log: Log;
  /** Aborted when the user wants the end. */
  signal: AbortSignal;
}

/** Resolves with the exit code. */
export type Command = (context: CommandContext) => Promise<number>;
