import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { createCredentials, createInvalidation, createKey, hashKey } from '@gatehouse/credentials';
import { openDatabase } from '@gatehouse/database';
import { createTestDatabase, requireEnvironment } from '@gatehouse/database/testing';
import { createHealth, createHttpServer, createLogger, createMetrics } from '@gatehouse/http';
import { Redis } from 'ioredis';
import OpenAI from 'openai';
import { createApp } from '../src/app.ts';
import { createLimit } from '../src/limit.ts';
import type { Timeouts } from '../src/relay.ts';
import { createUpstreamMetrics } from '../src/upstream-metrics.ts';
import { createUpstream } from '../src/upstream.ts';
import { startSandbox } from './sandbox.ts';

export interface GatewayOptions {
  timeouts?: Partial<Timeouts>;
  connections?: number;
  maxBufferedBytes?: number;
  /** In place of the sandbox vendor's address. */
  vendorUrl?: string;
  /** In place of the credential that the sandbox vendor accepts. */
  vendorKey?: string;
  hasVendors?: boolean;
  /** Runs before each key is looked up. */
  beforeLookup?: () => Promise<void>;
}

/** Database, Redis and a sandbox vendor, and as many gateways in front of it as a test needs. */
export async function startHouse() {
  const vendorKey = `sandbox-${randomBytes(12).toString('hex')}`;
  const [database, sandbox] = await Promise.all([createTestDatabase(), startSandbox(vendorKey)]);
  const db = openDatabase({ url: database.urlFor('gatehouse_gateway') });
  const admin = openDatabase({ url: database.adminUrl, maxConnections: 2 });
  const redis = new Redis(requireEnvironment('TEST_REDIS_URL'));
  const pepper = { id: 'p1', secret: randomBytes(32) };
  const prefix = randomUUID();
  const newInvalidation = () => createInvalidation({ redis, prefix, maxAgeMs: 5_000 });
  const logLines: string[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  await admin.account.create({
    data: { id: 'acc_1', consoleUserId: randomUUID(), email: 'owner@example.com' },
  });

  return {
    sandbox,
    vendorKey,
    logLines,
    admin,
    /** A new account API key. */
    async createKey(options: { scopes?: string[]; expiresAt?: Date; revokedAt?: Date } = {}) {
      const key = createKey('live');
      const id = `key_${randomBytes(8).toString('hex')}`;
      await admin.apiKey.create({
        data: {
          id,
          accountId: 'acc_1',
          name: 'Test',
          hash: hashKey(key, pepper),
          pepperId: pepper.id,
          prefix: key.slice(0, 12),
          lastFour: key.slice(-4),
          scopes: ['models'],
          ...options,
        },
      });
      return { id, key };
    },
    /** What the account service does when a key is deleted, in a process of its own. */
    async revokeKey(id: string) {
      const invalidation = newInvalidation();
      await invalidation.listen({ forget: () => undefined, forgetAll: () => undefined });
      await admin.apiKey.update({ where: { id }, data: { revokedAt: new Date() } });
      await invalidation.announce(id);
      await invalidation.close();
    },
    async startGateway(options: GatewayOptions = {}) {
      const invalidation = newInvalidation();
      const metrics = createMetrics('model-gateway');
      const health = createHealth();
      const upstream = (path: string) =>
        createUpstream({
          baseUrl: (options.vendorUrl ?? sandbox.url) + path,
          credential: options.vendorKey ?? vendorKey,
          connections: options.connections ?? 64,
          connectTimeoutMs: 2_000,
        });
      const upstreams =
        options.hasVendors === false ? {} : { openai: upstream('/v1'), anthropic: upstream('') };
      const credentials = await createCredentials({
        db,
        invalidation,
        peppers: [pepper],
        maxAgeMs: 5_000,
      });
      const app = createApp({
        credentials: {
          ...credentials,
          async findApiKey(key) {
            await options.beforeLookup?.();
            return credentials.findApiKey(key);
          },
        },
        upstreams,
        upstreamMetrics: createUpstreamMetrics(metrics, upstreams),
        timeouts: { firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000, ...options.timeouts },
        bodyBytes: createLimit(options.maxBufferedBytes ?? 128 * 1024 * 1024),
        log: createLogger('model-gateway', {
          destination: { write: (line) => void logLines.push(line) },
        }),
        metrics,
        health,
      });
      const server = createHttpServer(app);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      stops.push(async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        await Promise.all(Object.values(upstreams).map(({ pool }) => pool.destroy()));
        await invalidation.close();
      });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return { url, metrics, health };
    },
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
      redis.disconnect();
      await Promise.all([db.$disconnect(), admin.$disconnect(), sandbox.stop()]);
      await database.drop();
    },
  };
}

/** The vendors' own clients, with nothing but the address and the key set. */
export const openaiClient = (url: string, apiKey: string, base = '/v1', maxRetries = 0) =>
  new OpenAI({ apiKey, baseURL: url + base, maxRetries });

export const anthropicClient = (url: string, apiKey: string, maxRetries = 0) =>
  new Anthropic({ apiKey, baseURL: `${url}/compat-b`, maxRetries });

/** Both dialects by their paths, each with a small good request. */
export const dialects = {
  chat_completions: {
    path: '/v1/chat/completions',
    vendorPath: '/v1/chat/completions',
    headers: {} as Record<string, string>,
    body: (tag: string, more: object = {}) => ({
      model: 'sandbox-chat',
      messages: [{ role: 'user', content: 'Hello, gateway.' }],
      user: tag,
      ...more,
    }),
  },
  messages: {
    path: '/compat-b/v1/messages',
    vendorPath: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' } as Record<string, string>,
    body: (tag: string, more: object = {}) => ({
      model: 'sandbox-messages',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hello, gateway.' }],
      metadata: { user_id: tag },
      ...more,
    }),
  },
};

export type DialectName = keyof typeof dialects;
export const dialectNames = Object.keys(dialects) as DialectName[];

/** A POST of raw bytes; `headers` win over the usual ones. */
export const post = (
  url: string,
  dialect: DialectName,
  key: string,
  body: string | Uint8Array<ArrayBuffer> | object,
  headers: Record<string, string> = {},
) =>
  fetch(url + dialects[dialect].path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': key,
      ...dialects[dialect].headers,
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });

/** Status and code of an error of ours; checks that the header says the code, too. */
export async function outcome(answer: Response): Promise<[number, string]> {
  const { code } = (await answer.json()) as { code: string };
  if (answer.headers.get('x-gatehouse-code') !== code) throw new Error('x-gatehouse-code differs');
  return [answer.status, code];
}
