import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createCredentials, createInvalidation, createKey } from '@gatehouse/credentials';
import { openDatabase, type Project } from '@gatehouse/database';
import { createTestDatabase, requireEnvironment } from '@gatehouse/database/testing';
import { createHealth, createLogger, createMetrics } from '@gatehouse/http';
import { createEnvelope, type KeyRing } from '@gatehouse/secrets';
import { createAccessTokenVerifier } from '@gatehouse/tokens';
import { Redis } from 'ioredis';
import supertest from 'supertest';
import { createApp } from '../src/app.ts';
import { createDecoyUserId } from '../src/decoy-user-id.ts';
import { createPasswords, type PasswordOptions } from '../src/password.ts';
import { createRefreshTokens } from '../src/refresh-token.ts';
import { createSigningKeys } from '../src/signing-keys.ts';

export const strongPassword = 'correct horse battery staple';

export interface AuthOptions {
  passwords?: PasswordOptions;
  queryTimeoutMs?: number;
  /** Puts something between the service and its database; resolves with the URL to take instead. */
  lineTo?(url: string): Promise<string>;
}

/** The auth service on a database of its own, with a clock that the test moves. */
export async function startAuth(options: AuthOptions = {}) {
  const database = await createTestDatabase();
  const directUrl = database.urlFor('gatehouse_auth');
  const db = openDatabase({
    url: (await options.lineTo?.(directUrl)) ?? directUrl,
    ...(options.queryTimeoutMs && { queryTimeoutMs: options.queryTimeoutMs }),
  });
  const admin = openDatabase({ url: database.adminUrl, maxConnections: 2 });
  const redis = new Redis(requireEnvironment('TEST_REDIS_URL'));
  const clock = { ms: Date.parse('2026-06-01T12:00:00Z') };
  const now = () => clock.ms;
  const ring: KeyRing = [{ id: 'k1', secret: randomBytes(32) }];
  const invalidation = createInvalidation({ redis, prefix: randomUUID(), maxAgeMs: 5_000 });
  const envelope = createEnvelope(ring);
  const signingKeys = createSigningKeys({ db, envelope, now });
  const logLines: string[] = [];
  const passwords = createPasswords(options.passwords ?? { concurrency: 1, maxQueued: 1_000 });
  const app = createApp({
    db,
    credentials: await createCredentials({ db, invalidation, maxAgeMs: 5_000 }),
    passwords,
    signingKeys,
    refreshTokens: createRefreshTokens(ring),
    verifyAccessToken: createAccessTokenVerifier({ getKey: signingKeys.getKey, now }),
    decoyUserId: createDecoyUserId(ring),
    now,
    refreshGraceMs: 10_000,
    log: createLogger('auth', { destination: { write: (line) => void logLines.push(line) } }),
    metrics: createMetrics('auth'),
    health: createHealth(),
  });
  const server = createServer(app).listen(0, '127.0.0.1');

  return {
    db,
    admin,
    clock,
    logLines,
    signingKeys,
    passwords,
    signingKeysOfOtherProcess: () => createSigningKeys({ db, envelope, now }),
    agent: supertest(server),
    /** A project with the given settings, as the account service would write it. */
    createProject: (settings: Partial<Project> = {}) =>
      admin.project.create({
        data: {
          id: `prj_${randomBytes(8).toString('hex')}`,
          name: 'Test',
          publishableKey: createKey('pub'),
          ...settings,
        },
      }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await invalidation.close();
      redis.disconnect();
      await Promise.all([db.$disconnect(), admin.$disconnect()]);
      await database.drop();
    },
  };
}

export type Auth = Awaited<ReturnType<typeof startAuth>>;

export const prefix = '/api/v1/auth';

/** The calls of an application's client, with the project's publishable key. */
export function clientOf({ agent }: Auth, { publishableKey }: { publishableKey: string }) {
  const post = (path: string, body: object) =>
    agent
      .post(prefix + path)
      .set('apikey', publishableKey)
      .send(body);
  return {
    post,
    get: (path: string) => agent.get(prefix + path).set('apikey', publishableKey),
    signUp: (email: string, password = strongPassword, more = {}) =>
      post('/signup', { email, password, ...more }),
    signIn: (email: string, password = strongPassword) =>
      post('/token?grant_type=password', { email, password }),
    refresh: (refreshToken: string) =>
      post('/token?grant_type=refresh_token', { refresh_token: refreshToken }),
    user: (accessToken: string) =>
      agent.get(`${prefix}/user`).set('Authorization', `Bearer ${accessToken}`),
    logOut: (accessToken: string, query = '') =>
      agent.post(`${prefix}/logout${query}`).set('Authorization', `Bearer ${accessToken}`),
  };
}

/** Status and code of an answer, as a pair to compare. */
export const outcome = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body.code,
];
