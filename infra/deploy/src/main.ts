import { join } from 'node:path';
import { storesFrom } from './stores.ts';
import { tryOut } from './try-out.ts';

/** Builds and starts the images of docker-compose.yml without Docker: all, or of the apps named. */
const log = (line: string) => void process.stdout.write(`${line}\n`);
const stores = storesFrom(process.env);
if (!stores) log('no TEST_DATABASE_ADMIN_URL: what needs a database is built and not started');
const names = process.argv.slice(2);
const only = names.length > 0 ? names : undefined;
const report = await tryOut({ root: join(import.meta.dirname, '../../..'), stores, only, log });
log(JSON.stringify(report, undefined, 2));
const isGood =
  Object.values(report.exits).every((code) => code === 0) &&
  Object.values(report.apps).every(({ surplus }) => surplus.length === 0) &&
  (report.routerReady ?? 200) === 200;
process.exit(isGood ? 0 : 1);
