import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { PlainError } from './plain-error.ts';

const intervalMs = 40;

/** The status of one GET; 0 when nothing answers. */
export function probe(url: string, timeoutMs = 2_000): Promise<number> {
  return new Promise((done) => {
    const request = get(url, { agent: false, timeout: timeoutMs }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => done(0));
  });
}

/** Waits for a 200, for as long as there is hope. */
export async function waitForReady(
  name: string,
  url: string,
  { timeoutMs, gone }: { timeoutMs: number; gone: AbortSignal },
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let status = 0;
  while (Date.now() < deadline && !gone.aborted) {
    status = await probe(url);
    if (status === 200) return;
    await delay(intervalMs);
  }
  const answer = status === 0 ? 'no answer' : `status ${status}`;
  throw new PlainError(
    `${name} was not ready within ${timeoutMs / 1000} s (${answer} at ${url}); see .gatehouse/logs/${name}.log`,
  );
}
