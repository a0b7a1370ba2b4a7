import { renameSync, writeFileSync } from 'node:fs';

/** For the owner only, and never half written. */
export function writeJson(path: string, value: unknown): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}
