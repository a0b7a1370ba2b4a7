import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, raw, startHouse, type House } from './house.ts';

let house: House;
let behindOneProxy: House;
beforeAll(async () => {
  house = await startHouse({
    handlers: {
      'model-gateway': (_req, res) => {
        res.writeHead(418, 'Short And Stout', {
          'X-Gatehouse-Code': 'model_not_found',
          'X-Content-Type-Options': 'nosniff',
          'Content-Security-Policy': "default-src 'self'",
          'X-Request-Id': 'the-vendors-own',
          'Access-Control-Allow-Origin': 'https://app.test',
          'Set-Cookie': ['a=1', 'b=2'],
          Connection: 'keep-alive, x-hop',
          'X-Hop': 'secret',
          'Proxy-Authenticate': 'Basic',
          Trailer: 'x-checksum',
          Upgrade: 'h2c',
        });
        res.end('short and stout');
      },
    },
  });
  behindOneProxy = await startHouse({ trustedHops: 1 });
});
afterAll(() => Promise.all([house.close(), behindOneProxy.close()]));

const settings = (headers: Record<string, string>, port = house.port) =>
  ask(port, '/api/v1/auth/settings', { headers });

describe('a request', () => {
  it('loses what is meant for one hop, or is ours to say', async () => {
    const { body } = await settings({
      connection: 'close, X-Mine, Authorization-Hint',
      'x-mine': '1',
      'authorization-hint': '1',
      'keep-alive': 'timeout=5',
      'proxy-authorization': 'Basic eDp5',
      'proxy-connection': 'close',
      te: 'trailers',
      'x-gatehouse-project': 'p1',
      'X-GATEHOUSE-USER': 'u1',
      forwarded: 'for=9.9.9.9',
      'x-real-ip': '9.9.9.9',
      'x-forwarded-port': '1',
      'x-forwarded-prefix': '/admin',
      apikey: 'gh_pub_x',
      authorization: 'Bearer x',
      cookie: 'a=1',
    });
    expect(Object.keys(body.headers).sort()).toEqual([
      'apikey',
      'authorization',
      'connection',
      'cookie',
      'host',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-request-id',
    ]);
    expect(body.headers.connection).toBe('keep-alive');
  });

  it('cannot have the headers stripped that the router itself sets', async () => {
    const { body } = await settings({
      connection: 'close, x-request-id, x-forwarded-for, x-forwarded-proto, host',
      'x-request-id': 'chosen-by-the-caller',
    });
    expect(body.headers).toMatchObject({
      'x-request-id': 'chosen-by-the-caller',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
    });
  });

  it('comes from the address of its connection, whatever it says', async () => {
    const { body } = await settings({
      host: 'gatehouse.test:8080',
      'x-forwarded-for': '1.1.1.1, 2.2.2.2',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.test',
    });
    expect(body.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'gatehouse.test:8080',
    });
    expect(body.headers.host).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it('comes from where the one trusted proxy saw it, in one entry', async () => {
    const { body } = await settings(
      {
        'x-forwarded-for': '1.1.1.1, 2.2.2.2',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'api.test',
      },
      behindOneProxy.port,
    );
    expect(body.headers).toMatchObject({
      'x-forwarded-for': '2.2.2.2',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'api.test',
    });
  });

  it('has one id, from the caller to the service and back', async () => {
    const given = await settings({ 'x-request-id': 'chosen-by-the-caller' });
    expect(given.body.headers['x-request-id']).toBe('chosen-by-the-caller');
    expect(given.headers['x-request-id']).toBe('chosen-by-the-caller');
    const made = await settings({ 'x-request-id': 'not an id' });
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.body.headers['x-request-id']).toBe(made.headers['x-request-id']);
  });
});

describe('an answer', () => {
  it('passes with its status and its own headers, and none of this hop’s', async () => {
    const answer = await ask(house.port, '/v1/models', {
      headers: { 'x-request-id': 'mine-1234' },
    });
    expect([answer.status, answer.body]).toEqual([418, 'short and stout']);
    expect(answer.headers).toMatchObject({
      'x-gatehouse-code': 'model_not_found',
      'access-control-allow-origin': 'https://app.test',
      'set-cookie': ['a=1', 'b=2'],
      'x-request-id': 'mine-1234',
      'content-security-policy': "default-src 'self'",
    });
    for (const name of ['x-hop', 'proxy-authenticate', 'trailer', 'upgrade']) {
      expect(answer.headers).not.toHaveProperty(name);
    }
  });

  it('names no header twice', async () => {
    const { rawHeaders } = await ask(house.port, '/v1/models');
    const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
    const repeated = names.filter((name, i) => names.indexOf(name) !== i && name !== 'set-cookie');
    expect(repeated).toEqual([]);
  });

  it.each(['/api/v1/auth/settings', '/nothing', '/health/live', '/api/../x'])(
    'of %s carries the security headers',
    async (path) => {
      const { headers } = await ask(house.port, path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': expect.stringContaining('max-age'),
        'x-request-id': expect.any(String),
      });
      expect(headers).not.toHaveProperty('x-powered-by');
    },
  );

  it('of the router has its code in a header too where vendors’ clients call', async () => {
    const codeOn = async (path: string) =>
      (await ask(house.port, path)).headers['x-gatehouse-code'];
    expect(await codeOn('/v1/models?key=x')).toBe('secret_in_url');
    expect(await codeOn('/no-family/v1/chat/completions')).toBe('not_found');
    expect(await codeOn('/v1//models')).toBe('validation_failed');
    expect(await codeOn('/api/user/keys?key=x')).toBeUndefined();
  });

  it('is closed for a caller of HTTP/1.0, and framed by its end', async () => {
    const answer = await raw(house.port, 'GET /v1/models HTTP/1.0\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 418 [^]*\r\n\r\nshort and stout$/);
    expect(answer).not.toMatch(/transfer-encoding/i);
  });

  it('to HEAD has a head alone', async () => {
    const answer = await ask(house.port, '/api/v1/auth/settings', { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([200, '']);
  });
});
