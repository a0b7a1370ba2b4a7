import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { clientOf, outcome, startAuth, strongPassword, type Auth } from './harness.ts';

let auth: Auth;
let client: ReturnType<typeof clientOf>;
let projectId: string;

beforeAll(async () => {
  auth = await startAuth();
  const project = await auth.createProject({ redirectUrls: ['https://app.example.com/welcome'] });
  projectId = project.id;
  client = clientOf(auth, project);
});
afterAll(() => auth.stop());

describe('sign-up without confirmation', () => {
  it('answers with the session result of interface section 2.1', async () => {
    const { status, body, headers } = await client.signUp('Ada@Example.com', strongPassword, {
      display_name: 'Ada',
      data: { plan: 'pro' },
      redirect_to: 'https://app.example.com/welcome',
    });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^gh_rt_/),
      token_type: 'bearer',
      expires_in: 3600,
      expires_at: '2026-07-01T12:00:00.000Z',
      user: {
        id: expect.any(String),
        email: 'ada@example.com',
        display_name: 'Ada',
        user_metadata: { plan: 'pro' },
        email_confirmed_at: null,
        last_sign_in_at: '2026-06-01T12:00:00.000Z',
        created_at: '2026-06-01T12:00:00.000Z',
        updated_at: '2026-06-01T12:00:00.000Z',
      },
      session: {
        id: expect.any(String),
        created_at: '2026-06-01T12:00:00.000Z',
        refreshed_at: '2026-06-01T12:00:00.000Z',
        expires_at: '2026-07-01T12:00:00.000Z',
      },
    });
    expect(decodeProtectedHeader(body.access_token)).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: expect.any(String),
    });
    const issuedAt = auth.clock.ms / 1000;
    expect(decodeJwt(body.access_token)).toEqual({
      iss: `service-project:${projectId}`,
      aud: 'service-project-auth',
      tokenUse: 'project_auth_access',
      projectId,
      sub: body.user.id,
      sessionId: body.session.id,
      email: 'ada@example.com',
      iat: issuedAt,
      exp: issuedAt + 3600,
    });
  });

  it('stores no password, only an argon2id hash of 19 MiB, two passes, one lane', async () => {
    await client.signUp('hash@example.com');
    const [user] = await auth.db.user.findMany({ where: { email: 'hash@example.com' } });
    expect(user?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it('refuses an address that is taken, in any spelling', async () => {
    await client.signUp('twin@example.com');
    for (const email of [
      'twin@example.com',
      'TWIN@EXAMPLE.COM',
      'ｔｗｉｎ@example.com',
      'twin@example.com.',
    ]) {
      expect(outcome(await client.signUp(email))).toEqual([409, 'user_already_exists']);
    }
  });

  it('makes one user when an address is signed up in parallel', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.signUp('race@example.com')),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
  });

  it.each([
    '',
    'nobody',
    'a@b',
    'ad\u0131@example.com',
    'a@@example.com',
    'a b@example.com',
    'a@example.com/path',
    'a@example.com?query',
    'a@example.com#fragment',
    'a@ex%61mple.com',
    'a@exam\tple.com',
    'a@example.com\n',
  ])('refuses %j as an email address', async (email) => {
    expect(outcome(await client.signUp(email))).toEqual([400, 'validation_failed']);
  });

  it('refuses a redirect that is not exactly one of the allowed URLs', async () => {
    for (const redirect_to of [
      'https://app.example.com/welcome/',
      'https://app.example.com/welcome?x=1',
      'https://app.example.com.evil.example/welcome',
      'https://app.example.com@evil.example/welcome',
      'javascript:alert(1)',
    ]) {
      const answer = await client.signUp('redirect@example.com', strongPassword, { redirect_to });
      expect(outcome(answer)).toEqual([400, 'redirect_not_allowed']);
    }
  });
});

describe('the password policy', () => {
  it('is refused by reason', async () => {
    const strict = clientOf(
      auth,
      await auth.createProject({ passwordMinLength: 10, passwordRequired: ['digit', 'symbol'] }),
    );
    const answer = await strict.signUp('weak@example.com', 'short');
    expect(outcome(answer)).toEqual([422, 'weak_password']);
    expect(answer.body.weak_password.reasons).toEqual(['length', 'characters']);
    expect((await strict.signUp('weak@example.com', 'long enough 1')).status).toBe(200);
  });

  it('counts the characters that were typed, not what they are folded into', async () => {
    for (const short of ['\ufdfa', 'e\u0301'.repeat(7)]) {
      expect(outcome(await client.signUp('short@example.com', short))).toEqual([
        422,
        'weak_password',
      ]);
    }
  });

  it('hashes a long password in full, and knows the same one in another normal form', async () => {
    const long = 'x'.repeat(200);
    await client.signUp('long@example.com', long);
    expect(outcome(await client.signIn('long@example.com', 'x'.repeat(199)))).toEqual([
      401,
      'invalid_credentials',
    ]);
    await client.signUp('nfc@example.com', 'caf\u00e9 caf\u00e9');
    expect((await client.signIn('nfc@example.com', 'cafe\u0301 cafe\u0301')).status).toBe(200);
  });
});

describe('sign-up with confirmation', () => {
  let confirming: ReturnType<typeof clientOf>;
  let confirmingId: string;
  beforeAll(async () => {
    const project = await auth.createProject({ confirmationRequired: true });
    confirmingId = project.id;
    confirming = clientOf(auth, project);
  });

  const confirm = (email: string) =>
    auth.admin.user.update({
      where: { projectId_email: { projectId: confirmingId, email } },
      data: { emailConfirmedAt: new Date(auth.clock.ms) },
    });

  it('gives no session', async () => {
    const { status, body } = await confirming.signUp('new@example.com');
    expect(status).toBe(200);
    expect(body).toEqual({
      user: expect.objectContaining({ email: 'new@example.com', email_confirmed_at: null }),
      session: null,
      confirmation_required: true,
    });
    expect(outcome(await confirming.signIn('new@example.com'))).toEqual([
      403,
      'email_not_confirmed',
    ]);
  });

  it('tells a wrong password nothing about the state of the account', async () => {
    await confirming.signUp('state@example.com');
    expect(outcome(await confirming.signIn('state@example.com', 'wrong password'))).toEqual([
      401,
      'invalid_credentials',
    ]);
  });

  it('answers for a taken address as for a new one, each time', async () => {
    await confirming.signUp('taken@example.com');
    await confirm('taken@example.com');
    const taken = [
      await confirming.signUp('taken@example.com', 'another password'),
      await confirming.signUp('taken@example.com', 'another password'),
    ];
    const fresh = [
      await confirming.signUp('fresh@example.com', 'another password'),
      await confirming.signUp('fresh@example.com', 'another password'),
    ];
    for (const answers of [taken, fresh]) {
      expect(answers[0]?.body).toEqual(answers[1]?.body);
    }
    const blank = (answer: (typeof taken)[0]) => ({
      ...answer.body,
      user: { ...answer.body.user, id: 'x', email: 'x' },
    });
    expect(blank(taken[0]!)).toEqual(blank(fresh[0]!));
  });

  it('never lets a later sign-up change a confirmed account', async () => {
    await confirming.signUp('owner@example.com');
    await confirm('owner@example.com');
    await confirming.signUp('owner@example.com', 'the attacker knows');
    expect(outcome(await confirming.signIn('owner@example.com', 'the attacker knows'))).toEqual([
      401,
      'invalid_credentials',
    ]);
    expect((await confirming.signIn('owner@example.com')).status).toBe(200);
  });

  it('forgets the earlier password of an address that signs up again before confirming', async () => {
    await confirming.signUp('again@example.com', 'the attacker was first');
    await confirming.signUp('again@example.com');
    await confirm('again@example.com');
    expect((await confirming.signIn('again@example.com', 'the attacker was first')).status).toBe(
      401,
    );
    expect((await confirming.signIn('again@example.com')).status).toBe(200);
  });
});

describe('a project that', () => {
  it('does not accept sign-ups says so', async () => {
    const closed = clientOf(auth, await auth.createProject({ signupEnabled: false }));
    expect(outcome(await closed.signUp('a@example.com'))).toEqual([403, 'signup_disabled']);
  });

  it('does not know this publishable key is the same as none', async () => {
    const bodies = new Set<string>();
    for (const key of ['', 'gh_pub_x', 'gh_pub_00000000001111111111222222222200YQ7N']) {
      const answer = await clientOf(auth, { publishableKey: key }).signUp('a@example.com');
      expect(outcome(answer)).toEqual([401, 'invalid_publishable_key']);
      bodies.add(JSON.stringify(answer.body));
    }
    expect(bodies.size).toBe(1);
  });

  it('has its own users: the same address is another user elsewhere', async () => {
    const other = clientOf(auth, await auth.createProject());
    await client.signUp('shared@example.com', 'the first password');
    expect((await other.signUp('shared@example.com', 'the other password')).status).toBe(200);
    expect((await other.signIn('shared@example.com', 'the first password')).status).toBe(401);
  });
});
