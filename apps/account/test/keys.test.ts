import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outcome, startAccount, type Account } from './harness.ts';

let account: Account;
let owner: ReturnType<Account['as']>;
beforeAll(async () => {
  account = await startAccount();
  owner = account.as(account.auth.signUp());
});
afterAll(() => account.stop());

const newKey = async (more = {}) => (await owner.post('/keys', { name: 'ci', ...more })).body;

describe('making a key', () => {
  it('shows the secret once and stores it hashed', async () => {
    const { status, body } = await owner.post('/keys', { name: 'ci' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'ci',
      prefix: 'gh_live_',
      last_four: body.key.slice(-4),
      scopes: ['models', 'memory', 'registry', 'account'],
      created_at: '2026-06-01T12:00:00.000Z',
      expires_at: null,
      key: expect.stringMatching(/^gh_live_[0-9A-Za-z]{36}$/),
    });
    const list = await owner.get('/keys');
    expect(list.body.data[0]).toEqual({ ...body, key: undefined });
    const row = await account.db.apiKey.findUniqueOrThrow({ where: { id: body.id } });
    expect(JSON.stringify(row)).not.toContain(body.key.slice(8));
    expect(row.hash.length).toBe(32);
  });

  it('makes one that opens the account', async () => {
    const { key } = await newKey();
    expect((await account.as(key).get('/keys')).status).toBe(200);
    for (const header of ['x-api-key', 'x-goog-api-key']) {
      expect((await account.agent.get('/api/user/keys').set(header, key)).status).toBe(200);
    }
  });

  it('can narrow it, and what is narrow opens no account', async () => {
    const { key } = await newKey({ scopes: ['models'], mode: 'test' });
    expect(key).toMatch(/^gh_test_/);
    expect(outcome(await account.as(key).get('/keys'))).toEqual([403, 'insufficient_scope']);
  });

  it('never gives a scope that its maker does not have', async () => {
    const { key } = await newKey({ scopes: ['account'] });
    const narrow = account.as(key);
    expect((await narrow.post('/keys', { name: 'child' })).body.scopes).toEqual(['account']);
    expect(outcome(await narrow.post('/keys', { name: 'x', scopes: ['models'] }))).toEqual([
      403,
      'insufficient_scope',
    ]);
  });

  it('never gives a mode or a lifetime that its maker does not have', async () => {
    const expires_at = new Date(account.clock.ms + 3_600_000).toISOString();
    const { key } = await newKey({ mode: 'test', expires_at });
    const narrow = account.as(key);
    const child = await narrow.post('/keys', { name: 'child' });
    expect(child.body).toMatchObject({ prefix: 'gh_test_', expires_at });
    const later = new Date(account.clock.ms + 3_600_001).toISOString();
    for (const more of [{ mode: 'live' }, { expires_at: later }]) {
      expect(outcome(await narrow.post('/keys', { name: 'x', ...more }))).toEqual([
        403,
        'insufficient_scope',
      ]);
    }
  });

  it('can have it expire', async () => {
    const { key } = await newKey({ expires_at: '2026-06-01T13:00:00Z' });
    expect((await account.as(key).get('/keys')).status).toBe(200);
    account.clock.ms += 3_600_000;
    expect(outcome(await account.as(key).get('/keys'))).toEqual([401, 'invalid_api_key']);
    expect(
      outcome(await owner.post('/keys', { name: 'x', expires_at: '2020-01-01T00:00:00Z' })),
    ).toEqual([400, 'validation_failed']);
  });
});

describe('deleting a key', () => {
  it('takes effect in every process before it answers', async () => {
    const processes = await Promise.all([account.otherProcess(), account.otherProcess()]);
    for (let round = 0; round < 20; round++) {
      const { id, key } = await newKey();
      for (const { findApiKey } of processes) expect(await findApiKey(key)).toMatchObject({ id });
      expect((await owner.delete(`/keys/${id}`)).status).toBe(204);
      for (const { findApiKey } of processes) expect(await findApiKey(key)).toBeUndefined();
      expect(outcome(await account.as(key).get('/keys'))).toEqual([401, 'invalid_api_key']);
    }
  });

  it('is for the id, and refuses the secret itself in a URL', async () => {
    const { key } = await newKey();
    expect(outcome(await owner.delete(`/keys/${key}`))).toEqual([400, 'secret_in_url']);
  });

  it('is not there twice, nor for another account', async () => {
    const { id } = await newKey();
    const stranger = account.as(account.auth.signUp());
    expect(outcome(await stranger.delete(`/keys/${id}`))).toEqual([404, 'key_not_found']);
    expect((await owner.delete(`/keys/${id}`)).status).toBe(204);
    expect(outcome(await owner.delete(`/keys/${id}`))).toEqual([404, 'key_not_found']);
  });
});

describe('a caller', () => {
  it('without a good credential is refused in one form', async () => {
    const { key } = await newKey();
    const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const bodies = new Set<string>();
    for (const credential of ['nonsense', typo, `gh_pub_${'0'.repeat(36)}`]) {
      const answer = await account.as(credential).get('/keys');
      expect(outcome(answer)).toEqual([401, 'invalid_api_key']);
      bodies.add(JSON.stringify(answer.body));
    }
    bodies.add(JSON.stringify((await account.agent.get('/api/user/keys')).body));
    expect(bodies.size).toBe(1);
  });

  it('with two different credentials is refused', async () => {
    const { key } = await newKey();
    const answer = await owner.get('/keys').set('x-api-key', key);
    expect(outcome(answer)).toEqual([400, 'conflicting_credentials']);
  });

  it('whose console session has ended is refused at once', async () => {
    const token = account.auth.signUp();
    expect((await account.as(token).get('/keys')).status).toBe(200);
    account.auth.logOut(token);
    expect(outcome(await account.as(token).get('/keys'))).toEqual([401, 'session_not_found']);
  });
});
