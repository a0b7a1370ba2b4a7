import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { chat, key, useSandbox, type Shown } from './sandbox.ts';

const sandbox = useSandbox();

const fingerprint = (secret: string) => hash('sha256', secret, 'hex').slice(0, 12);
/** Long enough that nobody waits for its end. */
const slow = 'sandbox-chat+answer_tokens=1000+chunk_delay_ms=50';

describe('the record of requests', () => {
  it('has the bytes, the times and the end of a request', async () => {
    const body = JSON.stringify({ ...chat('hello'), user: 'ann', seed: 1.0 });
    await (await sandbox.post('/v1/chat/completions', body)).text();
    const [record] = await sandbox.waitFor('tag=ann');

    expect(record).toMatchObject({
      dialect: 'openai',
      method: 'POST',
      path: '/v1/chat/completions',
      model: 'sandbox-chat',
      tag: 'ann',
      is_stream: false,
      body_sha256: hash('sha256', body, 'hex'),
      body_bytes: Buffer.byteLength(body),
      status: 200,
      aborted_at: null,
      outcome: 'completed',
    });
    expect(record!.received_at).toBeLessThanOrEqual(record!.first_byte_at!);
    expect(record!.first_byte_at!).toBeLessThanOrEqual(record!.finished_at!);
    expect(Math.abs(Date.now() - record!.received_at)).toBeLessThan(5000);
  });

  it('shows credentials only as what they can be compared by', async () => {
    const secrets = { 'x-api-key': 'sk-other-secret', cookie: 'session=secret' };
    const headers = { ...secrets, 'x-plain': 'plain' };
    await sandbox.post('/v1/chat/completions', { ...chat('hello'), user: 'ann' }, { headers });
    const shown = await (await sandbox.fetch('/_sandbox/requests?tag=ann')).text();
    const { requests } = JSON.parse(shown) as { requests: Shown[] };

    expect(requests[0]).toMatchObject({
      credential_sha256: fingerprint(key),
      credential_matched: true,
      headers: {
        authorization: `Bearer sha256:${fingerprint(key)}`,
        'x-api-key': `sha256:${fingerprint('sk-other-secret')}`,
        'x-plain': 'plain',
      },
    });
    expect(shown).not.toContain(key);
    expect(shown).not.toContain('secret"');
  });

  it('has refused requests too, by their tag', async () => {
    const headers = { authorization: 'Bearer sk-wrong' };
    await sandbox.post('/v1/chat/completions', { ...chat('hello'), user: 'ann' }, { headers });

    expect(await sandbox.waitFor('tag=ann')).toMatchObject([
      {
        outcome: 'failed',
        status: 401,
        credential_matched: false,
        credential_sha256: fingerprint('sk-wrong'),
      },
    ]);
  });

  it('has when a client of the chat completions left', async () => {
    const stream = await sandbox
      .openai()
      .chat.completions.create({ ...chat('hello', slow), user: 'ann', stream: true });
    await stream[Symbol.asyncIterator]().next();
    stream.controller.abort();
    const leftAt = performance.timeOrigin + performance.now();
    const [record] = await sandbox.waitFor('tag=ann&outcome=aborted');

    expect(record!.finished_at).toBeNull();
    expect(record!.chunks_sent).toBeLessThan(1000);
    expect(Math.abs(record!.aborted_at! - leftAt)).toBeLessThan(100);
  });

  it('has when a client of the messages left', async () => {
    const stream = sandbox.anthropic().messages.stream({
      ...chat('hello', slow),
      max_tokens: 1000,
      metadata: { user_id: 'ann' },
    });
    stream.once('text', () => stream.abort());

    await expect(stream.done()).rejects.toThrow('aborted');
    expect(await sandbox.waitFor('tag=ann&outcome=aborted')).toMatchObject([
      { dialect: 'anthropic', outcome: 'aborted', status: 200 },
    ]);
  });

  it('tells a cut answer from an aborted one', async () => {
    const body = { ...chat('hello', 'sandbox-chat+cut_after_chunks=2'), stream: true };
    const response = await sandbox.post('/v1/chat/completions', body);

    await expect(response.text()).rejects.toThrow('terminated');
    expect(await sandbox.waitFor('outcome=cut')).toMatchObject([{ chunks_sent: 2 }]);
  });

  it('gives up waiting after timeout_ms', async () => {
    const response = await sandbox.fetch('/_sandbox/requests/wait?tag=nobody&timeout_ms=10');

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ requests: [] });
  });

  it('keeps the last 1000, in their order', async () => {
    for (let round = 0; round < 101; round += 1) {
      const posts = Array.from({ length: 10 }, (_, index) =>
        sandbox.post('/v1/chat/completions', { ...chat('hi'), user: `${round * 10 + index}` }),
      );
      for (const response of await Promise.all(posts)) await response.text();
    }
    const response = await sandbox.fetch('/_sandbox/requests');
    const { requests } = (await response.json()) as { requests: Shown[] };
    const times = requests.map(({ received_at: at }) => at);

    expect(requests).toHaveLength(1000);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(requests.some(({ tag }) => tag === '0')).toBe(false);
    expect(requests.some(({ tag }) => tag === '1009')).toBe(true);
  });
});

describe('other paths', () => {
  it('is ready', async () => {
    expect((await sandbox.fetch('/health/ready')).status).toBe(200);
  });

  it.each(['/v1/models', '/v1/chat/completions', '/v1/embeddings'])(
    'GET %s needs the credential',
    async (path) => {
      expect((await sandbox.fetch(path)).status).toBe(401);
    },
  );

  it('answers 404 in the shape of the vendor', async () => {
    const response = await sandbox.post(
      '/v1/embeddings',
      {},
      {
        headers: { 'anthropic-version': '2023-06-01' },
      },
    );
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ type: 'error' });
  });
});
