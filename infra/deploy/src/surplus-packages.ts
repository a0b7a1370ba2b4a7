import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  /** Of a link to a workspace: its folder. */
  resolved?: string;
  link?: true;
}

/**
 * The packages of a tree, as the lock file of the root names them, that the app does not reach
 * over dependencies. `npm ci --omit=dev` leaves out what no workspace at all needs in production,
 * so that a dependency of one may come along with another that lists it for development.
 */
export function surplusPackages(tree: string, app: string, root: string): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const reached = new Set<string>();
  const visit = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    const locked = lock.packages[path] ?? {};
    if (locked.link && locked.resolved) visit(locked.resolved);
    for (const name of needs(locked)) {
      const place = resolvePackage(name, path, lock.packages);
      if (place) visit(place);
    }
  };
  visit(`apps/${app}`);
  return Object.keys(lock.packages)
    .filter((path) => path.includes('node_modules/') && existsSync(join(tree, path)))
    .filter((path) => !reached.has(path) && path !== `node_modules/@gatehouse/${app}`);
}

const needs = ({ dependencies, peerDependencies, peerDependenciesMeta }: Locked): string[] => [
  ...Object.keys(dependencies ?? {}),
  ...Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional),
];

/** As Node looks for it: in the package's own folder, then in each one above. */
function resolvePackage(
  name: string,
  from: string,
  packages: Record<string, Locked>,
): string | undefined {
  const parts = from.split('/');
  for (let length = parts.length; length >= 0; length--) {
    const place = [...parts.slice(0, length), 'node_modules', name].join('/');
    if (packages[place]) return place;
  }
  return undefined;
}
