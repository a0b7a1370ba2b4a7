import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { AuthClient } from '@supabase/auth-js';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import OpenAI from 'openai';
import { outcome } from './caller.ts';
import { openHouse, type OpenHouse } from './open-house.ts';

let open: OpenHouse;
let baseUrl: string;
let apikey: string;
beforeAll(async () => {
  open = await openHouse();
  baseUrl = open.house.devJson.base_url;
  apikey = open.house.devJson.publishable_key;
}, 60_000);
afterAll(() => open.close(), 30_000);

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const auth = (path: string, body: unknown) =>
  open.call('POST', `/api/v1/auth${path}`, { headers: { apikey }, body });
const newUser = async () => {
  const email = `${randomUUID()}@example.com`;
  const password = `a good password ${randomUUID()}`;
  return { email, password, session: (await auth('/signup', { email, password })).body };
};

describe('the door', () => {
  it('is ready when all groups serve', async () => {
    const { status, body } = await open.call('GET', '/health/ready');
    expect(status).toBe(200);
    expect(body.services).toEqual({
      auth: 'ready',
      'model-gateway': 'ready',
      memory: 'ready',
      registry: 'ready',
      account: 'ready',
    });
  });

  it('answers in one form where there is nothing', async () => {
    expect(outcome(await open.call('GET', '/nowhere'))).toEqual([404, 'not_found']);
  });

  it('passes a request id on to the service and back', async () => {
    const headers = { 'X-Request-Id': `trace-${randomUUID()}` };
    const answer = await open.call('GET', '/api/v1/auth/settings', { headers });
    expect(answer.headers.get('x-request-id')).toBe(headers['X-Request-Id']);
    // The door and the service each log the end of the request, after it.
    const linesWithIt = () => open.logs().split(headers['X-Request-Id']).length - 1;
    while (linesWithIt() < 2) await new Promise(setImmediate);
  });

  it.each([
    ['POST', '/api/v1/memory/capture'],
    ['GET', '/api/v1/services'],
    ['GET', '/api/v1/agents/7'],
    ['POST', '/api/v1/auth/recover'],
    ['GET', '/api/user/model-vendors'],
    ['POST', '/compat-d/v1/tts'],
    ['POST', '/v1beta/models/gemini-pro:generateContent'],
  ])('says of %s %s that it is not built yet', async (method, path) => {
    expect(outcome(await open.call(method, path))).toEqual([501, 'not_implemented']);
  });
});

describe('the first five minutes', () => {
  it('lead from sign-up over sign-in and refresh to the user and out again', async () => {
    const { email, password, session } = await newUser();
    expect(session).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { email } });
    const signedIn = (await auth('/token?grant_type=password', { email, password })).body;
    const { refresh_token } = signedIn;
    const refreshed = (await auth('/token?grant_type=refresh_token', { refresh_token })).body;
    expect(refreshed.session.id).toBe(signedIn.session.id);
    const headers = bearer(refreshed.access_token);
    expect((await open.call('GET', '/api/v1/auth/user', { headers })).body.email).toBe(email);
    expect((await open.call('POST', '/api/v1/auth/logout', { headers })).status).toBe(204);
    expect(outcome(await open.call('GET', '/api/v1/auth/user', { headers }))).toEqual([
      401,
      'session_not_found',
    ]);
  });

  it("let an application's own backend verify the access token", async () => {
    const { session } = await newUser();
    const url = new URL('/api/v1/auth/.well-known/jwks.json', baseUrl);
    const { payload } = await jwtVerify(
      session.access_token,
      createRemoteJWKSet(url, { headers: { apikey } }),
      {
        algorithms: ['RS256'],
        issuer: `service-project:${open.house.devJson.project_id}`,
        audience: 'service-project-auth',
        requiredClaims: ['sub', 'sessionId', 'email', 'projectId', 'tokenUse', 'exp', 'iat'],
      },
    );
    expect(payload.sub).toBe(session.user.id);
  });

  it('work in a client package of the field, npm @supabase/auth-js', async () => {
    const client = new AuthClient({
      url: `${baseUrl}/api/v1/auth`,
      headers: { apikey },
      autoRefreshToken: false,
      persistSession: false,
    });
    const email = `${randomUUID()}@example.com`;
    const password = 'a good password';
    const signedUp = await client.signUp({ email, password, options: { data: { plan: 'pro' } } });
    expect(signedUp.error).toBeNull();
    expect(signedUp.data.user?.user_metadata).toEqual({ plan: 'pro' });
    const signedIn = await client.signInWithPassword({ email, password });
    expect(signedIn.data.session?.user.email).toBe(email);
    expect((await client.refreshSession()).error).toBeNull();
    expect((await client.getUser()).data.user?.email).toBe(email);
    expect((await client.signOut()).error).toBeNull();
    const wrong = await client.signInWithPassword({ email, password: 'wrong password' });
    expect([wrong.error?.status, wrong.error?.code]).toEqual([401, 'invalid_credentials']);
  });
});

describe('the official OpenAI client', () => {
  const messages = [{ role: 'user' as const, content: 'Say hello to the gatehouse.' }];

  it.each(['/v1', '/compat-a/v1'])('completes a chat below %s, streaming and not', async (path) => {
    const { api_key, models } = open.house.devJson;
    const client = new OpenAI({ apiKey: api_key, baseURL: baseUrl + path });
    const request = { model: models.chat_completions, messages };
    const whole = await client.chat.completions.create(request);
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
    let streamed = '';
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      streamed += chunk.choices[0]?.delta.content ?? '';
    }
    expect(streamed).toBe(whole.choices[0]?.message.content);
    expect(streamed.length).toBeGreaterThan(0);
  });

  it('is told of a wrong key as of one', async () => {
    const client = new OpenAI({ apiKey: 'sk-wrong', baseURL: `${baseUrl}/v1` });
    const request = client.chat.completions.create({ model: 'sandbox-chat', messages });
    const error = await request.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('x-gatehouse-code')).toBe(
      'invalid_api_key',
    );
  });
});

describe('the official Anthropic client', () => {
  it('gets a message, streaming and not', async () => {
    const { api_key, models } = open.house.devJson;
    const client = new Anthropic({ apiKey: api_key, baseURL: `${baseUrl}/compat-b` });
    const request = {
      model: models.messages,
      max_tokens: 64,
      messages: [{ role: 'user' as const, content: 'Say hello to the gatehouse.' }],
    };
    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    expect(streamed.content).toEqual(whole.content);
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(whole.content[0]?.type).toBe('text');
  });
});

describe('an account', () => {
  it('manages its projects and keys with a console token, and a deleted key opens nothing', async () => {
    const { account_email, account_password, models } = open.house.devJson;
    const headers = { apikey: open.consolePublishableKey };
    const owner = await open.call('POST', '/api/v1/auth/token?grant_type=password', {
      headers,
      body: { email: account_email, password: account_password },
    });
    const asOwner = { headers: bearer(owner.body.access_token) };
    const projects = await open.call('GET', '/api/user/projects', asOwner);
    expect(projects.body.data[0].id).toBe(open.house.devJson.project_id);
    for (let round = 0; round < 10; round++) {
      const key = await open.call('POST', '/api/user/keys', { ...asOwner, body: { name: 'e2e' } });
      const complete = () =>
        open.call('POST', '/v1/chat/completions', {
          headers: { 'x-api-key': key.body.key },
          body: { model: models.chat_completions, messages: [{ role: 'user', content: 'hi' }] },
        });
      expect((await complete()).status).toBe(200);
      const removal = await open.call('DELETE', `/api/user/keys/${key.body.id}`, asOwner);
      expect(removal.status).toBe(204);
      expect(outcome(await complete())).toEqual([401, 'invalid_api_key']);
    }
  });

  it('is not opened by the user of a project', async () => {
    const { session } = await newUser();
    const answer = await open.call('GET', '/api/user/projects', {
      headers: bearer(session.access_token),
    });
    expect(outcome(answer)).toEqual([401, 'access_token_invalid']);
  });
});

it('no log line of any service holds a secret that was used here', () => {
  expect(open.secrets.size).toBeGreaterThan(30);
  expect(open.logs()).toContain('/api/v1/auth/signup');
  expect(open.leaks()).toEqual([]);
});
