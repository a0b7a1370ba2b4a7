import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, raw, startHouse, type House } from './house.ts';

let house: House;
beforeAll(async () => void (house = await startHouse({})));
afterAll(() => house.close());

describe('the table', () => {
  it.each([
    ['/api/v1/auth/settings', 'auth'],
    ['/api/v1/auth', 'auth'],
    ['/api/v1/auth/.well-known/jwks.json', 'auth'],
    ['/api/v1/memory/projects/p1', 'memory'],
    ['/api/v1/services', 'registry'],
    ['/api/v1/agents/a1/metadata.json', 'registry'],
    ['/api/user/keys?limit=2&cursor=x', 'account'],
    ['/v1/chat/completions', 'model-gateway'],
    ['/v1beta/models/my:weird:generateContent?alt=sse', 'model-gateway'],
    ['/v1beta/models/a/b:streamGenerateContent', 'model-gateway'],
    ['/v1beta/models/%E6%A8%A1:generateContent', 'model-gateway'],
    ['/compat-a/v1/images/edits', 'model-gateway'],
    ['/compat-b/v1/messages?beta=true&beta=again', 'model-gateway'],
    ['/compat-c/v1/chat/completions', 'model-gateway'],
    ['/compat-d/v1/tts', 'model-gateway'],
    ['/open-source/v1/chat/completions', 'model-gateway'],
  ])('%s reaches %s, address unchanged', async (path, service) => {
    const answer = await ask(house.port, path, { method: 'POST', body: '{"a":1}' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ service, url: path, method: 'POST', body: '{"a":1}' });
  });

  it.each([
    '/nothing',
    '/api/v1/authx',
    '/api/v1/auth-admin/user',
    '/API/v1/auth/settings',
    '/api/v1',
    '/v1betax/models',
    '/compat-e/v1/chat/completions',
    '/open-source/v2/chat/completions',
    '/other-family/v1/chat/completions',
    '/api/v1/auth%20/settings',
    '/metrics',
  ])('%s is nobody’s', async (path) => {
    const answer = await ask(house.port, path);
    expect([answer.status, answer.body]).toEqual([
      404,
      { error: expect.any(String), code: 'not_found' },
    ]);
  });
});

describe('an address that can be read in two ways', () => {
  it.each([
    '/api/v1/auth/../../user/keys',
    '/api/v1/auth/..%2f..%2fuser/keys',
    '/api/v1/auth/%2e%2e/%2e%2e/user/keys',
    '/api/v1/auth/.%2E/settings',
    '/api/v1/auth/./settings',
    '/api/v1/auth/..',
    '/api/v1/auth/..;/user',
    '//api/v1/auth/settings',
    '/api//v1/auth/settings',
    '/api/v1/auth//user',
    '/api/v1/auth/\\..\\user',
    '/api/v1/auth/..%5cuser',
    '/api/v1/auth/a%00b',
    '/api/v1/auth/a%0d%0ab',
    '/api/v1/auth/%zz',
    '/api/v1/auth/%ff',
    '/api/v1/auth/%',
    '/api/v1/auth/settings#/../user',
    'http://127.0.0.1/api/v1/auth/settings',
  ])('%s is refused', async (path) => {
    const answer = await raw(
      house.port,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    // `..;` means something to Java servers only, and is no dot segment here.
    if (path.includes('..;')) expect(answer).toContain('"url":"/api/v1/auth/..;/user"');
    else {
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"code":"validation_failed"');
    }
  });

  it('a long one is refused as fast as a short one', async () => {
    const startedAt = performance.now();
    expect((await ask(house.port, `/${'a%41'.repeat(3_000)}\\`)).status).toBe(400);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  it.each(['evil.test/path', 'user@evil.test', 'evil.test?x', '"a"'])(
    'so is the Host %s',
    async (host) => {
      const answer = await ask(house.port, '/api/v1/auth/settings', { headers: { host } });
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
    },
  );
});

describe('a credential in the URL', () => {
  it.each(['key', 'apikey', 'access_token', 'KEY', 'k%65y'])(
    '?%s= is refused on every path and not logged',
    async (name) => {
      for (const path of ['/v1beta/models/m:generateContent', '/api/user/keys', '/nothing']) {
        const answer = await ask(house.port, `${path}?a=1&${name}=hunter2`);
        expect([answer.status, answer.body.code]).toEqual([400, 'secret_in_url']);
        expect(JSON.stringify(answer)).not.toContain('hunter2');
      }
      expect(house.lines.join('')).not.toContain('hunter2');
    },
  );
});

describe('CORS', () => {
  const preflight = {
    method: 'OPTIONS',
    headers: { origin: 'https://app.test', 'access-control-request-method': 'POST' },
  };

  it('is left to the auth service', async () => {
    expect((await ask(house.port, '/api/v1/auth/token', preflight)).body).toMatchObject({
      service: 'auth',
      method: 'OPTIONS',
      headers: { origin: 'https://app.test' },
    });
  });

  it.each(['/api/user/keys', '/v1/chat/completions', '/api/v1/services', '/nothing'])(
    'is not offered on %s',
    async (path) => {
      const answer = await ask(house.port, path, preflight);
      expect([404, 405]).toContain(answer.status);
      expect(answer.body.code).toMatch(/not_found|method_not_allowed/);
      expect(Object.keys(answer.headers).join()).not.toContain('access-control');
    },
  );
});

describe('an upgrade', () => {
  const upgrade = (path: string, protocol: string, extra = '') =>
    raw(
      house.port,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\n` +
        `Upgrade: ${protocol}\r\n${extra}\r\n`,
    );

  it.each(['/v1/realtime', '/api/v1/auth/settings', '/nothing', '/'])(
    'to WebSocket is refused in the error body on %s',
    async (path) => {
      const answer = await upgrade(
        path,
        'websocket',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n',
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"code":"validation_failed"');
    },
  );

  it('to HTTP/2 is ignored, and not passed on', async () => {
    const answer = await upgrade('/api/v1/auth/settings', 'h2c', 'HTTP2-Settings: AAMAAABk\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"service":"auth"');
    expect(answer).not.toMatch(/h2c|http2-settings/i);
  });

  it('CONNECT is refused', async () => {
    expect(await raw(house.port, 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 405 [^]*"code":"method_not_allowed"/,
    );
  });
});
