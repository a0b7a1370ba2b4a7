import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';

export const root = join(import.meta.dirname, '../../..');
export const apps = readdirSync(join(root, 'apps')).sort();

/** What runs: every app, and the worker of auth with the environment that it reads. */
export const processes = [
  ...apps.map((app) => ({ name: app, app, schema: 'environment' })),
  { name: 'auth-worker', app: 'auth', schema: 'storeEnvironment' },
];

/**
 * The environment that a process reads, from the app's own config.ts. Loaded by its path: infra
 * stands on no app, and only looks whether the deployment fits.
 */
export async function environmentSchema(app: string, name: string): Promise<z.ZodObject> {
  const url = pathToFileURL(join(root, 'apps', app, 'src/config.ts')).href;
  const config = (await import(url)) as Record<string, z.ZodObject>;
  const schema = config[name];
  if (!schema) throw new Error(`apps/${app}/src/config.ts exports no ${name}`);
  return schema;
}

/** The keys that are missing, wrong, or set and not read. */
export function misfits(schema: z.ZodObject, environment: Record<string, string>): string[] {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const issues = schema.safeParse(set).error?.issues ?? [];
  const unread = Object.keys(environment).filter((key) => !(key in schema.shape));
  return [
    ...issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`),
    ...unread.map((key) => `${key}: is set and not read`),
  ];
}
