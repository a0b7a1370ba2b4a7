import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clientOf, outcome, startAuth, type Auth } from './harness.ts';

/** A line to PostgreSQL that can be cut, or go silent as a partitioned network does. */
async function startLine(target: URL) {
  const sockets = new Set<Socket>();
  const line = { isSilent: false, cut: () => sockets.forEach((socket) => socket.destroy()) };
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (bytes) => line.isSilent || other.write(bytes));
      socket.on('error', () => other.destroy());
      socket.on('close', () => (other.destroy(), sockets.delete(socket)));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(line, {
    url: url.href,
    /** No new connection either, until {@link open}. */
    async close() {
      line.cut();
      await new Promise((resolve) => server.close(resolve));
    },
    open: () => once(server.listen(Number(url.port), '127.0.0.1'), 'listening'),
  });
}

describe('while the database', () => {
  let line: Awaited<ReturnType<typeof startLine>>;
  let auth: Auth;
  let client: ReturnType<typeof clientOf>;
  let session: { access_token: string; refresh_token: string };
  beforeAll(async () => {
    auth = await startAuth({
      queryTimeoutMs: 300,
      lineTo: async (url) => (line = await startLine(new URL(url))).url,
    });
    client = clientOf(auth, await auth.createProject());
    session = (await client.signUp('a@example.com')).body;
  });
  afterAll(async () => {
    await auth.stop();
    await line.close();
  });

  const everything = () => [
    client.signUp('b@example.com'),
    client.signIn('a@example.com'),
    client.refresh(session.refresh_token),
    client.user(session.access_token),
    client.logOut(session.access_token),
  ];
  const expectUnavailable = async () => {
    for (const answer of await Promise.all(everything())) {
      expect(outcome(answer)).toEqual([503, 'unavailable']);
      expect(Object.keys(answer.body)).toEqual(['error', 'code']);
      expect(answer.headers['retry-after']).toBe('1');
    }
  };
  const expectRecovered = async () => {
    const answer = await client.refresh(session.refresh_token);
    expect(answer.status).toBe(200);
    session = answer.body;
    expect((await client.signIn('a@example.com')).status).toBe(200);
  };

  it('cannot be reached, everything that needs it is unavailable, and works again after', async () => {
    await line.close();
    await expectUnavailable();
    await line.open();
    await expectRecovered();
  });

  it('does not answer, nothing waits longer than the bound', async () => {
    line.isSilent = true;
    await expectUnavailable();
    line.isSilent = false;
    await expectRecovered();
  });

  it('loses the connection in the middle of a statement, that is not called our fault', async () => {
    line.isSilent = true;
    const answers = Promise.all(everything());
    await new Promise((resolve) => setTimeout(resolve, 100));
    line.cut();
    line.isSilent = false;
    // Those that had not begun may have found a new connection.
    for (const { status } of await answers) expect(status).not.toBe(500);
  });
});
