import { randomUUID } from 'node:crypto';
import type { Bench } from './load.ts';

/** A new end user and the session of its sign-up. */
export async function signUp(house: Bench) {
  const email = `${randomUUID()}@example.com`;
  const password = 'a good password';
  const answer = await fetch(`${house.base_url}/api/v1/auth/signup`, {
    method: 'POST',
    headers: { apikey: house.publishable_key, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (!answer.ok) throw new Error(`sign-up answered ${answer.status}`);
  const session = (await answer.json()) as { access_token: string; refresh_token: string };
  return { email, password, session };
}
