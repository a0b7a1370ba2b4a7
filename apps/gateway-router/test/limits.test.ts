import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { answerTo, ask, open, portOf, raw, startHouse, text, type House } from './house.ts';

const KiB = 1024;
let house: House;
let requests = 0;
beforeAll(async () => {
  house = await startHouse({
    handlers: {
      auth: (req, res) => {
        requests++;
        text(req).then(
          (body) => res.end(String(body.length)),
          () => {},
        );
      },
      'model-gateway': (req, res) => void text(req).then((body) => res.end(String(body.length))),
    },
  });
});
afterAll(() => house.close());

const atEnd: (() => void)[] = [];
afterEach(() => atEnd.splice(0).forEach((end) => end()));

const tooLarge = [413, { error: expect.any(String), code: 'request_too_large' }];

describe('a body', () => {
  it('of the limit passes, whichever way it is framed', async () => {
    const body = 'a'.repeat(64 * KiB);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await ask(house.port, '/api/v1/auth/token', { method: 'POST', headers, body });
      expect([answer.status, answer.body]).toEqual([200, String(64 * KiB)]);
    }
  });

  it('that is announced as larger reaches no service', async () => {
    const before = requests;
    const sent = open(house.port, '/api/v1/auth/token', {
      method: 'POST',
      headers: { 'content-length': 64 * KiB + 1 },
    });
    sent.flushHeaders();
    const answer = await answerTo(sent);
    expect([answer.statusCode, JSON.parse(await text(answer))]).toEqual(tooLarge);
    expect(requests).toBe(before);
    sent.destroy();
  });

  it('of 2 MB is answered, not cut off', async () => {
    const body = 'a'.repeat(2_000_000);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await ask(house.port, '/api/v1/auth/token', { method: 'POST', headers, body });
      expect([answer.status, answer.body]).toEqual(tooLarge);
    }
  });

  it('that grows beyond the limit is stopped on its way', async () => {
    const sent = open(house.port, '/api/v1/auth/token', { method: 'POST' });
    sent.write('a'.repeat(65 * KiB));
    const answer = await answerTo(sent);
    expect([answer.statusCode, JSON.parse(await text(answer))]).toEqual(tooLarge);
    sent.destroy();
  });

  it('may be large for a model', async () => {
    const body = Buffer.alloc(20 * 1024 * KiB, 'a');
    const answer = await ask(house.port, '/v1/chat/completions', { method: 'POST', body });
    expect([answer.status, answer.body]).toEqual([200, String(body.length)]);
    const over = await ask(house.port, '/v1/chat/completions', {
      method: 'POST',
      body: Buffer.alloc(33 * 1024 * KiB),
    });
    expect(over.headers['x-gatehouse-code']).toBe('request_too_large');
  });
});

describe('Expect: 100-continue', () => {
  const head = (length: number) =>
    `POST /api/v1/auth/token HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n` +
    `Content-Length: ${length}\r\nConnection: close\r\n\r\n`;

  it('is answered before the body is sent', async () => {
    const sent = open(house.port, '/api/v1/auth/token', {
      method: 'POST',
      headers: { expect: '100-continue', 'content-length': 3 },
    });
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end('abc');
    expect(await text(await answerTo(sent))).toBe('3');
  });

  it('is answered once', async () => {
    const answer = await raw(house.port, `${head(3)}abc`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
  });

  it('saves the caller a body that is too large', async () => {
    const answer = await raw(house.port, head(100 * KiB));
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*"code":"request_too_large"/);
  });

  it('of anything else is ignored', async () => {
    const answer = await raw(house.port, `${head(3).replace('100-continue', 'magic')}abc`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a service', () => {
  const error = async (house: House, path = '/v1/chat/completions') => {
    const answer = await ask(house.port, path, { method: 'POST', body: '{}' });
    return [answer.status, answer.body.code, answer.headers['x-gatehouse-code']];
  };

  it('that is not there: 502', async () => {
    // A port that was free a moment ago.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(`http://127.0.0.1:${portOf(server as never)}`);
    server.close();
    await once(server, 'close');
    const house = await startHouse({ urls: { 'model-gateway': url, auth: url } });
    expect(await error(house)).toEqual([502, 'service_unreachable', 'service_unreachable']);
    expect(await error(house, '/api/v1/auth/token')).toEqual([
      502,
      'service_unreachable',
      undefined,
    ]);
    expect((await ask(house.port, '/api/v1/auth/settings')).body).toEqual({
      error: 'The service behind this path cannot be reached.',
      code: 'service_unreachable',
    });
    await house.close();
  });

  it('that does not accept: 502 after the connect limit', async () => {
    // A process that is stopped, with its queue of connections full.
    const listener = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 },
      function () { process.stdout.write(String(this.address().port)) })`;
    const child = spawn(process.execPath, ['-e', listener]);
    const port = Number((await once(child.stdout, 'data'))[0]);
    child.kill('SIGSTOP');
    atEnd.push(() => void child.kill('SIGKILL'));
    const queue = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await once(queue[0] as Socket, 'connect');
    const house = await startHouse({
      urls: { 'model-gateway': new URL(`http://127.0.0.1:${port}`) },
      timeouts: { connectMs: 100 },
    });
    expect(await error(house)).toEqual([502, 'service_unreachable', 'service_unreachable']);
    expect(house.lines.join('')).toContain('not connected within 100 ms');
    for (const socket of queue) socket.destroy();
    await house.close();
  });

  it('that hangs up without a word: 502, asked once', async () => {
    let asked = 0;
    const hangUp: RequestListener = (req) => {
      asked++;
      req.destroy();
    };
    const house = await startHouse({ handlers: { 'model-gateway': hangUp, auth: hangUp } });
    expect(await error(house)).toEqual([502, 'service_unreachable', 'service_unreachable']);
    expect((await ask(house.port, '/api/v1/auth/settings')).status).toBe(502);
    expect(asked).toBe(2);
    await house.close();
  });

  it.each(['SSH-2.0-OpenSSH_9.2\r\n', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'])(
    'that says %j: 502',
    async (words) => {
      const server = createServer((socket) => {
        socket.on('error', () => {}).end(words);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = new URL(`http://127.0.0.1:${portOf(server as never)}`);
      const house = await startHouse({ urls: { 'model-gateway': url } });
      expect((await error(house))[0]).toBe(502);
      expect((await ask(house.port, '/health/live')).status).toBe(200);
      await house.close();
      server.close();
    },
  );

  it('that does not answer: 504 after the first-byte limit, and it is told', async () => {
    const closed = Promise.withResolvers<void>();
    const house = await startHouse({
      handlers: { 'model-gateway': (_req, res) => void res.once('close', closed.resolve) },
      timeouts: { firstByteMs: 100 },
    });
    expect(await error(house)).toEqual([504, 'service_timeout', 'service_timeout']);
    await closed.promise;
    await house.close();
  });

  it('that falls silent in its answer: cut after the idle limit', async () => {
    const house = await startHouse({
      handlers: { 'model-gateway': (_req, res) => void res.write('data: 1\n\n') },
      timeouts: { idleMs: 100 },
    });
    await expect(
      ask(house.port, '/v1/chat/completions', { method: 'POST', body: '{}' }),
    ).rejects.toMatchObject({ code: 'ECONNRESET' });
    await house.close();
  });

  it('that is slow but steady outlasts every limit', async () => {
    const house = await startHouse({
      handlers: {
        'model-gateway': async (_req, res) => {
          for (let i = 0; i < 10; i++) {
            res.write(`data: ${i}\n\n`);
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
          res.end();
        },
      },
      timeouts: { firstByteMs: 300, idleMs: 300 },
    });
    const answer = await ask(house.port, '/v1/chat/completions', { method: 'POST', body: '{}' });
    expect(answer.body).toContain('data: 9');
    await house.close();
  });
});
