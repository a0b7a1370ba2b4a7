import { row, type Bench } from './load.ts';
import { signUp } from './sign-up.ts';

const rounds = 5;
const signIns = 200;

/** What two hundred sign-ins at once do to somebody who reads `/user` meanwhile. */
export async function benchFlood(house: Bench): Promise<string[]> {
  const { email, password, session } = await signUp(house);
  const base = `${house.base_url}/api/v1/auth`;
  const signIn = async () => {
    const answer = await fetch(`${base}/token?grant_type=password`, {
      method: 'POST',
      headers: { apikey: house.publishable_key, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const readUser = async () => {
    const startedAt = performance.now();
    const answer = await fetch(`${base}/user`, {
      headers: { authorization: `Bearer ${session.access_token}` },
    });
    await answer.arrayBuffer();
    return performance.now() - startedAt;
  };

  const idle: number[] = [];
  for (let i = 0; i < 200; i++) idle.push(await readUser());
  const meanwhile: number[] = [];
  const statuses: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const flood = Promise.all(Array.from({ length: signIns }, signIn));
    let isOver = false;
    void flood.then(() => (isOver = true));
    while (!isOver) meanwhile.push(await readUser());
    statuses.push(...(await flood));
  }
  const count = (status: number) => statuses.filter((each) => each === status).length / rounds;
  return [
    row('200 sign-ins at once', 'p50 ms', 'p95 ms', 'max ms'),
    row('  user, idle', ...percentiles(idle)),
    row('  user, meanwhile', ...percentiles(meanwhile)),
    `  of 200 sign-ins ${count(200)} were served and ${count(503)} told to come back`,
  ];
}

function percentiles(times: number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b);
  return [0.5, 0.95, 1].map((share) => {
    const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
    return (sorted[at] ?? NaN).toFixed(1);
  });
}
