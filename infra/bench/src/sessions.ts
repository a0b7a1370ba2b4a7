import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { compare, row, type Bench, type Load } from './load.ts';
import { signUp } from './sign-up.ts';

/** The calls of project authentication, at the door; sign-in beside the bare hash. */
export async function benchSessions(house: Bench): Promise<string[]> {
  const apikey = house.publishable_key;
  const { email, password, session } = await signUp(house);
  const base = `${house.base_url}/api/v1/auth`;
  const loads: Load[] = [
    { name: 'settings', method: 'GET', url: `${base}/settings`, headers: { apikey } },
    { name: 'JWKS', method: 'GET', url: `${base}/.well-known/jwks.json`, headers: { apikey } },
    {
      name: 'user',
      method: 'GET',
      url: `${base}/user`,
      headers: { authorization: `Bearer ${session.access_token}` },
    },
    {
      // Within the grace the same successor is given again: a read and a signature.
      name: 'refresh, repeated within the grace',
      url: `${base}/token?grant_type=refresh_token`,
      headers: { apikey },
      body: { refresh_token: session.refresh_token },
    },
    {
      name: 'sign-in',
      url: `${base}/token?grant_type=password`,
      headers: { apikey },
      body: { email, password },
    },
  ];
  const figures = await compare(loads.slice(0, 3), 16);
  const refresh = await compare(loads.slice(3, 4), 16);
  const hashesPerSecond = await measureHashes();
  const signIn = await compare(loads.slice(4), 8);
  const rows = [...figures, ...refresh, ...signIn].map(({ perSecond, p50Ms, p99Ms, refused }, i) =>
    row(`  ${loads[i]!.name}`, Math.round(perSecond), p50Ms, p99Ms, refused),
  );
  const ratio = (signIn[0]!.perSecond / hashesPerSecond).toFixed(2);
  return [
    row('project authentication', 'req/s', 'p50 ms', 'p99 ms', 'not 2xx'),
    ...rows,
    row('  argon2id alone, one at a time', Math.round(hashesPerSecond)),
    `  sign-ins are ${ratio} of the hashes that one core computes`,
  ];
}

/** Hashes per second of one core, with the parameters that sign-in has. */
async function measureHashes(): Promise<number> {
  const hash = promisify(argon2);
  const options = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
  const count = 200;
  const startedAt = performance.now();
  for (let i = 0; i < count; i++) {
    await hash('argon2id', { ...options, message: 'a good password', nonce: randomBytes(16) });
  }
  return count / ((performance.now() - startedAt) / 1000);
}
