import { Client } from 'pg';
import { applyMigrations } from './schema-engine.ts';

/** One login role per service, granted in the migrations just what that service may touch. */
export const roles = [
  'gatehouse_auth',
  'gatehouse_account',
  'gatehouse_gateway',
  'gatehouse_memory',
  'gatehouse_registry',
] as const;

export type Role = (typeof roles)[number];

export interface MigrateOptions {
  /** `postgres://` URL of the database, as a user who may create schemas and roles. */
  adminUrl: string;
  /** The password that the services' roles log in with. */
  rolePassword: string;
}

/** Brings the database up to date and lets the services' roles log in. Safe to run again. */
export async function migrateDatabase(options: MigrateOptions): Promise<{ applied: string[] }> {
  const client = new Client({ connectionString: options.adminUrl });
  await client.connect();
  try {
    for (const role of roles) await ensureRole(client, role, options.rolePassword);
  } finally {
    await client.end();
  }
  return { applied: await applyMigrations(options.adminUrl) };
}

/** The URL with which a service connects as its own role. */
export function serviceUrl(adminUrl: string, role: Role, rolePassword: string): string {
  const url = new URL(adminUrl);
  url.username = role;
  url.password = rolePassword;
  return url.href;
}

async function ensureRole(client: Client, role: Role, password: string): Promise<void> {
  // A role belongs to the whole server, so that another database's migration may have made it,
  // or may be making it right now.
  await client.query(
    `DO $$ BEGIN CREATE ROLE ${role} NOINHERIT;
     EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
  );
  await client.query(`ALTER ROLE ${role} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
}
