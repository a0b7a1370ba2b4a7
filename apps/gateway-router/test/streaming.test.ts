import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { answerTo, ask, open, startHouse, text, type House } from './house.ts';

/** What reached the model gateway, oldest first, to be answered by the test. */
let arrived: { req: IncomingMessage; res: ServerResponse }[] = [];
let waiting: (() => void)[] = [];
const next = async () => {
  while (arrived.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  return arrived.shift() as (typeof arrived)[number];
};

let house: House;
beforeAll(async () => {
  house = await startHouse({
    handlers: {
      'model-gateway': (req, res) => {
        arrived.push({ req, res });
        for (const wake of waiting.splice(0)) wake();
      },
    },
  });
});
beforeEach(() => {
  arrived = [];
  waiting = [];
});
afterAll(() => house.close());

const start = (body = '{}') => {
  const sent = open(house.port, '/v1/chat/completions', { method: 'POST' });
  sent.end(body);
  return sent;
};

/** The next bytes of an answer. */
const chunk = async (answer: IncomingMessage) => String((await once(answer, 'data'))[0] as Buffer);

describe('an answer', () => {
  it('arrives piece by piece, each as soon as the service has sent it', async () => {
    const sent = start();
    const { res } = await next();
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    // The head before any body, then each event before the next one is written.
    const answer = await answerTo(sent);
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(answer.headers).not.toHaveProperty('content-encoding');
    for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: [DONE]\n\n']) {
      const read = chunk(answer);
      res.write(event);
      expect(await read).toBe(event);
    }
    res.end();
    await once(answer, 'end');
    expect(answer.complete).toBe(true);
  });

  it('adds little to each piece', async () => {
    const sent = start();
    const { res } = await next();
    res.writeHead(200).flushHeaders();
    const answer = await answerTo(sent);
    const delays: number[] = [];
    for (let i = 0; i < 40; i++) {
      const read = chunk(answer);
      const writtenAt = performance.now();
      res.write(`data: ${i}\n\n`);
      await read;
      delays.push(performance.now() - writtenAt);
    }
    res.end();
    // Nagle's algorithm with delayed acknowledgements would show as 40 ms.
    expect(delays.sort((a, b) => a - b)[20]).toBeLessThan(20);
  });

  it('that breaks off is broken off, never ended cleanly', async () => {
    const sent = start();
    const { res } = await next();
    res.write('data: 1\n\n');
    const answer = await answerTo(sent);
    await chunk(answer);
    res.destroy();
    await expect(once(answer, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(answer.complete).toBe(false);
    expect(house.lines.join('')).toContain('the service broke off its answer');
  });

  it('that breaks off right after its head is broken off too', async () => {
    const sent = start();
    const { res } = await next();
    res.writeHead(200, { 'content-length': '10' }).flushHeaders();
    const answer = await answerTo(sent);
    res.destroy();
    await expect(once(answer, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('is read from the service no faster than by the client', async () => {
    const sent = start();
    const { res } = await next();
    const answer = await answerTo(Object.assign(sent, res.writeHead(200).flushHeaders()));
    const piece = Buffer.alloc(1024 * 1024);
    let written = 0;
    while (res.write(piece) && written < 200) written++;
    // The first piece that does not fit stops the service, until somebody reads.
    expect(written).toBeLessThan(64);
    const drained = once(res, 'drain');
    answer.resume();
    await drained;
    res.end();
    await once(answer, 'end');
  });

  it('comes 50 times in parallel without one byte astray', async () => {
    const streams = Array.from({ length: 50 }, async (_, i) => {
      const sent = start(String(i));
      return text(await answerTo(sent));
    });
    const served = Array.from({ length: 50 }, async () => {
      const { req, res } = await next();
      const name = await text(req);
      for (let event = 0; event < 20; event++) {
        res.write(`data: ${name}.${event}\n\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      res.end();
    });
    await Promise.all(served);
    const expected = (i: number) =>
      Array.from({ length: 20 }, (_, event) => `data: ${i}.${event}\n\n`).join('');
    expect(await Promise.all(streams)).toEqual(Array.from({ length: 50 }, (_, i) => expected(i)));
  });
});

describe('a client that leaves', () => {
  it.each(['before the answer', 'in the middle of the answer'])(
    '%s is noticed by the service within 100 ms',
    async (when) => {
      const sent = start();
      const { res } = await next();
      if (when !== 'before the answer') {
        res.write('data: 1\n\n');
        await chunk(await answerTo(sent));
      }
      const left = performance.now();
      sent.destroy();
      await once(res, 'close');
      expect(performance.now() - left).toBeLessThan(100);
    },
  );

  it('in the middle of its own body is noticed too', async () => {
    const sent = open(house.port, '/v1/chat/completions', { method: 'POST' });
    sent.write('{"model"');
    const { req } = await next();
    await once(req, 'data');
    sent.destroy();
    await expect(once(req, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('is neither an error in the log nor the end of the router', async () => {
    expect(house.lines.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
    const live = await ask(house.port, '/health/live');
    expect(live.status).toBe(200);
  });
});

describe('a request body', () => {
  it('reaches the service piece by piece', async () => {
    const sent = open(house.port, '/compat-a/v1/images/edits', { method: 'POST' });
    for (const piece of ['one', 'two']) {
      sent.write(piece);
      const { req, res } = piece === 'one' ? await next() : (arrived[0] as never);
      arrived = [{ req, res }];
      expect(await chunk(req)).toBe(piece);
    }
    sent.end();
    const { req, res } = await next();
    await once(req, 'end');
    res.end('got it');
    expect(await text(await answerTo(sent))).toBe('got it');
  });

  it('may be answered before it is complete', async () => {
    const sent = open(house.port, '/v1/images/edits', { method: 'POST' });
    sent.write('a'.repeat(1000));
    const { res } = await next();
    res.writeHead(401).end('{"code":"invalid_api_key"}');
    const answer = await answerTo(sent);
    expect(answer.statusCode).toBe(401);
    sent.end();
    expect(await text(answer)).toBe('{"code":"invalid_api_key"}');
  });
});
