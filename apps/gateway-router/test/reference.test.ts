import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { documentPaths, type Service } from '../src/groups.ts';
import { ask, startHouse, type House } from './house.ts';

/** A service that is ready, and describes one path with a schema of the name that all share. */
const serviceWith =
  (service: Service, thing: object): RequestListener =>
  (req, res) => {
    if (req.url === '/health/ready') return void res.end('{}');
    if (req.url !== documentPaths[service]) return void res.writeHead(404).end('{}');
    const schema = { $ref: '#/components/schemas/Thing' };
    const content = { 'application/json': { schema } };
    res.end(
      JSON.stringify({
        openapi: '3.1.0',
        paths: { [`/of/${service}`]: { get: { responses: { 200: { content } } } } },
        components: {
          schemas: { Thing: thing, Error: { type: 'object' } },
          securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
        },
      }),
    );
  };

const down: RequestListener = (_req, res) => void res.writeHead(503).end('not here');

let whole: House;
let partial: House;
beforeAll(async () => {
  const handlers = {
    auth: serviceWith('auth', { type: 'string' }),
    'model-gateway': serviceWith('model-gateway', { type: 'string' }),
    memory: serviceWith('memory', { type: 'array', items: { $ref: '#/components/schemas/Thing' } }),
    registry: serviceWith('registry', { type: 'string' }),
    account: serviceWith('account', { type: 'string' }),
  };
  whole = await startHouse({ handlers });
  partial = await startHouse({ handlers: { ...handlers, memory: down, registry: down } });
});
afterAll(() => Promise.all([whole.close(), partial.close()]));

describe('/health', () => {
  it('live answers by itself', async () => {
    expect((await ask(partial.port, '/health/live')).body).toEqual({ status: 'live' });
  });

  it('ready is 200 once all services are', async () => {
    const answer = await ask(whole.port, '/health/ready');
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        status: 'ready',
        services: {
          auth: 'ready',
          'model-gateway': 'ready',
          memory: 'ready',
          registry: 'ready',
          account: 'ready',
        },
      },
    ]);
  });

  it('ready is 503 otherwise, and names who is not', async () => {
    const answer = await ask(partial.port, '/health/ready');
    expect([answer.status, answer.body]).toMatchObject([
      503,
      { status: 'not_ready', services: { auth: 'ready', memory: 'not_ready' } },
    ]);
  });
});

describe('/openapi.json', () => {
  it('holds the paths of all services', async () => {
    const { body } = await ask(whole.port, '/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', 'x-missing-services': [] });
    expect(Object.keys(body.paths).sort()).toEqual([
      '/of/account',
      '/of/auth',
      '/of/memory',
      '/of/model-gateway',
      '/of/registry',
    ]);
    expect(Object.keys(body.components.securitySchemes)).toEqual(['apiKey']);
  });

  it('keeps two schemas of one name apart, references included', async () => {
    const { paths, components } = (await ask(whole.port, '/openapi.json')).body;
    const ref = (path: string) =>
      paths[path].get.responses[200].content['application/json'].schema.$ref;
    expect(ref('/of/account')).toBe('#/components/schemas/Thing');
    expect(ref('/of/memory')).toBe('#/components/schemas/memory.Thing');
    expect(components.schemas).toEqual({
      Thing: { type: 'string' },
      'memory.Thing': { type: 'array', items: { $ref: '#/components/schemas/memory.Thing' } },
      Error: { type: 'object' },
    });
  });

  it('says which services do not answer', async () => {
    const { status, body } = await ask(partial.port, '/openapi.json');
    expect(status).toBe(200);
    expect(body['x-missing-services']).toEqual(['memory', 'registry']);
    expect(body.info.description).toContain('memory, registry');
    expect(Object.keys(body.paths)).toHaveLength(3);
  });
});

describe('/docs', () => {
  it('is where the bare address leads', async () => {
    const { status, headers } = await ask(whole.port, '/');
    expect([status, headers['location']]).toEqual([302, '/docs']);
  });

  it('loads from this origin alone, and each thing that it names is there', async () => {
    const { headers, body } = await ask(whole.port, '/docs');
    expect(headers['content-type']).toContain('text/html');
    expect(headers['content-security-policy']).toContain("script-src 'self';");
    const named = [...String(body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url);
    expect(named).toHaveLength(4);
    for (const url of named) {
      expect(url).toMatch(/^\/docs\//);
      expect((await ask(whole.port, url as string)).status).toBe(200);
    }
  });

  it('serves nothing else of the package', async () => {
    expect((await ask(whole.port, '/docs/package.json')).status).toBe(404);
    expect((await ask(whole.port, '/docs/swagger-ui-bundle.js.map')).status).toBe(404);
  });
});
