import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { chat, key, useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

const dialects = [
  ['/v1/chat/completions', (model: string) => chat('hello', model)],
  ['/v1/messages', (model: string) => ({ ...chat('hello', model), max_tokens: 100 })],
] as const;

describe.each(dialects)('faults in the model name, on %s', (path, ask) => {
  const post = (faults: string, more: object = {}) =>
    sandbox.post(path, { ...ask(`sandbox-chat${faults}`), ...more });

  it.each([401, 429, 500, 503, 529])('status=%i', async (status) => {
    const response = await post(`+status=${status}+retry_after=7`);

    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toHaveProperty('error.message');
  });

  it('cut_after_chunks breaks a stream off after so many events', async () => {
    const response = await post('+cut_after_chunks=2', { stream: true });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const read = async () => {
      for (;;) text += (await reader.read()).value;
    };

    await expect(read()).rejects.toThrow('terminated');
    expect(text.match(/^data: /gm)).toHaveLength(2);
  });

  it('cut_after_chunks=0 sends nothing at all', async () => {
    await expect(post('+cut_after_chunks=0')).rejects.toThrow('fetch failed');
  });

  it('cut_after_chunks cuts a body without a stream in its middle', async () => {
    const response = await post('+cut_after_chunks=1');

    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('error_after_chunks puts an error into the stream and ends it', async () => {
    const text = await (await post('+error_after_chunks=2', { stream: true })).text();
    const [last = ''] = text.trimEnd().split('\n\n').slice(-1);

    expect(JSON.parse(last.slice(last.indexOf('{')))).toHaveProperty('error.message');
  });

  it('malformed answers with JSON that breaks off', async () => {
    const whole = await (await post('+malformed')).text();
    const streamed = await (await post('+malformed', { stream: true })).text();
    const [, broken = ''] = streamed.split('\n\n');

    expect(() => JSON.parse(whole)).toThrow(SyntaxError);
    expect(() => JSON.parse(broken.slice(broken.indexOf('{')))).toThrow(SyntaxError);
  });

  it.each(['+hang', '+hang_after_chunks=1'])('%s leaves the client waiting', async (fault) => {
    const client = new AbortController();
    const answered = sandbox
      .post(path, { ...ask(`sandbox-chat${fault}`), stream: true }, { signal: client.signal })
      .then((response) => response.text());
    const [begun] = await sandbox.waitFor('outcome=in_progress');
    client.abort();

    await expect(answered).rejects.toThrow('aborted');
    expect(begun?.model).toBe(`sandbox-chat${fault}`);
    expect(await sandbox.waitFor('outcome=aborted')).toHaveLength(1);
  });

  it('delays take the time that they name', async () => {
    const faults = '+latency_ms=20+first_byte_delay_ms=20+chunk_delay_ms=10';
    await (await post(faults, { stream: true })).text();
    const [record] = await sandbox.waitFor('outcome=completed');

    // Timers may fire up to 1 ms early.
    expect(record!.first_byte_at! - record!.received_at).toBeGreaterThanOrEqual(38);
    expect(record!.finished_at! - record!.first_byte_at!).toBeGreaterThanOrEqual(
      9 * (record!.chunks_sent - 1),
    );
  });

  it('answer_tokens makes an answer of that length, echo_body_sha256 one of the hash', async () => {
    const text = await (await post('+answer_tokens=1000', { max_tokens: 2000 })).text();
    const body = JSON.stringify(ask('sandbox-chat+echo_body_sha256'));
    const echoed = await sandbox.post(path, body);

    expect(text).toMatch(/"(completion|output)_tokens":1000/);
    expect(await echoed.text()).toContain(`"${hash('sha256', body, 'hex')}"`);
    expect(echoed.headers.get('x-sandbox-body-sha256')).toBe(hash('sha256', body, 'hex'));
  });

  it.each(['+nonsense=1', '+status=200', '+hang=1', '+latency_ms=', '+__proto__=1'])(
    'refuses %s',
    async (fault) => {
      expect((await post(fault)).status).toBe(400);
    },
  );
});

describe('faults set by the control endpoint', () => {
  it('hit the next so many requests, which the official packages then repeat', async () => {
    await sandbox.setFaults({ status: 500, retry_after: 0, times: 1 });
    const completion = await sandbox.openai(key, 1).chat.completions.create(chat('hello'));
    await sandbox.setFaults({ status: 529, retry_after: 0, times: 1 });
    const message = await sandbox
      .anthropic(key, 1)
      .messages.create({ ...chat('hello'), max_tokens: 100 });
    const records = await sandbox.waitFor('count=4');

    expect(completion.choices[0]?.message.content).toBe('You said: hello');
    expect(message.content).toMatchObject([{ text: 'You said: hello' }]);
    expect(records.map(({ status }) => status)).toEqual([500, 200, 529, 200]);
  });

  it('hit only requests with their tag, and stay until they are taken back', async () => {
    const create = (user: string) =>
      sandbox
        .openai()
        .chat.completions.create({ ...chat('hello'), user })
        .then(
          () => 200,
          (error: { status: number }) => error.status,
        );
    await sandbox.setFaults({ tag: 'ann', status: 429 });
    const before = [await create('ann'), await create('ann'), await create('bob')];
    await sandbox.fetch('/_sandbox/faults?tag=ann', { method: 'DELETE' });

    expect(before).toEqual([429, 429, 200]);
    expect(await create('ann')).toBe(200);
  });

  it('give way to those in the model name', async () => {
    await sandbox.setFaults({ status: 429 });
    const response = await sandbox.post(
      '/v1/chat/completions',
      chat('', 'sandbox-chat+status=503'),
    );
    expect(response.status).toBe(503);
  });

  it.each(['hello', '[]', '{"nonsense":1}', '{"status":"429"}', '{"times":0}', '{"tag":1}'])(
    'refuses %s',
    async (body) => {
      const response = await sandbox.fetch('/_sandbox/faults', { method: 'PUT', body });
      expect(response.status).toBe(400);
      expect(await response.json()).toHaveProperty('error');
    },
  );
});

describe('what the official packages make of faults', () => {
  const model = 'sandbox-chat+error_after_chunks=2';

  it('throw on an error inside a stream: openai', async () => {
    const stream = sandbox.openai().chat.completions.stream(chat('hello', model));
    await expect(stream.done()).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  it('throw on an error inside a stream: anthropic', async () => {
    const stream = sandbox
      .anthropic()
      .messages.stream({ ...chat('hello', model), max_tokens: 100 });
    await expect(stream.done()).rejects.toBeInstanceOf(Anthropic.APIError);
  });
});
