import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { openHouse, type OpenHouse } from './open-house.ts';

let open: OpenHouse;
let apikey: string;
beforeAll(async () => {
  open = await openHouse();
  apikey = open.house.devJson.publishable_key;
}, 60_000);
afterAll(() => open.close(), 30_000);

const password = 'a good password';
const auth = (path: string, body: unknown) =>
  open.call('POST', `/api/v1/auth${path}`, { headers: { apikey }, body });
const signUp = async () =>
  (await auth('/signup', { email: `${randomUUID()}@example.com`, password })).body;
const userOf = (accessToken: string) =>
  open.call('GET', '/api/v1/auth/user', { headers: { Authorization: `Bearer ${accessToken}` } });

describe('one refresh token used fifty times in parallel', () => {
  it('has one successor', async () => {
    const { refresh_token } = await signUp();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => auth('/token?grant_type=refresh_token', { refresh_token })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.session.id)).size).toBe(1);
  });
});

describe('two hundred sign-ins in parallel', () => {
  it('are served as far as the queue goes, the rest told when to come back, and nobody else waits', async () => {
    const { user, refresh_token, access_token } = await signUp();
    let signInsAnswered = 0;
    const flood = Array.from({ length: 200 }, async () => {
      const answer = await auth('/token?grant_type=password', { email: user.email, password });
      if (answer.status === 200) signInsAnswered++;
      return answer;
    });
    const others = [
      await userOf(access_token),
      await auth('/token?grant_type=refresh_token', { refresh_token }),
      await open.call('GET', '/api/v1/auth/.well-known/jwks.json', { headers: { apikey } }),
      await userOf(access_token),
    ];
    // Four calls, one after the other, went past a queue of sixty-four hashes.
    const answeredMeanwhile = signInsAnswered;
    const answers = await Promise.all(flood);
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answeredMeanwhile).toBeLessThan(signInsAnswered);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(signInsAnswered).toBeGreaterThanOrEqual(65);
    expect(refused.length).toBe(200 - signInsAnswered);
    for (const { status, body, headers } of refused) {
      expect([status, body.code]).toEqual([503, 'overloaded']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
  });
});

describe('a client that hangs up in mid-stream', () => {
  it('stops the upstream request within a tenth of a second, as the vendor itself saw it', async () => {
    const { api_key, base_url } = open.house.devJson;
    const client = new OpenAI({ apiKey: api_key, baseURL: `${base_url}/v1`, maxRetries: 0 });
    const vendorUrl = open.house.services['sandbox-vendor']?.url;
    const delaysMs: number[] = [];
    for (let round = 0; round < 5; round++) {
      const tag = randomUUID();
      const stream = await client.chat.completions.create({
        model: 'sandbox-chat+chunk_delay_ms=50+answer_tokens=1000',
        messages: [{ role: 'user', content: 'Tell me something long.' }],
        user: tag,
        stream: true,
      });
      await stream[Symbol.asyncIterator]().next();
      const hungUpAt = performance.timeOrigin + performance.now();
      stream.controller.abort();
      const seen = await fetch(`${vendorUrl}/_sandbox/requests/wait?tag=${tag}&outcome=aborted`);
      const { requests } = (await seen.json()) as { requests: { aborted_at: number }[] };
      delaysMs.push((requests[0]?.aborted_at ?? Infinity) - hungUpAt);
    }
    // The middle one of five: a machine that is busy with other tests may hold one up.
    expect(delaysMs.toSorted((a, b) => a - b)[2]).toBeLessThan(100);
  });
});

it('no log line of any service holds a secret that was used here', () => {
  expect(open.leaks()).toEqual([]);
});
