import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { diffSchemas, readSchema } from './schema-engine.ts';

/**
 * Writes a migration for what changed in the Prisma schema since the last commit:
 * `DATABASE_ADMIN_URL=postgres://… node libs/database/src/new-migration.ts <name>`.
 * Read the SQL before you commit it, and add the grants: a new table is invisible to every
 * service until it is granted.
 */
const [name] = process.argv.slice(2);
const url = process.env['DATABASE_ADMIN_URL'];
if (!url || !name || !/^[a-z0-9_]+$/.test(name)) {
  process.stderr.write('usage: DATABASE_ADMIN_URL=… node new-migration.ts <snake_case_name>\n');
  process.exit(64);
}
const schemaFolder = path.join(import.meta.dirname, '..', 'prisma', 'schema');
const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
const folder = path.join(schemaFolder, '..', 'migrations', `${stamp}_${name}`);
const sql = await diffSchemas(url, readCommittedSchema(), readSchema());
mkdirSync(folder, { recursive: true });
writeFileSync(path.join(folder, 'migration.sql'), sql);
process.stdout.write(`${folder}/migration.sql\n`);

function readCommittedSchema() {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: schemaFolder, encoding: 'utf8' });
  const names = git('ls-tree', '--name-only', 'HEAD', '.').split('\n').filter(Boolean);
  return names.map((name) => ({
    path: path.join(schemaFolder, name),
    content: git('show', `HEAD:./${name}`),
  }));
}
