import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Supervisor } from './supervisor.ts';

/**
 * Writes the Prisma client where it does not fit the schema any more. Compared by content, because
 * a checkout sets times as it likes. Resolves with whether there was something to do.
 */
export async function generateClient(supervisor: Supervisor, root: string, path: string) {
  const lib = join(root, 'libs/database');
  const marker = join(lib, 'src/generated/.schema-hash');
  const hash = hashOf(root, join(lib, 'prisma/schema'));
  if (read(marker) === hash) return false;
  await supervisor.run({
    name: 'prisma-generate',
    command: process.execPath,
    args: [join(root, 'node_modules/prisma/build/index.js'), 'generate'],
    env: {
      PATH: path,
      // Generating needs no engine; that an executable is named stops the download of one.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
    cwd: lib,
    stage: 'tools',
  });
  writeFileSync(marker, hash);
  return true;
}

function hashOf(root: string, schemaFolder: string): string {
  const hash = createHash('sha256');
  hash.update(read(join(root, 'node_modules/prisma/package.json')) ?? '');
  const files = readdirSync(schemaFolder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.prisma')).sort()) {
    hash.update(`${file}\0${read(join(schemaFolder, file))}\0`);
  }
  return hash.digest('hex');
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
