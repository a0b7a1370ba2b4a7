import type { Credentials, Invalidation, Pepper } from '@gatehouse/credentials';
import type { Database } from '@gatehouse/database';
import type { Health } from '@gatehouse/http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ConsoleUsers } from './console-users.ts';

/** What the routes stand on; made in main.ts. */
export interface Deps {
  db: Database;
  credentials: Credentials;
  invalidation: Invalidation;
  consoleUsers: ConsoleUsers;
  /** Hashes new API keys. */
  pepper: Pepper;
  /** Milliseconds since the epoch. */
  now(): number;
  log: Logger;
  metrics: Registry;
  health: Health;
}
