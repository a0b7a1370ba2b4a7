import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { migrateDatabase, serviceUrl, type MigrateOptions, type Role } from './migrate.ts';

const template = 'gatehouse_test_template';

/** Makes the migrated database that {@link createTestDatabase} copies. Once per test run. */
export async function prepareTestTemplate({ adminUrl, rolePassword }: MigrateOptions) {
  await withAdmin(adminUrl, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${template}`);
  });
  await migrateDatabase({ adminUrl: databaseUrl(adminUrl, template), rolePassword });
}

export interface TestDatabase {
  /** The URL with which the given service connects, as in production. */
  urlFor(role: Role): string;
  /** For a test that has to see or change what no service may. */
  adminUrl: string;
  drop(): Promise<void>;
}

/**
 * An empty, migrated database of its own for one test file. `npm test` sets the environment that
 * this reads: `TEST_DATABASE_ADMIN_URL` and `TEST_DATABASE_ROLE_PASSWORD`.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = requireEnvironment('TEST_DATABASE_ADMIN_URL');
  const rolePassword = requireEnvironment('TEST_DATABASE_ROLE_PASSWORD');
  const name = `gatehouse_test_${randomBytes(6).toString('hex')}`;
  await withAdmin(serverUrl, async (client) => {
    // Two copies of one template may not be made at the same instant.
    await client.query('SELECT pg_advisory_lock(7103)');
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  });
  const adminUrl = databaseUrl(serverUrl, name);
  return {
    adminUrl,
    urlFor: (role) => serviceUrl(adminUrl, role, rolePassword),
    drop: () =>
      withAdmin(serverUrl, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }),
  };
}

/** The value of a variable that `npm test` sets; says how to run the tests where it is missing. */
export function requireEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with "npm test -- <project>"`);
  return value;
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withAdmin(url: string, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
