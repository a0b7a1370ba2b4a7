import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCredentials, createInvalidation, createKey } from '@gatehouse/credentials';
import { openDatabase } from '@gatehouse/database';
import { createTestDatabase, requireEnvironment } from '@gatehouse/database/testing';
import { createHealth, createLogger, createMetrics } from '@gatehouse/http';
import { Redis } from 'ioredis';
import supertest from 'supertest';
import { createApp } from '../src/app.ts';
import { ensureConsoleProject } from '../src/console-project.ts';
import { createConsoleUsers } from '../src/console-users.ts';

/** The account service on a database of its own. */
export async function startAccount() {
  const database = await createTestDatabase();
  const db = openDatabase({ url: database.urlFor('gatehouse_account') });
  const redis = new Redis(requireEnvironment('TEST_REDIS_URL'));
  const prefix = randomUUID();
  const maxAgeMs = 60_000; // so long that only an announcement can make a cache forget
  const invalidation = createInvalidation({ redis, prefix, maxAgeMs });
  const peppers = [{ id: 'p1', secret: randomBytes(32) }] as const;
  const publishableKey = createKey('pub');
  const auth = await standInForAuth(publishableKey);
  const clock = { ms: Date.parse('2026-06-01T12:00:00Z') };
  const now = () => clock.ms;
  const credentials = await createCredentials({ db, invalidation, peppers, maxAgeMs, now });
  await ensureConsoleProject({ db, invalidation }, publishableKey);
  const app = createApp({
    db,
    credentials,
    invalidation,
    consoleUsers: createConsoleUsers({ authUrl: auth.url, publishableKey }),
    pepper: peppers[0],
    now,
    log: createLogger('account', { level: 'silent' }),
    metrics: createMetrics('account'),
    health: createHealth(),
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  const agent = supertest(server);
  const closers: (() => Promise<unknown>)[] = [];

  return {
    db,
    clock,
    auth,
    agent,
    /** Another process's read side: its own cache and its own ear for changes. */
    async otherProcess() {
      const ear = createInvalidation({ redis, prefix, maxAgeMs });
      const reader = openDatabase({ url: database.urlFor('gatehouse_gateway'), maxConnections: 1 });
      closers.push(
        () => ear.close(),
        () => reader.$disconnect(),
      );
      return createCredentials({ db: reader, invalidation: ear, peppers, maxAgeMs, now });
    },
    /** Calls with a credential in the header that it belongs in. */
    as: (credential: string) => {
      const header = { Authorization: `Bearer ${credential}` };
      return {
        get: (path: string) => agent.get(`/api/user${path}`).set(header),
        post: (path: string, body: object) => agent.post(`/api/user${path}`).set(header).send(body),
        delete: (path: string) => agent.delete(`/api/user${path}`).set(header),
      };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await auth.stop();
      for (const close of closers) await close();
      await invalidation.close();
      redis.disconnect();
      await db.$disconnect();
      await database.drop();
    },
  };
}

export type Account = Awaited<ReturnType<typeof startAccount>>;

/** Answers `GET /api/v1/auth/user` as the auth service does; the real one is in the e2e tests. */
async function standInForAuth(publishableKey: string) {
  const users = new Map<string, { id: string; email: string }>();
  const server = createServer((request, response) => {
    const user = users.get(request.headers.authorization?.slice('Bearer '.length) ?? '');
    const isConsole = request.headers['apikey'] === publishableKey;
    const isFound = user && isConsole && request.url === '/api/v1/auth/user';
    response.writeHead(isFound ? 200 : 401, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(isFound ? user : { error: 'ended', code: 'session_not_found' }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** A console access token for a new user. */
    signUp(email = `${randomUUID()}@example.com`) {
      const token = `e.${randomUUID()}.s`;
      users.set(token, { id: randomUUID(), email });
      return token;
    },
    logOut: (token: string) => users.delete(token),
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** Status and code of an answer, as a pair to compare. */
export const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body.code,
];
