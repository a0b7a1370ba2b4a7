import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ask, portOf, startHouse, type House } from './house.ts';

/** Answers the first request on each connection, and resets the connection at the second. */
const seen: string[] = [];
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  let requests = 0;
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    seen.push(String(bytes).split(' ', 1)[0] as string);
    if (++requests > 1) socket.resetAndDestroy();
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
});

let house: House;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  house = await startHouse({
    urls: { account: new URL(`http://127.0.0.1:${portOf(server as never)}`) },
  });
});
beforeEach(() => {
  seen.length = 0;
  sockets.clear();
});
afterAll(async () => {
  await house.close();
  server.close();
});

const call = (method: string) => ask(house.port, '/api/user/keys', { method });

describe('connections to a service', () => {
  it('are kept, and a read survives one that closes as it is used again', async () => {
    expect((await call('GET')).status).toBe(200);
    expect((await call('GET')).status).toBe(200);
    expect(seen).toEqual(['GET', 'GET', 'GET']);
    expect(sockets.size).toBe(2);
  });

  it('never carry a write twice', async () => {
    const answers = [await call('GET'), await call('POST')].concat(await call('POST'));
    expect(answers.map(({ status }) => status)).toContain(502);
    expect(seen.filter((method) => method === 'POST')).toHaveLength(2);
  });
});
