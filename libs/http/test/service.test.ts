import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { z } from 'zod';
import {
  ApiError,
  createHealth,
  createLogger,
  createMetrics,
  createService,
  plannedRoute,
  route,
} from '../src/index.ts';

const lines: string[] = [];
const log = createLogger('test', { destination: { write: (line) => void lines.push(line) } });
const health = createHealth();

const createThing = route({
  method: 'post',
  path: '/things/:id',
  operation: 'createThing',
  summary: 'Make a thing.',
  params: z.object({ id: z.string().max(8) }),
  query: z.object({ mode: z.enum(['fast', 'slow']).default('fast') }),
  body: z.strictObject({ name: z.string(), data: z.record(z.string(), z.json()).optional() }),
  responses: {
    201: { description: 'Made.', body: z.object({ id: z.string(), mode: z.string() }) },
  },
  errors: ['user_already_exists'],
  handle: ({ params, query, body }) => {
    if (body.name === 'taken') throw new ApiError('user_already_exists');
    if (body.name === 'broken') throw new Error('password=hunter2 gh_live_abc eyJa.eyJb.c');
    return { status: 201, body: { id: params.id, mode: query.mode } };
  },
});

const app = createService({
  title: 'Test',
  prefix: '/api/test',
  routes: [createThing, plannedRoute('get', '/later', 'later')],
  log,
  metrics: createMetrics('test'),
  health,
});
const server = app.listen(0);
const agent = supertest(server);

beforeAll(() => void (lines.length = 0));
afterAll(() => void server.close());

const post = (body: string | object, type = 'application/json') =>
  agent.post('/api/test/things/t1').set('Content-Type', type).send(body);

describe('a route', () => {
  it('answers in the form of its schema, uncached, with a request id', async () => {
    const answer = await post({ name: 'x' }).set('X-Request-Id', 'caller-chose-this');
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id: 't1', mode: 'fast' });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-request-id': 'caller-chose-this',
      'x-content-type-options': 'nosniff',
    });
  });

  it('makes its own request id where the given one could forge a log line', async () => {
    const answer = await post({ name: 'x' }).set('X-Request-Id', 'a b c d e f g h');
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('bad input', () => {
  const cases: [why: string, body: string, status: number, code: string][] = [
    ['malformed JSON', '{"name":', 400, 'invalid_body'],
    ['an empty body', '', 400, 'invalid_body'],
    ['a key named twice', '{"name":"a","name":"b"}', 400, 'invalid_body'],
    ['a __proto__ key', '{"name":"a","__proto__":{"x":1}}', 400, 'invalid_body'],
    ['a deep __proto__ key', '{"name":"a","data":{"b":{"__proto__":1}}}', 400, 'invalid_body'],
    ['a NUL character', '{"name":"a\\u0000"}', 400, 'invalid_body'],
    ['half a surrogate pair', '{"name":"\\ud800"}', 400, 'invalid_body'],
    ['a number that overflows', '{"name":"a","data":{"n":1e999}}', 400, 'invalid_body'],
    [
      'deep nesting',
      `{"name":"a","data":{"b":${'['.repeat(5e3)}${']'.repeat(5e3)}}}`,
      400,
      'invalid_body',
    ],
    ['an array for an object', '[]', 400, 'validation_failed'],
    ['an array for a string', '{"name":["a"]}', 400, 'validation_failed'],
    ['an unknown field', '{"name":"a","role":"admin"}', 400, 'validation_failed'],
    [
      'a body over the limit',
      JSON.stringify({ name: 'a'.repeat(70_000) }),
      413,
      'request_too_large',
    ],
  ];
  it.each(cases)('%s is refused', async (_why, body, status, code) => {
    const answer = await post(body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(Object.keys(answer.body)).toEqual(['error', 'code']);
  });

  it('invalid UTF-8 is refused', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const answer = await agent
      .post('/api/test/things/t1')
      .set('Content-Type', 'application/json')
      .serialize((value: unknown) => value as string)
      .send(bytes);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_body']);
  });

  it('names the unknown field and quotes no value', async () => {
    expect((await post({ name: 'a', role: 'hunter2' })).body.error).toBe(
      'the body: the field "role" is not known',
    );
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
    'content type %s is refused',
    async (type) => {
      const answer = await post('{"name":"a"}', type);
      expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('a parameter given twice is refused', async () => {
    const answer = await agent.post('/api/test/things/t1?mode=fast&mode=slow').send({ name: 'a' });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  });

  it('a malformed percent escape in the path is refused', async () => {
    const answer = await agent.post('/api/test/things/%ff').send({ name: 'a' });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  });

  it.each(['key', 'apikey', 'access_token'])('a credential as ?%s= is refused', async (name) => {
    const answer = await agent.get(`/api/test/later?${name}=gh_live_secret`);
    expect([answer.status, answer.body.code]).toEqual([400, 'secret_in_url']);
  });
});

describe('what is not there', () => {
  it('an unknown path is 404', async () => {
    const answer = await agent.get('/api/test/nothing');
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });

  it('another method on a known path is 405 with Allow', async () => {
    const answer = await agent.delete('/api/test/things/t1');
    expect([answer.status, answer.body.code]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers['allow']).toBe('POST');
  });

  it('a planned operation is 501', async () => {
    const answer = await agent.get('/api/test/later');
    expect([answer.status, answer.body.code]).toEqual([501, 'not_implemented']);
  });
});

describe('errors', () => {
  it('a thrown code is rendered as the error body', async () => {
    const answer = await post({ name: 'taken' });
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      error: 'There is already a user with this email address.',
      code: 'user_already_exists',
    });
  });

  it('an unknown failure tells the caller nothing but the request id, and the log the cause', async () => {
    const answer = await post({ name: 'broken' });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      error: 'Something went wrong on our side.',
      code: 'internal',
      request_id: answer.headers['x-request-id'],
    });
    const logged = lines.find((line) => line.includes('"level":"error"')) ?? '';
    expect(logged).toContain('password=hunter2 [redacted] [redacted]');
  });
});

describe('health', () => {
  it('is live always, and ready only while its checks pass and nobody asked it to stop', async () => {
    expect((await agent.get('/health/live')).status).toBe(200);
    expect((await agent.get('/health/ready')).body).toEqual({ status: 'ready', checks: {} });
    health.checks['database'] = () => Promise.reject(new Error('down'));
    const answer = await agent.get('/health/ready');
    expect([answer.status, answer.body]).toEqual([
      503,
      { status: 'not_ready', checks: { database: 'failed' } },
    ]);
    delete health.checks['database'];
    health.isDraining = true;
    expect((await agent.get('/health/ready')).body.status).toBe('draining');
    health.isDraining = false;
  });
});

describe('the OpenAPI document', () => {
  it('comes from the same object that validates', async () => {
    const { body } = await agent.get('/api/test/openapi.json');
    const operation = body.paths['/api/test/things/{id}'].post;
    expect(operation.requestBody.content['application/json'].schema).toMatchObject({
      type: 'object',
      required: ['name'],
      additionalProperties: false,
    });
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining(['201', '400', '409', '413', '415', '500', '503']),
    );
  });
});
