import { request } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { APIError as OpenAIError } from 'openai';
import {
  anthropicClient,
  dialectNames,
  dialects,
  openaiClient,
  outcome,
  post,
  startHouse,
  type GatewayOptions,
} from './harness.ts';

let house: Awaited<ReturnType<typeof startHouse>>;
let url: string;
let key: string;

beforeAll(async () => {
  house = await startHouse();
  ({ url } = await house.startGateway());
  ({ key } = await house.createKey());
});
afterAll(() => house.stop());

const start = async (options: GatewayOptions) => (await house.startGateway(options)).url;

/** Epoch milliseconds with the fraction that the sandbox's record has, too. */
const nowMs = () => performance.timeOrigin + performance.now();

/** What came before the connection broke; fails if it did not break. */
async function readBroken(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
    }
  } catch {
    return text;
  }
  throw new Error('the answer ended as if it were whole');
}

/** A vendor that sends these bytes, whatever it is asked, and closes the connection. */
async function startOddVendor(bytes: string) {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const vendorUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { vendorUrl, stop: () => new Promise((resolve) => server.close(resolve)) };
}

describe.each(dialectNames)('%s', (name) => {
  const dialect = dialects[name];
  const ask = (base: string, faults: string, more: object = {}) =>
    post(base, name, key, dialect.body(faults, { model: `sandbox-x${faults}`, ...more }));

  it.each([400, 429, 500, 503])('passes a vendor’s %d with its own body', async (status) => {
    const answer = await ask(url, `+status=${status}+retry_after=7`);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.get('x-gatehouse-code')).toBeNull();
    const body = (await answer.json()) as { error: { message: string } };
    expect(body.error.message).toEqual(expect.any(String));
  });

  it.each([401, 403])('keeps a vendor’s %d on our credential to itself', async (status) => {
    const answer = await ask(url, `+status=${status}`);
    const text = await answer.clone().text();
    expect(await outcome(answer)).toEqual([502, 'upstream_credential_rejected']);
    expect(text).not.toMatch(/incorrect|x-api-key|not supported|not allowed/i);
  });

  it('does not quote a credential that the vendor does not know', async () => {
    const base = await start({ vendorKey: 'sk-wrong-0123456789' });
    const answer = await post(base, name, key, dialect.body('wrong-credential'));
    expect(await answer.clone().text()).not.toContain('sk-wrong');
    expect(await outcome(answer)).toEqual([502, 'upstream_credential_rejected']);
  });

  it('says that a vendor cannot be reached', async () => {
    const { vendorUrl, stop } = await startOddVendor('');
    await stop();
    const answer = await post(await start({ vendorUrl }), name, key, dialect.body('x'));
    expect(await outcome(answer)).toEqual([502, 'upstream_error']);
  });

  it.each([
    ['nothing', ''],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    [
      'a redirect',
      'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n',
    ],
    ['a head alone', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'],
  ])('says that a vendor’s answer cannot be read: %s', async (_, bytes) => {
    const { vendorUrl, stop } = await startOddVendor(bytes);
    const answer = await post(await start({ vendorUrl }), name, key, dialect.body('x'));
    expect(await outcome(answer)).toEqual([502, 'upstream_error']);
    await stop();
  });

  it.each(['+hang', '+hang_after_chunks=0'])(
    'gives up on a vendor without a first byte: %s',
    async (faults) => {
      const base = await start({ timeouts: { firstByteMs: 100 } });
      const answer = await ask(base, faults, { stream: true });
      expect(await outcome(answer)).toEqual([504, 'upstream_timeout']);
      expect((await house.sandbox.waitFor(faults)).outcome).toBe('aborted');
    },
  );

  it.each([
    ['cut off', '+cut_after_chunks=4', {}, 'upstream_error'],
    ['silent', '+hang_after_chunks=4', { idleMs: 100 }, 'upstream_timeout'],
    ['endless', '+hang_after_chunks=4', { totalMs: 300 }, 'upstream_timeout'],
  ])('tells of a stream that is %s, and breaks it', async (_, faults, timeouts, code) => {
    const base = await start({ timeouts });
    const text = await readBroken(await ask(base, faults, { stream: true }));
    const events = text.split('\n\n').filter(Boolean);
    expect(events).toHaveLength(5);
    expect(events.at(-1)).toContain(`"code":"${code}"`);
    if (name === 'messages') expect(events.at(-1)).toMatch(/^event: error\ndata: \{"type":"error"/);
  });

  it('breaks an answer that is no stream without a word', async () => {
    const text = await readBroken(await ask(url, '+cut_after_chunks=1'));
    expect(text).not.toContain('upstream_error');
  });

  it('adds nothing to half an event', async () => {
    const half = 'data: {"half":';
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked';
    const { vendorUrl, stop } = await startOddVendor(
      `${head}\r\n\r\n${half.length.toString(16)}\r\n${half}\r\n`,
    );
    const answer = await post(await start({ vendorUrl }), name, key, dialect.body('x'));
    expect(await readBroken(answer)).toBe(half);
    await stop();
  });

  it.each([
    ['before the first byte', '+hang', 'in_progress'],
    ['in the middle of a stream', '+hang_after_chunks=3', undefined],
  ])('stops the vendor when the caller leaves %s', async (_, faults, until) => {
    const delays: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const tag = `leave-${name}-${faults}-${attempt}`;
      const abort = new AbortController();
      const answering = fetch(url + dialect.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key, ...dialect.headers },
        body: JSON.stringify(dialect.body(tag, { model: `sandbox-x${faults}`, stream: true })),
        signal: abort.signal,
      });
      answering.catch(() => undefined);
      if (until !== undefined) await house.sandbox.waitFor(tag, until);
      else await (await answering).body?.getReader().read();
      const leftAt = nowMs();
      abort.abort();
      const seen = await house.sandbox.waitFor(tag, 'aborted');
      delays.push((seen.aborted_at ?? Infinity) - leftAt);
    }
    // The best of five: a busy machine may hold any one of them up.
    expect(Math.min(...delays)).toBeLessThan(100);
  });

  it('says so where there is no credential for the vendor, and that asking again is no use', async () => {
    const answer = await post(await start({ hasVendors: false }), name, key, dialect.body('x'));
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(await outcome(answer)).toEqual([503, 'vendor_not_configured']);
  });
});

describe('the vendors’ own clients', () => {
  const chat = (faults: string) => ({
    model: `sandbox-chat${faults}`,
    messages: [{ role: 'user' as const, content: 'Hello.' }],
  });
  const message = (faults: string) => ({ ...chat(faults), max_tokens: 100 });
  const drain = async (stream: AsyncIterable<unknown>) => {
    for await (const chunk of stream) expect(chunk).toBeDefined();
  };

  it('throw on a stream that was cut, with our code', async () => {
    const openai = openaiClient(url, key, '/v1', 2).chat.completions.create({
      ...chat('+cut_after_chunks=3'),
      stream: true,
    });
    const openaiError = await openai.then(drain).catch((error: unknown) => error);
    expect(openaiError).toBeInstanceOf(OpenAIError);
    expect(openaiError).toMatchObject({ code: 'upstream_error', type: 'server_error' });

    const anthropic = anthropicClient(url, key, 2).messages.create({
      ...message('+cut_after_chunks=3'),
      stream: true,
    });
    const anthropicError = await anthropic.then(drain).catch((error: unknown) => error);
    expect(anthropicError).toBeInstanceOf(AnthropicError);
    expect(anthropicError).toMatchObject({ error: { code: 'upstream_error' } });
  });

  it('throw on an answer that was cut', async () => {
    const faults = '+cut_after_chunks=1';
    await expect(openaiClient(url, key).chat.completions.create(chat(faults))).rejects.toThrow();
    await expect(anthropicClient(url, key).messages.create(message(faults))).rejects.toThrow();
  });

  it('throw their rate limit error, and can read how long to wait', async () => {
    const faults = '+status=429+retry_after=3';
    for (const asking of [
      openaiClient(url, key).chat.completions.create(chat(faults)),
      anthropicClient(url, key).messages.create(message(faults)),
    ]) {
      const error = (await asking.then(undefined, (thrown: unknown) => thrown)) as OpenAIError;
      expect(error.status).toBe(429);
      expect(error.headers?.get('retry-after')).toBe('3');
    }
  });

  it('show our code and do not ask again where it is no use', async () => {
    const base = await start({ hasVendors: false });
    const before = house.logLines.length;
    const error = (await openaiClient(base, key, '/v1', 2)
      .chat.completions.create(chat(''))
      .then(undefined, (thrown: unknown) => thrown)) as OpenAIError;
    expect(error.headers?.get('x-gatehouse-code')).toBe('vendor_not_configured');
    expect(
      house.logLines.slice(before).filter((line) => line.includes('"status":503')),
    ).toHaveLength(1);
  });
});

it('logs who broke off an answer', async () => {
  const { path, body } = dialects.messages;
  const lineOf = async (tag: string) =>
    JSON.parse(
      house.logLines.find((line) => line.includes(tag) && line.includes('"outcome"')) ?? '{}',
    ) as object;
  const cut = body('x', { model: 'sandbox-x+cut_after_chunks=4', stream: true });
  await readBroken(await post(url, 'messages', key, cut, { 'x-request-id': 'cut-by-vendor' }));
  expect(await lineOf('cut-by-vendor')).toMatchObject({ status: 200, outcome: 'failed' });

  const abort = new AbortController();
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': key,
      'x-request-id': 'left-by-caller',
      ...dialects.messages.headers,
    },
    body: JSON.stringify(body('left', { model: 'sandbox-x+hang_after_chunks=4', stream: true })),
    signal: abort.signal,
  });
  expect(answer.status).toBe(200);
  abort.abort();
  await house.sandbox.waitFor('left', 'aborted');
  expect(await lineOf('left-by-caller')).toMatchObject({ status: 499, outcome: 'client_gone' });
});

it('holds the vendor back for a caller who does not read, and leaves one who never does', async () => {
  const base = await start({ timeouts: { idleMs: 200 } });
  const { path, body } = dialects.chat_completions;
  const tokens = 100_000;
  const req = request(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
  });
  req.on('error', () => undefined);
  req.on('response', () => undefined); // without a listener, Node would read it
  req.end(
    JSON.stringify(body('unread', { model: `sandbox-x+answer_tokens=${tokens}`, stream: true })),
  );
  const { chunks_sent } = await house.sandbox.waitFor('unread', 'aborted');
  expect(chunks_sent).toBeLessThan(tokens);
  req.destroy();
});

it('takes as many requests as it has connections, and frees them when callers leave', async () => {
  const base = await start({ connections: 1 });
  const { path, body } = dialects.chat_completions;
  const abort = new AbortController();
  const first = fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(body('only-one', { model: 'sandbox-x+hang' })),
    signal: abort.signal,
  });
  first.catch(() => undefined);
  await house.sandbox.waitFor('only-one', 'in_progress');
  const second = await post(base, 'chat_completions', key, body('x'));
  expect(second.headers.get('retry-after')).toBe('1');
  expect(await outcome(second)).toEqual([503, 'overloaded']);
  // The other vendor has connections of its own.
  expect((await post(base, 'messages', key, dialects.messages.body('x'))).status).toBe(200);
  abort.abort();
  await house.sandbox.waitFor('only-one', 'aborted');
  expect((await post(base, 'chat_completions', key, body('x'))).status).toBe(200);
});

it('takes no connection for a caller who left while the key was looked up', async () => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const base = await start({
    connections: 1,
    beforeLookup: () => {
      reached.resolve();
      return released.promise;
    },
  });
  const { path, body } = dialects.chat_completions;
  const abort = new AbortController();
  const leaving = fetch(base + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': key,
      'x-request-id': 'left-at-the-door',
    },
    body: JSON.stringify(body('x')),
    signal: abort.signal,
  });
  leaving.catch(() => undefined);
  await reached.promise;
  abort.abort();
  while (!house.logLines.some((line) => line.includes('left-at-the-door'))) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  released.resolve();
  expect((await post(base, 'chat_completions', key, body('x'))).status).toBe(200);
});

it('holds no more bytes of bodies than it may', async () => {
  const base = await start({ maxBufferedBytes: 1_000 });
  const body = (length: number) =>
    dialects.chat_completions.body('x', { padding: 'x'.repeat(length) });
  expect(await outcome(await post(base, 'chat_completions', key, body(1_000)))).toEqual([
    503,
    'overloaded',
  ]);
  for (let i = 0; i < 3; i++) {
    expect((await post(base, 'chat_completions', key, body(500))).status).toBe(200);
  }
});

it('logs no credential on any of these ways', () => {
  const all = house.logLines.join('');
  expect(all).toContain('upstream_credential_rejected');
  for (const secret of [key, house.vendorKey, 'sk-wrong']) expect(all).not.toContain(secret);
});
