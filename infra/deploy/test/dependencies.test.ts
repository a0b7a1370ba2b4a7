import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { contextFiles } from '../src/build-image.ts';
import { root } from './app-config.ts';

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;

/** `@scope/name/path` and `name/path` without the path. */
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function importedPackages(source: string): string[] {
  const statements = source.matchAll(
    /^(?:import|export)\s(?!type\s)(?:[^'";]*?from\s+)?'([^'.][^']*)'/gm,
  );
  return [...statements]
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => !specifier.startsWith('node:') && !builtinModules.includes(specifier))
    .map(packageOf);
}

/**
 * In a checkout everything is installed, so that an import which its package.json does not list
 * works there, and fails in the image, where only what is listed is.
 */
it('apps and libs list what they import', () => {
  const sources = contextFiles(root).filter((file) =>
    /^(apps|libs)\/[^/]+\/src\/.*\.ts$/.test(file),
  );
  expect(sources.length).toBeGreaterThan(20);
  const unlisted = sources.flatMap((file) => {
    const { name, dependencies = {} } = manifestOf(file.split('/').slice(0, 2).join('/'));
    return importedPackages(readFileSync(join(root, file), 'utf8'))
      .filter((imported) => imported !== name && !(imported in dependencies))
      .map((imported) => `${file}: ${imported}`);
  });
  expect(unlisted).toEqual([]);
});
