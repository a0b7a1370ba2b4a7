import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outcome, startAccount, type Account } from './harness.ts';

let account: Account;
let owner: ReturnType<Account['as']>;
beforeAll(async () => {
  account = await startAccount();
  owner = account.as(account.auth.signUp());
});
afterAll(() => account.stop());

describe('making a project', () => {
  it('answers with its publishable key and its settings, defaults filled in', async () => {
    const { status, body } = await owner.post('/projects', {
      name: ' Shop ',
      auth: { email: { confirmation_required: true }, allowed_origins: ['https://shop.example'] },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^prj_/),
      name: 'Shop',
      publishable_key: expect.stringMatching(/^gh_pub_/),
      auth: {
        signup_enabled: true,
        email: { enabled: true, confirmation_required: true },
        password: { min_length: 8, required: [] },
        access_token_ttl_seconds: 3600,
        session_ttl_seconds: 2_592_000,
        allowed_origins: ['https://shop.example'],
        redirect_urls: [],
      },
      created_at: '2026-06-01T12:00:00.000Z',
    });
    expect((await owner.get('/projects')).body.data[0]).toEqual(body);
  });

  it.each([
    [{ allowed_origins: ['https://shop.example/'] }],
    [{ allowed_origins: ['shop.example'] }],
    [{ redirect_urls: ['javascript:alert(1)'] }],
    [{ redirect_urls: ['http://shop.example/'] }],
    [{ redirect_urls: ['https://user@shop.example/'] }],
    [{ redirect_urls: ['//shop.example'] }],
    [{ redirect_urls: ['https://shop.example/\r\nSet-Cookie: a=b'] }],
    [{ password: { min_length: 4 } }],
    [{ unknown: true }],
  ])('refuses the settings %j', async (auth) => {
    expect(outcome(await owner.post('/projects', { name: 'x', auth }))).toEqual([
      400,
      'validation_failed',
    ]);
  });
});

describe('the list of projects', () => {
  it('is of the own account alone, newest first, in pages', async () => {
    const someone = account.as(account.auth.signUp());
    const names = ['one', 'two', 'three', 'four', 'five'];
    for (const name of names) {
      account.clock.ms += name === 'three' ? 0 : 1; // two of them in the same millisecond
      await someone.post('/projects', { name });
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await someone.get(`/projects?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor;
    } while (cursor);
    expect(seen.toSorted()).toEqual(names.toSorted());
    expect(seen[0]).toBe('five');
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'cursor=x', 'cursor=W10', 'page=2'])(
    'refuses ?%s',
    async (query) => {
      expect(outcome(await owner.get(`/projects?${query}`))).toEqual([400, 'validation_failed']);
    },
  );

  it.each([
    ['NUL in the id', ['2026-01-01T00:00:00Z', '\0']],
    ['a year that PostgreSQL does not have', ['0000-01-01T00:00:00Z', 'prj_x']],
    ['no tuple', { 0: '2026-01-01T00:00:00Z' }],
  ])('refuses a cursor with %s', async (_why, content) => {
    const cursor = Buffer.from(JSON.stringify(content)).toString('base64url');
    const answer = await owner.get(`/projects?cursor=${cursor}`);
    expect(outcome(answer)).toEqual([400, 'validation_failed']);
  });

  it('never has the console project, which belongs to no account', async () => {
    const { body } = await owner.get('/projects?limit=100');
    expect(body.data.map(({ id }: { id: string }) => id)).not.toContain('console');
  });
});
