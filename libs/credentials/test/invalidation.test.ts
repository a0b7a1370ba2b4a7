import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase, type Database } from '@gatehouse/database';
import {
  createTestDatabase,
  requireEnvironment,
  type TestDatabase,
} from '@gatehouse/database/testing';
import { Redis } from 'ioredis';
import { createCredentials, createInvalidation, createKey, hashKey } from '../src/index.ts';

const pepper = { id: 'p1', secret: randomBytes(32) };
let database: TestDatabase;
let admin: Database;
let redis: Redis;
beforeAll(async () => {
  database = await createTestDatabase();
  admin = openDatabase({ url: database.adminUrl });
  redis = new Redis(requireEnvironment('TEST_REDIS_URL'));
  await admin.account.create({ data: { id: 'acc', consoleUserId: 'u', email: 'a@example.com' } });
});
afterAll(async () => {
  redis.disconnect();
  await admin.$disconnect();
  await database.drop();
});

async function newKey() {
  const key = createKey('live');
  const id = randomUUID();
  await admin.apiKey.create({
    data: {
      id,
      accountId: 'acc',
      name: 'k',
      hash: hashKey(key, pepper),
      pepperId: pepper.id,
      prefix: 'gh_live_',
      lastFour: 'xxxx',
      scopes: ['models'],
    },
  });
  return { id, key };
}
const revoke = (id: string) =>
  admin.apiKey.update({ where: { id }, data: { revokedAt: new Date() } });

/** One process's read side, with a count of the questions that reach its database. */
async function startProcess(prefix: string, maxAgeMs = 60_000) {
  const db = openDatabase({ url: database.urlFor('gatehouse_memory'), maxConnections: 1 });
  let queries = 0;
  const counted = db.$extends({
    query: { $allOperations: ({ args, query }) => (queries++, query(args)) },
  }) as unknown as Database;
  const clock = { ms: 1_000 };
  const connection = redis.duplicate();
  const invalidation = createInvalidation({ redis: connection, prefix, maxAgeMs });
  const peppers = [pepper];
  const now = () => clock.ms;
  const credentials = await createCredentials({
    db: counted,
    invalidation,
    peppers,
    maxAgeMs,
    now,
  });
  return {
    clock,
    invalidation,
    find: credentials.findApiKey,
    queries: () => queries,
    async stop() {
      await invalidation.close();
      connection.disconnect();
      await db.$disconnect();
    },
  };
}

describe('a looked-up key', () => {
  it('costs one query, and then none until it is too old', async () => {
    const reader = await startProcess(randomUUID(), 5_000);
    const { id, key } = await newKey();
    for (let i = 0; i < 10; i++) expect(await reader.find(key)).toMatchObject({ id });
    expect(reader.queries()).toBe(1);
    await revoke(id);
    reader.clock.ms += 5_001; // nobody announced it: the bounded fallback
    expect(await reader.find(key)).toBeUndefined();
    await reader.stop();
  });

  it('that does not exist yet works as soon as it does', async () => {
    const reader = await startProcess(randomUUID());
    const key = createKey('live');
    expect(await reader.find(key)).toBeUndefined();
    await admin.apiKey.create({
      data: {
        id: randomUUID(),
        accountId: 'acc',
        name: 'late',
        hash: hashKey(key, pepper),
        pepperId: 'p1',
        prefix: 'gh_live_',
        lastFour: 'xxxx',
        scopes: [],
      },
    });
    expect(await reader.find(key)).toBeDefined();
    await reader.stop();
  });

  it('with a wrong checksum costs no query at all', async () => {
    const reader = await startProcess(randomUUID());
    expect(await reader.find('gh_live_' + '0'.repeat(36))).toBeUndefined();
    expect(reader.queries()).toBe(0);
    await reader.stop();
  });
});

describe('an announced change', () => {
  it('is known in every process when the announcement resolves', async () => {
    const prefix = randomUUID();
    const readers = await Promise.all([1, 2, 3].map(() => startProcess(prefix)));
    for (let round = 0; round < 20; round++) {
      const { id, key } = await newKey();
      for (const { find } of readers) expect(await find(key)).toBeDefined();
      await revoke(id);
      await readers[0]!.invalidation.announce(id);
      for (const { find } of readers) expect(await find(key)).toBeUndefined();
    }
    await Promise.all(readers.map((reader) => reader.stop()));
  });

  it('that overtakes a lookup keeps its answer out of the memory', async () => {
    const prefix = randomUUID();
    const reader = await startProcess(prefix);
    const { id, key } = await newKey();
    const underWay = reader.find(key);
    await reader.invalidation.announce(id);
    await underWay;
    await revoke(id);
    expect(await reader.find(key)).toBeUndefined();
    await reader.stop();
  });

  it('waits no longer than a memory can last when a process does not confirm', async () => {
    const prefix = randomUUID();
    const reader = await startProcess(prefix, 50);
    const deaf = redis.duplicate();
    await deaf.subscribe(`${prefix}:credentials:changed`); // hears, and never confirms
    await reader.invalidation.announce('any');
    deaf.disconnect();
    await reader.stop();
  });
});

describe('a Redis that does not answer', () => {
  it('holds an announcement no longer than a memory can last', async () => {
    const connection = redis.duplicate();
    connection.publish = () => new Promise<number>(() => undefined);
    const invalidation = createInvalidation({
      redis: connection,
      prefix: randomUUID(),
      maxAgeMs: 50,
    });
    await invalidation.listen({ forget: () => undefined, forgetAll: () => undefined });
    await invalidation.announce('any');
    await invalidation.close();
    connection.disconnect();
  });
});

describe('a process that is started without Redis', () => {
  it('asks the database each time, and remembers when Redis comes', async () => {
    const url = new URL(requireEnvironment('TEST_REDIS_URL'));
    const door = createServer((near) => {
      const far = connect(Number(url.port), url.hostname);
      near.pipe(far).pipe(near);
      near.on('error', () => far.destroy());
      far.on('error', () => near.destroy());
    }).listen(0, '127.0.0.1');
    await once(door, 'listening');
    const { port } = door.address() as AddressInfo;
    await new Promise((resolve) => door.close(resolve));

    const throughDoor = Object.assign(new URL(url), { host: `127.0.0.1:${port}` });
    const connection = new Redis(throughDoor.href, {
      lazyConnect: true,
      retryStrategy: () => 20,
    });
    connection.on('error', () => undefined);
    const invalidation = createInvalidation({
      redis: connection,
      prefix: randomUUID(),
      maxAgeMs: 60_000,
    });
    const credentials = await createCredentials({
      db: admin,
      invalidation,
      peppers: [pepper],
      maxAgeMs: 60_000,
    });
    const { id, key } = await newKey();
    expect(invalidation.isListening).toBe(false);
    expect(await credentials.findApiKey(key)).toMatchObject({ id });
    await revoke(id);
    expect(await credentials.findApiKey(key)).toBeUndefined();

    await once(door.listen(port, '127.0.0.1'), 'listening');
    while (!invalidation.isListening) await new Promise(setImmediate);
    await invalidation.close();
    connection.disconnect();
    await new Promise((resolve) => door.close(resolve));
  });
});

describe('a process that has lost Redis', () => {
  it('asks the database each time, and remembers again when it is back', async () => {
    const prefix = randomUUID();
    const reader = await startProcess(prefix);
    const { id, key } = await newKey();
    await reader.find(key);
    const clients = String(await redis.client('LIST')).split('\n');
    const subscriber = clients.find((line) => line.includes(`name=${prefix}:`)) ?? '';
    await redis.client('KILL', 'ID', Number(/\bid=(\d+)/.exec(subscriber)?.[1]));
    while (reader.invalidation.isListening) await new Promise(setImmediate);
    await revoke(id);
    expect(await reader.find(key)).toBeUndefined();
    while (!reader.invalidation.isListening) await new Promise(setImmediate);
    const other = await newKey();
    await reader.find(other.key);
    const queriesBefore = reader.queries();
    await reader.find(other.key);
    expect(reader.queries()).toBe(queriesBefore);
    await reader.stop();
  });
});
