import type { House } from './house.ts';
import { PlainError } from './plain-error.ts';
import { seconds, type Log } from './progress.ts';

/** Until the user wants the end (0) or a child dies (1); in both cases nothing is left running. */
export async function runUntilStopped(
  house: Pick<House, 'failure' | 'stop'>,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<number> {
  let exitCode = 0;
  try {
    await Promise.race([aborted(signal), house.failure]);
    log('\nstopping …');
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    log(`gatehouse: ${error.message}\nstopping …`);
    exitCode = 1;
  }
  const startedAt = performance.now();
  await house.stop();
  log(`stopped ${seconds(startedAt)}`);
  return exitCode;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done();
    // The listener alone keeps no process alive.
    const alive = setInterval(() => undefined, 1 << 30);
    signal.addEventListener('abort', () => {
      clearInterval(alive);
      done();
    });
  });
