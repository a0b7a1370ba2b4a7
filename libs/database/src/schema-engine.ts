import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import type { Pool } from 'pg';

/**
 * The fence around Prisma's schema engine as WebAssembly. The `prisma migrate` command would
 * download a native engine first; this one comes with the packages and works offline. It applies
 * and records migrations as `prisma migrate deploy` does (table `_prisma_migrations`).
 */
const prismaFolder = path.join(import.meta.dirname, '..', 'prisma');
const filters = { externalTables: [], externalEnums: [] };

/** Applies the migrations that the database does not have yet. @returns their names */
export const applyMigrations = (url: string): Promise<string[]> =>
  withEngine(url, async (engine) => {
    const output = await engine.applyMigrations({ migrationsList: readMigrations(), filters });
    return output.appliedMigrationNames;
  });

/** A Prisma schema as the engine takes it: one entry per file. */
export type SchemaFiles = { path: string; content: string }[];

/** The SQL that leads from one Prisma schema to another. The URL is of any database. */
export const diffSchemas = (url: string, from: SchemaFiles, to: SchemaFiles): Promise<string> =>
  withEngine(url, async (engine) => {
    const { stdout } = await engine.diff({
      from: from.length > 0 ? { tag: 'schemaDatamodel', files: from } : { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files: to },
      script: true,
      exitCode: null,
      filters,
    });
    return stdout ?? '';
  });

async function withEngine<T>(url: string, use: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const pools: Pool[] = [];
  const datamodels = readSchema().map(({ path, content }): [string, string] => [path, content]);
  const adapter = bindMigrationAwareSqlAdapterFactory(new WholeScriptAdapter(url, pools));
  const engine = await SchemaEngine.new({ datamodels }, () => undefined, adapter);
  try {
    return await use(engine);
  } finally {
    engine.free();
    await Promise.all(pools.map((pool) => pool.end()));
  }
}

/**
 * Prisma's adapter cuts a script at each semicolon, also within a function's body or a comment.
 * This one sends it whole, by which PostgreSQL also makes it one transaction: a migration is
 * applied, or it is not.
 */
class WholeScriptAdapter extends PrismaPg {
  readonly #pools: Pool[];

  constructor(url: string, pools: Pool[]) {
    super({ connectionString: url, max: 1 });
    this.#pools = pools;
  }

  override async connect() {
    const connection = await super.connect();
    const pool = connection.underlyingDriver();
    this.#pools.push(pool);
    connection.executeScript = async (script) => void (await pool.query(script));
    return connection;
  }
}

/** The Prisma schema in the working tree. */
export function readSchema(): SchemaFiles {
  const folder = path.join(prismaFolder, 'schema');
  return readdirSync(folder).map((name) => ({
    path: path.join(folder, name),
    content: readFileSync(path.join(folder, name), 'utf8'),
  }));
}

function readMigrations() {
  const baseDir = path.join(prismaFolder, 'migrations');
  const names = readdirSync(baseDir).sort();
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: names.map((name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: {
          tag: 'ok' as const,
          value: readFileSync(path.join(baseDir, name, 'migration.sql'), 'utf8'),
        },
      },
    })),
  };
}
