import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorTable, type ErrorCode } from '@gatehouse/http';
import fc from 'fast-check';
import type { Answer } from './caller.ts';
import { openHouse, type OpenHouse } from './open-house.ts';

let open: OpenHouse;
let accessToken: string;
beforeAll(async () => {
  open = await openHouse();
  const { body } = await open.call('POST', '/api/v1/auth/signup', {
    headers: { apikey: open.house.devJson.publishable_key },
    body: { email: 'fuzz@example.com', password: 'a good password' },
  });
  accessToken = body.access_token;
}, 60_000);
afterAll(() => open.close(), 30_000);

/** A route, what opens it, and a body that it takes. */
interface Target {
  method: string;
  path: string;
  /** Where the group's document has it; the same path where not given. */
  documented?: string;
  good?: Record<string, unknown>;
  credential: 'publishable key' | 'access token' | 'API key';
}

const message = { role: 'user', content: 'hi' };
const targets: Target[] = [
  {
    method: 'POST',
    path: '/api/v1/auth/signup',
    credential: 'publishable key',
    good: { email: 'a@example.com', password: 'short', display_name: 'A', data: { a: [1] } },
  },
  {
    method: 'POST',
    path: '/api/v1/auth/token?grant_type=password',
    credential: 'publishable key',
    good: { email: 'nobody', password: 'a good password' },
  },
  {
    method: 'POST',
    path: '/api/v1/auth/token?grant_type=refresh_token',
    credential: 'publishable key',
    good: { refresh_token: 'gh_rt_x' },
  },
  { method: 'GET', path: '/api/v1/auth/settings', credential: 'publishable key' },
  { method: 'GET', path: '/api/v1/auth/.well-known/jwks.json', credential: 'publishable key' },
  { method: 'GET', path: '/api/v1/auth/user', credential: 'access token' },
  { method: 'POST', path: '/api/v1/auth/logout?scope=others', credential: 'access token' },
  { method: 'GET', path: '/api/user/projects', credential: 'API key' },
  {
    method: 'POST',
    path: '/api/user/projects',
    credential: 'API key',
    good: { name: 'x', auth: { allowed_origins: ['https://a.example'], password: {} } },
  },
  { method: 'GET', path: '/api/user/keys', credential: 'API key' },
  {
    method: 'POST',
    path: '/api/user/keys',
    credential: 'API key',
    good: { name: 'x', scopes: ['models'], expires_at: '2100-01-01T00:00:00Z' },
  },
  {
    method: 'DELETE',
    path: '/api/user/keys/key_nobody',
    documented: '/api/user/keys/{key}',
    credential: 'API key',
  },
  ...['/v1/chat/completions', '/compat-a/v1/chat/completions'].map((path) => ({
    method: 'POST',
    path,
    credential: 'API key' as const,
    good: { model: 'sandbox-chat', messages: [message] },
  })),
  {
    method: 'POST',
    path: '/compat-b/v1/messages',
    credential: 'API key',
    good: { model: 'sandbox-messages', max_tokens: 8, messages: [message] },
  },
];

interface Throw {
  headers: Record<string, string>;
  raw: string | Uint8Array<ArrayBuffer>;
}

const json = (value: unknown) => JSON.stringify(value) ?? '';
const nested = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

/** Bodies from anywhere, and good ones with something spoilt. */
const throwAt = ({ good = {} }: Target): fc.Arbitrary<Throw> => {
  const anyJson = fc.jsonValue({ maxDepth: 3 });
  const field = fc.constantFrom(...Object.keys(good), 'id', 'role', '__proto__', 'constructor');
  const spoilt = fc
    .tuple(field, anyJson)
    .map(([name, value]) =>
      json(Object.defineProperty({ ...good }, name, { value, enumerable: true })),
    );
  const shortened = field.map((name) => json({ ...good, [name]: undefined }));
  const doubled = fc
    .tuple(field, anyJson)
    .map(([name, value]) => json(good).replace('{', `{${json(name)}:${json(value)},`));
  const cut = fc.nat(60).map((length) => json(good).slice(0, length));
  const body = fc.oneof(
    spoilt,
    spoilt,
    shortened,
    doubled,
    cut,
    anyJson.map(json),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => new Uint8Array(bytes)),
    fc.integer({ min: 1, max: 3_000 }).map(nested),
    fc.constantFrom('', 'null', '[]', '{}', '"', '{"__proto__":{"x":1}}', '\ufeff{}'),
  );
  const type = fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', 'text/plain', 'application/json; charset=utf-16', '*/*'),
    },
  );
  return fc.record({ raw: body, type }).map(({ raw, type }) => ({
    raw,
    headers: type ? { 'content-type': type } : ({} as Record<string, string>),
  }));
};

const credentialOf = (target: Target): Record<string, string> => {
  const { publishable_key, api_key } = open.house.devJson;
  if (target.credential === 'publishable key') return { apikey: publishable_key };
  if (target.credential === 'access token') return { authorization: `Bearer ${accessToken}` };
  return { 'x-api-key': api_key, 'anthropic-version': '2023-06-01' };
};

/** What is wrong with an answer, or undefined. */
function faultOf(answer: Answer, documentedStatuses: string[]): string | undefined {
  const { status, body } = answer;
  if (status >= 500) return `a ${status}`;
  // A vendor's own refusal, passed through in the vendor's shape, is documented as the default.
  const isVendors = status >= 400 && typeof body?.error === 'object';
  const documented = isVendors ? 'default' : String(status);
  if (!documentedStatuses.includes(documented)) return `an undocumented ${status}`;
  if (status < 400 || isVendors) return undefined;
  if (errorTable[body.code as ErrorCode]?.[0] !== status) return `code ${body.code} with ${status}`;
  return undefined;
}

const runs = 20;
const bodiesPerRun = 50;

describe('whatever is thrown at it', () => {
  it.each(targets)(
    '$method $path answers in a documented form, a thousand times',
    async (target) => {
      const { body: document } = await open.call('GET', '/openapi.json');
      const path = target.documented ?? target.path.replace(/\?.*/, '');
      const operation = document.paths[path][target.method.toLowerCase()];
      const statuses = Object.keys(operation.responses);
      const hasBody = target.method === 'POST' || target.method === 'DELETE';
      const many = fc.array(throwAt(target), { minLength: bodiesPerRun, maxLength: bodiesPerRun });
      await fc.assert(
        fc.asyncProperty(many, async (throws) => {
          const faults = await Promise.all(
            throws.map(async ({ raw, headers }) => {
              const answer = await open.call(target.method, target.path, {
                headers: { ...headers, ...credentialOf(target) },
                ...(hasBody && { raw }),
              });
              const fault = faultOf(answer, statuses);
              return fault && `${fault} for ${String(raw).slice(0, 200)}: ${json(answer.body)}`;
            }),
          );
          expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
        }),
        { numRuns: runs, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true },
      );
    },
    90_000,
  );
});

describe('known bad input', () => {
  const signIn = '/api/v1/auth/token?grant_type=password';
  const good = json({ email: 'fuzz@example.com', password: 'a good password' });
  const jsonType = { 'content-type': 'application/json' };

  it.each([
    ['malformed JSON', signIn, '{"email":', jsonType, 400, 'invalid_body'],
    ['a wrong type', signIn, '{"email":1,"password":"x"}', jsonType, 400, 'validation_failed'],
    [
      'an array for a string',
      signIn,
      '{"email":["a"],"password":"x"}',
      jsonType,
      400,
      'validation_failed',
    ],
    ['__proto__', signIn, '{"__proto__":{"admin":1}}', jsonType, 400, 'invalid_body'],
    [
      'an unknown field',
      signIn,
      '{"email":"a@b.cc","password":"x","role":"admin"}',
      jsonType,
      400,
      'validation_failed',
    ],
    [
      'a body of 2 MB',
      signIn,
      json({ email: 'a'.repeat(2e6) }),
      jsonType,
      413,
      'request_too_large',
    ],
    [
      'an unknown grant',
      '/api/v1/auth/token?grant_type=magic',
      good,
      jsonType,
      400,
      'unsupported_grant_type',
    ],
    [
      'a wrong content type',
      signIn,
      good,
      { 'content-type': 'text/plain' },
      415,
      'unsupported_media_type',
    ],
    ['a key in the URL', `${signIn}&apikey=gh_pub_x`, good, jsonType, 400, 'secret_in_url'],
  ])('%s is refused', async (_why, path, raw, headers, status, code) => {
    const answer = await open.call('POST', path, {
      raw,
      headers: { ...headers, apikey: open.house.devJson.publishable_key },
    });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(typeof answer.body.error).toBe('string');
  });

  it('a missing apikey is refused', async () => {
    const answer = await open.call('POST', signIn, { raw: good, headers: jsonType });
    expect([answer.status, answer.body.code]).toEqual([401, 'invalid_publishable_key']);
  });
});

it('no log line of any service holds a secret that was used here, and none tells of a crash', () => {
  expect(open.leaks()).toEqual([]);
  expect(open.logs()).not.toMatch(/"code":"internal"|uncaughtException|unhandledRejection/);
});
