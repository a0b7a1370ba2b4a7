import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isUniqueViolation, openDatabase, pingDatabase, type Database } from '../src/index.ts';
import { roles, type Role } from '../src/migrate.ts';
import { createTestDatabase, requireEnvironment, type TestDatabase } from '../src/testing.ts';

const migrateMain = path.join(import.meta.dirname, '../src/migrate-main.ts');
let database: TestDatabase;
const open: Database[] = [];
const as = (role: Role): Database => {
  const db = openDatabase({ url: database.urlFor(role), maxConnections: 1 });
  open.push(db);
  return db;
};
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(open.map((db) => db.$disconnect()));
  await database.drop();
});

const account = { id: 'acc_1', consoleUserId: 'u1', email: 'a@example.com' };
const denied = expect.objectContaining({ message: expect.stringContaining('permission denied') });

describe('the database roles', () => {
  it('let account write its tables, and every service read projects and keys', async () => {
    await as('gatehouse_account').account.create({ data: account });
    await as('gatehouse_account').project.create({
      data: { id: 'prj_1', accountId: 'acc_1', name: 'p', publishableKey: 'k' },
    });
    for (const role of roles) {
      const db = as(role);
      expect(await db.project.count()).toBe(1);
      expect(await db.apiKey.count()).toBe(0);
    }
  });

  it.each(roles.filter((role) => role !== 'gatehouse_account'))(
    '%s cannot write what is account’s, nor see its people',
    async (role) => {
      const db = as(role);
      await expect(db.project.deleteMany()).rejects.toEqual(denied);
      await expect(db.apiKey.updateMany({ data: { revokedAt: null } })).rejects.toEqual(denied);
      await expect(db.account.findMany()).rejects.toEqual(denied);
    },
  );

  it.each(roles.filter((role) => role !== 'gatehouse_auth'))(
    '%s cannot read what is auth’s',
    async (role) => {
      const db = as(role);
      await expect(db.user.findMany()).rejects.toEqual(denied);
      await expect(db.signingKey.findMany()).rejects.toEqual(denied);
    },
  );

  it.each(roles)('%s cannot make a table', async (role) => {
    await expect(as(role).$executeRaw`CREATE TABLE public.x (id int)`).rejects.toEqual(denied);
  });
});

describe('the migration command', () => {
  const run = (environment: Record<string, string>) =>
    promisify(execFile)(process.execPath, ['--no-warnings', migrateMain], { env: environment });

  it('applies nothing twice', async () => {
    const { stdout } = await run({
      DATABASE_ADMIN_URL: database.adminUrl,
      DATABASE_ROLE_PASSWORD: requireEnvironment('TEST_DATABASE_ROLE_PASSWORD'),
    });
    expect(JSON.parse(stdout)).toEqual({ service: 'migrate', applied: [] });
  });

  it('says what it misses', async () => {
    await expect(run({})).rejects.toMatchObject({
      code: 78,
      stderr: 'config: set DATABASE_ADMIN_URL and DATABASE_ROLE_PASSWORD\n',
    });
  });
});

describe('the client', () => {
  it('knows a unique violation from other errors', async () => {
    const db = as('gatehouse_account');
    const error = await db.account.create({ data: account }).catch((reason: unknown) => reason);
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(new Error())).toBe(false);
  });

  it('rejects a ping while the server cannot be reached', async () => {
    const db = openDatabase({ url: 'postgres://nobody:x@127.0.0.1:1/none' });
    await expect(pingDatabase(db)).rejects.toThrow();
    await db.$disconnect();
  });
});
