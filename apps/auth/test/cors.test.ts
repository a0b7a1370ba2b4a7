import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prefix, startAuth, type Auth } from './harness.ts';

let auth: Auth;
let key: string;
beforeAll(async () => {
  auth = await startAuth();
  const project = await auth.createProject({ allowedOrigins: ['https://app.example.com'] });
  key = project.publishableKey;
  await auth.createProject({ allowedOrigins: ['https://other.example.com'] });
});
afterAll(() => auth.stop());

const preflight = (origin: string) =>
  auth.agent
    .options(`${prefix}/token`)
    .set({ Origin: origin, 'Access-Control-Request-Method': 'POST' });
const call = (origin: string, apikey = key) =>
  auth.agent.get(`${prefix}/settings`).set({ Origin: origin, apikey });

describe('calls from a browser', () => {
  it('are let through from an origin that the project allows', async () => {
    const before = await preflight('https://app.example.com');
    expect(before.status).toBe(204);
    expect(before.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      'access-control-allow-headers': expect.stringContaining('apikey'),
      'access-control-max-age': '600',
    });
    const answer = await call('https://app.example.com');
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example.com');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers['vary']).toContain('Origin');
  });

  it('can read errors too', async () => {
    const answer = await call('https://app.example.com', 'wrong');
    expect(answer.status).toBe(401);
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example.com');
  });

  it.each([
    'https://evil.example',
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'null',
  ])('are not let through from %s', async (origin) => {
    expect((await preflight(origin)).headers['access-control-allow-origin']).toBeUndefined();
    expect((await call(origin)).headers['access-control-allow-origin']).toBeUndefined();
  });

  it('cannot read the answers of a project that does not allow their origin', async () => {
    const answer = await call('https://other.example.com');
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});
