import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPasswords, hashConcurrency } from '../src/password.ts';
import { clientOf, startAuth, type Auth } from './harness.ts';

describe('a flood of sign-ins', () => {
  let auth: Auth;
  let client: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    auth = await startAuth({ passwords: { concurrency: 1, maxQueued: 4 } });
    client = clientOf(auth, await auth.createProject());
  });
  afterAll(() => auth.stop());

  it('is refused beyond the queue with 503 and Retry-After, and nothing else is', async () => {
    const { body } = await client.signUp('a@example.com');
    const flood = Array.from({ length: 50 }, () => client.signIn('a@example.com'));
    const others = [client.user(body.access_token), client.refresh(body.refresh_token)];
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status === 503);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.body.code).toBe('overloaded');
    expect(refused[0]?.headers['retry-after']).toBe('1');
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await client.signIn('a@example.com')).status).toBe(200);
  });
});

describe('the pool of password hashes', () => {
  it('works on so many at a time, queues so many, and refuses the rest', async () => {
    const passwords = createPasswords({ concurrency: 1, maxQueued: 2 });
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => passwords.hash('a password')),
    );
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(passwords.load).toBe(0);
  });

  it.each([
    [1, 4, 1],
    [2, 4, 1],
    [4, 4, 3],
    [16, 4, 3],
    [16, 32, 15],
  ])('of %i cores and %i threads takes %i and leaves one of each', (cores, threads, expected) => {
    expect(hashConcurrency(cores, threads)).toBe(expected);
  });

  it('takes one run for an unknown user too', async () => {
    const passwords = createPasswords({ concurrency: 1, maxQueued: 0 });
    const verification = passwords.verify('a password', undefined);
    expect(passwords.load).toBe(1);
    expect(await verification).toBe(false);
  });
});
