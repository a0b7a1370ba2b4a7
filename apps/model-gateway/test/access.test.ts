import { request } from 'node:http';
import { createKey } from '@gatehouse/credentials';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dialectNames, dialects, outcome, post, startHouse } from './harness.ts';

let house: Awaited<ReturnType<typeof startHouse>>;
let url: string;
let key: string;

beforeAll(async () => {
  house = await startHouse();
  ({ url } = await house.startGateway());
  ({ key } = await house.createKey());
});
afterAll(() => house.stop());

describe.each(dialectNames)('%s', (name) => {
  const dialect = dialects[name];
  const withHeaders = (headers: Record<string, string>) =>
    fetch(url + dialect.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...dialect.headers, ...headers },
      body: JSON.stringify(dialect.body('x')),
    });

  it('takes the key from each header that a vendor’s client sends it in', async () => {
    for (const headers of [
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { 'x-goog-api-key': key },
      { 'x-api-key': key, authorization: `Bearer ${key}` },
    ]) {
      expect((await withHeaders(headers as Record<string, string>)).status).toBe(200);
    }
  });

  it('answers every bad key alike, and does not ask the vendor', async () => {
    const hour = 3_600_000;
    const expired = await house.createKey({ expiresAt: new Date(Date.now() - hour) });
    const revoked = await house.createKey({ revokedAt: new Date(Date.now() - hour) });
    const asked = await house.sandbox.count();
    const bodies = await Promise.all(
      [
        {},
        { 'x-api-key': '' },
        { 'x-api-key': 'nonsense' },
        { 'x-api-key': createKey('live') },
        { 'x-api-key': createKey('pub') },
        { 'x-api-key': key.slice(0, -1) },
        { 'x-api-key': expired.key },
        { 'x-api-key': revoked.key },
        { authorization: `Basic ${key}` },
      ].map(async (headers) => {
        const answer = await withHeaders(headers as Record<string, string>);
        const text = await answer.clone().text();
        expect(await outcome(answer)).toEqual([401, 'invalid_api_key']);
        return text;
      }),
    );
    expect(new Set(bodies).size).toBe(1);
    expect(await house.sandbox.count()).toBe(asked);
  });

  it('refuses two different keys, a key without the scope, and a key in the URL', async () => {
    const { key: other } = await house.createKey({ scopes: ['memory', 'account'] });
    expect(
      await outcome(await withHeaders({ 'x-api-key': key, authorization: `Bearer ${other}` })),
    ).toEqual([400, 'conflicting_credentials']);
    expect(await outcome(await withHeaders({ 'x-api-key': other }))).toEqual([
      403,
      'insufficient_scope',
    ]);
    const inUrl = await fetch(`${url}${dialect.path}?key=${key}`, { method: 'POST' });
    expect(await outcome(inUrl)).toEqual([400, 'secret_in_url']);
  });

  it('remembers a key, and forgets it at once when it is revoked', async () => {
    const { id, key: doomed } = await house.createKey();
    const ask = () => post(url, name, doomed, dialect.body('x'));
    expect((await ask()).status).toBe(200);
    await house.admin.apiKey.update({ where: { id }, data: { revokedAt: new Date() } });
    // Nobody was told: that it still opens shows that no request asks the database.
    expect((await ask()).status).toBe(200);
    await house.revokeKey(id);
    expect(await outcome(await ask())).toEqual([401, 'invalid_api_key']);
  });

  it.each([
    ['no body', '', 400, 'invalid_body'],
    ['malformed JSON', '{"model":', 400, 'invalid_body'],
    ['an array', '[]', 400, 'validation_failed'],
    ['null', 'null', 400, 'validation_failed'],
    ['no model', '{"messages":[]}', 400, 'validation_failed'],
    ['an empty model', '{"model":""}', 400, 'validation_failed'],
    ['a model that is no string', '{"model":["gpt"]}', 400, 'validation_failed'],
    ['bytes that are no UTF-8', Buffer.from('{"model":"\xff"}', 'latin1'), 400, 'invalid_body'],
    [
      'very many values',
      `{"model":"sandbox-x","messages":[${'{},'.repeat(600_000)}0]}`,
      413,
      'request_too_large',
    ],
  ])('refuses %s', async (_, body, status, code) => {
    expect(await outcome(await post(url, name, key, body))).toEqual([status, code]);
  });

  it('does not mistake what stands in a string for values', async () => {
    const content = '"[{,\\'.repeat(300_000);
    const body = dialect.body('strings', { messages: [{ role: 'user', content }] });
    expect((await post(url, name, key, body)).status).toBe(200);
  });

  it('refuses bodies that are not JSON, and compressed ones', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'multipart/form-data; boundary=x' },
      { 'content-type': 'application/json; charset=latin1' },
      { 'content-encoding': 'gzip' },
    ]) {
      const answer = await post(url, name, key, '{}', headers as Record<string, string>);
      expect(await outcome(answer)).toEqual([415, 'unsupported_media_type']);
    }
  });

  it.each(['with a length', 'in chunks'])(
    'refuses a body that is too large, sent %s',
    async (how) => {
      const size = 32 * 1024 * 1024 + 1;
      const status = await new Promise((resolve, reject) => {
        const req = request(url + dialect.path, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-api-key': key,
            ...dialect.headers,
            ...(how === 'with a length' && { 'content-length': size }),
          },
        });
        req.on('error', reject);
        req.on('response', (res) => {
          resolve([res.statusCode, res.headers['x-gatehouse-code']]);
          res.destroy();
        });
        req.end(Buffer.alloc(size, 32));
      });
      expect(status).toEqual([413, 'request_too_large']);
    },
  );

  it('answers a thousand odd bodies, each with a documented error', async () => {
    const asked = fc.oneof(
      fc.json().map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record({ model: fc.string(), stream: fc.json(), messages: fc.jsonValue() })
        .map((body) => Buffer.from(JSON.stringify(body))),
    );
    await fc.assert(
      fc.asyncProperty(asked, async (body) => {
        const answer = await post(url, name, key, new Uint8Array(body));
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        await answer.arrayBuffer();
      }),
      { numRuns: 1_000 },
    );
  });
});

it('requires the version header on the messages path, and passes its value on', async () => {
  const { path, body } = dialects.messages;
  const ask = (headers: Record<string, string>) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
      body: JSON.stringify(body('version')),
    });
  expect(await outcome(await ask({}))).toEqual([400, 'version_header_required']);
  expect((await ask({ 'anthropic-version': '2099-01-01' })).status).toBe(200);
  const { headers } = await house.sandbox.waitFor('version');
  expect(headers['anthropic-version']).toBe('2099-01-01');
});

describe('the other published paths', () => {
  it.each([
    '/v1beta/models/gemini-x:generateContent',
    '/v1beta/models/my:odd:streamGenerateContent?alt=sse',
    '/v1beta/models/veo-x:predictLongRunning',
    '/compat-a/v1/images/generations',
    '/compat-a/v1/images/edits',
    '/compat-c/v1/chat/completions',
    '/compat-d/v1/tts',
    '/v1/images/generations',
    '/v1/images/edits',
    '/open-source/v1/chat/completions',
  ])('%s says that it is not built yet', async (path) => {
    const answer = await fetch(url + path, { method: 'POST' });
    expect(await outcome(answer)).toEqual([501, 'not_implemented']);
  });

  it('tells a Google client which version to name', async () => {
    const answer = await fetch(`${url}/v1/models/gemini-x:generateContent`, { method: 'POST' });
    expect(await answer.clone().text()).toContain("apiVersion: 'v1beta'");
    expect(await outcome(answer)).toEqual([404, 'not_found']);
  });

  it('answers any other path and method in the error body', async () => {
    expect(await outcome(await fetch(`${url}/v1/nothing`))).toEqual([404, 'not_found']);
    const answer = await fetch(`${url}/v1/chat/completions`);
    expect(answer.headers.get('allow')).toBe('POST');
    expect(await outcome(answer)).toEqual([405, 'method_not_allowed']);
  });

  it('describes every path, each operation id once', async () => {
    const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
      paths: Record<string, { post: { operationId: string; responses: object } }>;
    };
    expect(Object.keys(document.paths)).toHaveLength(13);
    expect(document.paths).toHaveProperty(['/v1beta/models/{model}:generateContent', 'post']);
    const { post: operation } = document.paths['/compat-b/v1/messages'] ?? {};
    expect(operation).toMatchObject({
      requestBody: { content: { 'application/json': { schema: expect.anything() } } },
      responses: {
        200: { content: { 'application/json': {}, 'text/event-stream': {} } },
        503: { description: expect.stringContaining('vendor_not_configured') },
      },
    });
    const ids = Object.values(document.paths).map(({ post: { operationId } }) => operationId);
    expect(new Set(ids).size).toBe(13);
  });
});
