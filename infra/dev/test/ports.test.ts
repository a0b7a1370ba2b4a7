import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { assertPortIsFree, freePort, readPort } from '../src/ports.ts';

test('a busy port is named, and what to do about it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(assertPortIsFree(port)).rejects.toThrow(
    `port ${port} is busy: stop what listens there, or set PORT, e.g. PORT=${port + 1} npm start`,
  );
  server.close();
  await once(server, 'close');
  await assertPortIsFree(port);
});

test('PORT has to be a port number', () => {
  expect(readPort(undefined, 8080)).toBe(8080);
  expect(readPort('9000', 8080)).toBe(9000);
  for (const value of ['abc', '0', '65536', '80.5']) {
    expect(() => readPort(value, 8080)).toThrow(/no port number/);
  }
});

test('free ports are all different', async () => {
  const taken = new Set<number>();
  await Promise.all(Array.from({ length: 50 }, () => freePort(taken)));
  expect(taken.size).toBe(50);
});
