import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { signAccessToken } from '@gatehouse/tokens';
import { purgeSessions } from '../src/jobs/purge-sessions.ts';
import { clientOf, outcome, startAuth, strongPassword, type Auth } from './harness.ts';

let auth: Auth;
let client: ReturnType<typeof clientOf>;
let project: Awaited<ReturnType<Auth['createProject']>>;
let count = 0;
/** A new user's session. */
const newSession = async () => (await client.signUp(`user${++count}@example.com`)).body;

beforeAll(async () => {
  auth = await startAuth();
});
afterAll(() => auth.stop());
beforeEach(async () => {
  project = await auth.createProject();
  client = clientOf(auth, project);
});

describe('sign-in with a password', () => {
  it('answers with a new session', async () => {
    const { session, user } = await newSession();
    auth.clock.ms += 1_000;
    const { status, body } = await client.signIn(user.email.toUpperCase());
    expect(status).toBe(200);
    expect(body.user.id).toBe(user.id);
    expect(body.session.id).not.toBe(session.id);
    expect(body.user.last_sign_in_at).toBe(new Date(auth.clock.ms).toISOString());
  });

  it('answers alike for a wrong password and an unknown address', async () => {
    const { user } = await newSession();
    const wrong = await client.signIn(user.email, 'wrong password');
    const unknown = await client.signIn('nobody@example.com', 'wrong password');
    expect(outcome(wrong)).toEqual([401, 'invalid_credentials']);
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
  });

  it('shows a ban to the right password alone', async () => {
    const { user, access_token, refresh_token } = await newSession();
    await auth.admin.user.update({ where: { id: user.id }, data: { bannedAt: new Date() } });
    expect(outcome(await client.signIn(user.email, 'wrong password'))[1]).toBe(
      'invalid_credentials',
    );
    expect(outcome(await client.signIn(user.email))).toEqual([403, 'user_banned']);
    expect(outcome(await client.user(access_token))).toEqual([401, 'session_not_found']);
    expect(outcome(await client.refresh(refresh_token))).toEqual([401, 'session_not_found']);
  });

  it('opens nothing for a user who is deleted while the password is hashed', async () => {
    const { user } = await newSession();
    const underWay = client.signIn(user.email).then(outcome);
    while (auth.passwords.load === 0) await new Promise(setImmediate);
    await auth.admin.user.delete({ where: { id: user.id } });
    expect(await underWay).toEqual([401, 'invalid_credentials']);
  });

  it('refuses a grant that it does not know', async () => {
    for (const query of ['', '?grant_type=', '?grant_type=implicit', '?grant_type=__proto__']) {
      const answer = await client.post(`/token${query}`, { email: 'a@example.com', password: 'x' });
      expect(outcome(answer)).toEqual([400, 'unsupported_grant_type']);
    }
  });
});

describe('refresh token rotation', () => {
  it('gives a new refresh token each time, for the same session', async () => {
    const first = await newSession();
    const { status, body: second } = await client.refresh(first.refresh_token);
    expect(status).toBe(200);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.session.id).toBe(first.session.id);
    expect((await client.user(second.access_token)).body.id).toBe(first.user.id);
    expect((await client.refresh(second.refresh_token)).status).toBe(200);
  });

  it('has a single successor when one token is used fifty times in parallel', async () => {
    const { refresh_token } = await newSession();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => client.refresh(refresh_token)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const successors = new Set<string>(answers.map(({ body }) => body.refresh_token));
    expect(successors.size).toBe(1);
    expect((await client.refresh([...successors][0]!)).status).toBe(200);
  });

  it('answers a client that lost the answer with the same successor, within the grace', async () => {
    const { refresh_token } = await newSession();
    const first = await client.refresh(refresh_token);
    auth.clock.ms += 10_000;
    const again = await client.refresh(refresh_token);
    expect(again.status).toBe(200);
    expect(again.body.refresh_token).toBe(first.body.refresh_token);
  });

  it('ends the session when an old token comes back after the grace', async () => {
    const { refresh_token } = await newSession();
    const { body } = await client.refresh(refresh_token);
    auth.clock.ms += 10_001;
    expect(outcome(await client.refresh(refresh_token))).toEqual([401, 'refresh_token_reused']);
    expect(outcome(await client.user(body.access_token))).toEqual([401, 'session_not_found']);
    expect(outcome(await client.refresh(body.refresh_token))).toEqual([401, 'session_not_found']);
  });

  it('ends the session when a token from before the last comes back, grace or not', async () => {
    const { refresh_token } = await newSession();
    const second = await client.refresh(refresh_token);
    await client.refresh(second.body.refresh_token);
    expect(outcome(await client.refresh(refresh_token))).toEqual([401, 'refresh_token_reused']);
  });

  it('keeps a session that is refreshed, and lets one expire that is not', async () => {
    let { refresh_token } = await newSession();
    for (let day = 0; day < 60; day += 20) {
      auth.clock.ms += 20 * 86_400_000;
      const answer = await client.refresh(refresh_token);
      expect(answer.status).toBe(200);
      ({ refresh_token } = answer.body);
    }
    auth.clock.ms += 30 * 86_400_000;
    expect(outcome(await client.refresh(refresh_token))).toEqual([401, 'session_expired']);
  });

  it('refuses the token of another project without ending the session there', async () => {
    const { refresh_token } = await newSession();
    const other = clientOf(auth, await auth.createProject());
    expect(outcome(await other.refresh(refresh_token))).toEqual([401, 'refresh_token_not_found']);
    expect((await client.refresh(refresh_token)).status).toBe(200);
  });

  it('refuses a made-up token in one form, without a look into the database', async () => {
    const { refresh_token } = await newSession();
    const spelling = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const others = spelling
      .filter((last) => !refresh_token.endsWith(last))
      .map((last) => refresh_token.slice(0, -1) + last);
    const bodies = new Set<string>();
    for (const token of ['', 'x', 'x'.repeat(10_000), refresh_token.slice(0, 40), ...others]) {
      const answer = await client.refresh(token);
      expect(outcome(answer)).toEqual([401, 'refresh_token_not_found']);
      bodies.add(JSON.stringify(answer.body));
    }
    expect(bodies.size).toBe(1);
  });

  it('does not take an access token for a refresh token', async () => {
    const { access_token } = await newSession();
    expect(outcome(await client.refresh(access_token))).toEqual([401, 'refresh_token_not_found']);
  });
});

describe('log-out', () => {
  it('ends the session at once, although the access token has not expired', async () => {
    const { access_token, refresh_token } = await newSession();
    expect((await client.user(access_token)).status).toBe(200);
    const answer = await client.logOut(access_token);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(outcome(await client.user(access_token))).toEqual([401, 'session_not_found']);
    expect(outcome(await client.refresh(refresh_token))).toEqual([401, 'session_not_found']);
    expect(outcome(await client.logOut(access_token))).toEqual([401, 'session_not_found']);
  });

  it('leaves the other sessions of the user alone, unless asked', async () => {
    const first = await newSession();
    const second = (await client.signIn(first.user.email)).body;
    const third = (await client.signIn(first.user.email)).body;
    await client.logOut(first.access_token);
    expect((await client.user(second.access_token)).status).toBe(200);
    expect((await client.logOut(second.access_token, '?scope=others')).status).toBe(204);
    expect((await client.user(third.access_token)).status).toBe(401);
    expect((await client.user(second.access_token)).status).toBe(200);
  });

  it('of the others is fine where there are none', async () => {
    const { access_token } = await newSession();
    expect((await client.logOut(access_token, '?scope=others')).status).toBe(204);
    expect((await client.user(access_token)).status).toBe(200);
  });

  it('with a revoked session ends no other', async () => {
    const first = await newSession();
    const second = (await client.signIn(first.user.email)).body;
    await client.logOut(first.access_token);
    for (const scope of ['global', 'others']) {
      const answer = await client.logOut(first.access_token, `?scope=${scope}`);
      expect(outcome(answer)).toEqual([401, 'session_not_found']);
    }
    expect((await client.user(second.access_token)).status).toBe(200);
  });
});

describe('an access token', () => {
  const claimsOf = (
    session: { user: { id: string }; session: { id: string } },
    issuedAt: number,
  ) => ({
    iss: `service-project:${project.id}`,
    aud: 'service-project-auth',
    tokenUse: 'project_auth_access',
    projectId: project.id,
    sub: session.user.id,
    sessionId: session.session.id,
    email: 'a@example.com',
    iat: issuedAt,
    exp: issuedAt + 3600,
  });

  it('verifies with the published key set, cacheable for ten minutes', async () => {
    const { access_token } = await newSession();
    const jwks = await client.get('/.well-known/jwks.json');
    expect(jwks.headers['cache-control']).toBe('public, max-age=600');
    expect(Object.keys(jwks.body.keys[0]).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    await jwtVerify(access_token, createLocalJWKSet(jwks.body), {
      issuer: `service-project:${project.id}`,
      audience: 'service-project-auth',
      algorithms: ['RS256'],
      currentDate: new Date(auth.clock.ms),
    });
  });

  it('is asked for, with a bare challenge, where it is missing', async () => {
    const answer = await auth.agent.get('/api/v1/auth/user');
    expect(outcome(answer)).toEqual([401, 'access_token_required']);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it('expires', async () => {
    const { access_token } = await newSession();
    auth.clock.ms += 3_601_000;
    const answer = await client.user(access_token);
    expect(outcome(answer)).toEqual([401, 'access_token_expired']);
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  it('is refused when it is forged in any of the known ways', async () => {
    const session = await newSession();
    const { keys } = (await client.get('/.well-known/jwks.json')).body;
    const claims = claimsOf(session, auth.clock.ms / 1000);
    const foreign = await generateKeyPair('RS256');
    const sign = (header: object, payload: object = claims) =>
      new SignJWT({ ...payload })
        .setProtectedHeader({ alg: 'RS256', kid: keys[0].kid, ...header })
        .sign(foreign.privateKey);
    const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${base64({ alg: 'HS256', kid: keys[0].kid })}.${base64(claims)}`;
    const hmac = createHmac('sha256', JSON.stringify(keys[0])).update(unsigned).digest('base64url');
    const [header, , signature] = session.access_token.split('.');
    const forgeries = {
      'alg none': new UnsecuredJWT(claims).encode(),
      'HS256 with the public key': `${unsigned}.${hmac}`,
      'another key under our kid': await sign({}),
      'an unknown kid': await sign({ kid: 'nobody' }),
      'no kid': await sign({ kid: undefined }),
      'its own key in the header': await sign({ jwk: keys[0] }),
      'a changed claim': `${header}.${base64({ ...claims, sub: 'someone' })}.${signature}`,
      'another project, unknown': await sign({}, { ...claims, projectId: 'prj_x' }),
      'not a token': 'x.y.z',
    };
    for (const [how, token] of Object.entries(forgeries)) {
      expect([how, ...outcome(await client.user(token))]).toEqual([
        how,
        401,
        'access_token_invalid',
      ]);
    }
  });

  it('is refused when it names a project that no text in the database can be', async () => {
    const { access_token } = await newSession();
    const [header, payload, signature] = access_token.split('.');
    const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString());
    for (const projectId of ['\0', '\ud800', 'x'.repeat(5_000), ['x'], { x: 1 }, null]) {
      const forged = Buffer.from(JSON.stringify({ ...claims, projectId })).toString('base64url');
      const answer = await client.user(`${header}.${forged}.${signature}`);
      expect(outcome(answer)).toEqual([401, 'access_token_invalid']);
    }
  });

  it('is good in a process that was asked about the project before it had a key', async () => {
    const other = auth.signingKeysOfOtherProcess();
    const payload = Buffer.from(JSON.stringify({ projectId: project.id })).toString('base64url');
    const askOther = (kid: string) =>
      other.getKey({ alg: 'RS256', kid }, { protected: '', payload, signature: '' });
    await expect(askOther('any')).rejects.toThrow('no applicable key');
    const { access_token } = await newSession();
    expect(await askOther(decodeProtectedHeader(access_token).kid!)).toBeDefined();
  });

  it('is refused beside the publishable key of another project', async () => {
    const { access_token } = await newSession();
    const other = await auth.createProject();
    const answer = (publishableKey: string) =>
      client.user(access_token).set('apikey', publishableKey).then(outcome);
    expect(await answer(other.publishableKey)).toEqual([401, 'access_token_invalid']);
    expect(await answer('gh_pub_nonsense')).toEqual([401, 'invalid_publishable_key']);
    expect((await answer(project.publishableKey))[0]).toBe(200);
  });

  it('signed by the key of one project does not open another', async () => {
    const { user, session } = await newSession();
    const evil = await auth.createProject();
    const token = await signAccessToken(
      { projectId: project.id, userId: user.id, sessionId: session.id, email: user.email },
      await auth.signingKeys.signerOf(evil.id),
      auth.clock.ms / 1000,
      3600,
    );
    expect(outcome(await client.user(token))).toEqual([401, 'access_token_invalid']);
  });
});

describe('a signing key that another process has replaced', () => {
  it('is known here within seconds, and the old one still verifies what it signed', async () => {
    const before = await newSession();
    await auth.admin.signingKey.updateMany({
      where: { projectId: project.id },
      data: { retiredAt: new Date(auth.clock.ms) },
    });
    const signer = await auth.signingKeysOfOtherProcess().signerOf(project.id);
    const subject = { projectId: project.id, userId: before.user.id, email: before.user.email };
    const token = await signAccessToken(
      { ...subject, sessionId: before.session.id },
      signer,
      auth.clock.ms / 1000,
      3600,
    );
    auth.clock.ms += 5_000;
    expect((await client.user(token)).status).toBe(200);
    expect((await client.user(before.access_token)).status).toBe(200);
  });
});

describe('the purge', () => {
  it('deletes sessions that ended more than a week ago, and no others', async () => {
    const ended = await newSession();
    await client.logOut(ended.access_token);
    const standing = await newSession();
    auth.clock.ms += 8 * 86_400_000;
    await purgeSessions.handle({ db: auth.db, now: () => auth.clock.ms }, {});
    const left = await auth.db.session.findMany({ where: { projectId: project.id } });
    expect(left.map(({ id }) => id)).toEqual([standing.session.id]);
  });
});

describe('a project', () => {
  it('has one signing key, however many ask for the first token at once', async () => {
    await Promise.all([newSession(), newSession(), client.get('/.well-known/jwks.json')]);
    expect(await auth.db.signingKey.count({ where: { projectId: project.id } })).toBe(1);
  });

  it('keeps its private key in an envelope', async () => {
    await newSession();
    const [key] = await auth.db.signingKey.findMany({ where: { projectId: project.id } });
    expect(key?.privateKey).toMatch(/^v1\.k1\./);
  });

  it('tells its settings', async () => {
    const answer = await client.get('/settings');
    expect(answer.body).toEqual({
      signup_enabled: true,
      email: { enabled: true, confirmation_required: false },
      password: { min_length: 8, max_length: 256, required: [] },
      providers: [],
    });
  });
});

describe('the log', () => {
  it('holds no password and no token', async () => {
    const session = await newSession();
    await client.refresh(session.refresh_token);
    await client.user(session.access_token);
    const text = auth.logLines.join('');
    expect(text).toContain('/api/v1/auth/token');
    for (const secret of [strongPassword, session.access_token, session.refresh_token]) {
      expect(text).not.toContain(secret);
    }
  });
});
