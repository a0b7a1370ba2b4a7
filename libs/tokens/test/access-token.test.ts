import { beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError } from '@gatehouse/http';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { createAccessTokenVerifier, issuerOf, signAccessToken } from '../src/index.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const seconds = now / 1000;
const subject = { projectId: 'p1', userId: 'u1', sessionId: 's1', email: 'a@example.com' };
let privateKey: CryptoKey;
let verify: (token: string) => Promise<unknown>;

beforeAll(async () => {
  const pair = await generateKeyPair('RS256');
  privateKey = pair.privateKey;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256' };
  const verifier = createAccessTokenVerifier({
    getKey: createLocalJWKSet({ keys: [jwk] }),
    now: () => now,
    projectId: 'p1',
  });
  verify = (token) => verifier(`Bearer ${token}`).catch((error: ApiError) => error.code);
});

const claims = {
  iss: issuerOf('p1'),
  aud: 'service-project-auth',
  tokenUse: 'project_auth_access',
  projectId: 'p1',
  sub: 'u1',
  sessionId: 's1',
  email: 'a@example.com',
  iat: seconds,
  exp: seconds + 3600,
};
const sign = (changes: Record<string, unknown>, header = {}) =>
  new SignJWT({ ...claims, ...changes })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header })
    .sign(privateKey);

describe('an access token', () => {
  it('that we signed says who it was made for', async () => {
    const token = await signAccessToken(subject, { kid: 'k1', privateKey }, seconds, 3600);
    expect(await verify(token)).toEqual(subject);
    expect(await verify(await sign({}))).toEqual(subject);
  });

  it.each(Object.keys(claims))('without the claim %s is refused', async (name) => {
    expect(await verify(await sign({ [name]: undefined }))).toBe('access_token_invalid');
  });

  it.each([
    ['iss', 'service-project:p2'],
    ['aud', 'another-audience'],
    ['aud', ['service-project-auth', 'another']],
    ['tokenUse', 'oauth_access'],
    ['projectId', 'p2'],
    ['sub', 7],
    ['sessionId', null],
    ['email', ['a@example.com']],
    ['iat', seconds + 3600],
    ['nbf', seconds + 3600],
  ])('with %s of %j is refused', async (name, value) => {
    expect(await verify(await sign({ [name]: value }))).toBe('access_token_invalid');
  });

  it('of another project is refused, although it is consistent', async () => {
    const token = await sign({ iss: issuerOf('p2'), projectId: 'p2' });
    expect(await verify(token)).toBe('access_token_invalid');
  });

  it('that has expired says so', async () => {
    expect(await verify(await sign({ exp: seconds }))).toBe('access_token_expired');
  });

  it('without a kid is refused', async () => {
    expect(await verify(await sign({}, { kid: undefined }))).toBe('access_token_invalid');
  });

  it('with a critical extension that nobody knows is refused', async () => {
    const token = await sign({}, { crit: ['x'], x: 1 }).catch(() => 'unsignable');
    expect(token).toBe('unsignable');
    const [, payload, signature] = (await sign({})).split('.');
    const header = Buffer.from('{"alg":"RS256","kid":"k1","crit":["x"],"x":1}').toString(
      'base64url',
    );
    expect(await verify(`${header}.${payload}.${signature}`)).toBe('access_token_invalid');
  });

  it.each(['', 'x', 'a.b', 'a.b.c.d', 'ey J.b.c'])('is not %j', async (text) => {
    expect(await verify(text)).toMatch(/^access_token_(invalid|required)$/);
  });
});
