import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { isNodeError, PlainError } from './plain-error.ts';

export const loopback = '127.0.0.1';

/**
 * Below the range from which systems take the ports of outgoing connections (32768 on Linux), so
 * that nothing takes the port between this check and the child that binds it.
 */
const first = 20_000;
const last = 32_000;

export async function freePort(taken: Set<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(first, last);
    if (!taken.has(port) && (await tryPort(port)) === undefined) {
      taken.add(port);
      return port;
    }
  }
  throw new PlainError(`no free port found between ${first} and ${last}`);
}

/** Refuses in one line when the router's port cannot be had. */
export async function assertPortIsFree(port: number): Promise<void> {
  const error = await tryPort(port);
  if (!error) return;
  if (error.code === 'EADDRINUSE') {
    throw new PlainError(
      `port ${port} is busy: stop what listens there, or set PORT, e.g. PORT=${port + 1} npm start`,
    );
  }
  throw new PlainError(`port ${port} cannot be used (${error.code ?? error.message}): set PORT`);
}

export function readPort(value: string | undefined, fallback: number): number {
  if (value === undefined || value === '') return fallback;
  const port = Number(value);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new PlainError(`PORT is "${value}", which is no port number (1 to 65535)`);
}

async function tryPort(port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((done, fail) => {
      server.once('error', fail);
      server.listen(port, loopback, done);
    });
    return undefined;
  } catch (error) {
    if (isNodeError(error)) return error;
    throw error;
  } finally {
    await new Promise((done) => server.close(done));
  }
}
