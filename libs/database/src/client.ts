import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { LRUCache } from 'lru-cache';
import { Prisma, PrismaClient } from './generated/client.ts';

export type Database = PrismaClient;

export interface DatabaseOptions {
  /** `postgres://` URL, with the role of the service. */
  url: string;
  /** Connections at most. Default 10. */
  maxConnections?: number;
  /** How long a request waits for a free connection before it fails. Default 5,000 ms. */
  connectTimeoutMs?: number;
  /**
   * How long a statement may take before it fails and its connection is given up, so that a
   * database that has stopped answering holds no request. Default 5,000 ms.
   */
  queryTimeoutMs?: number;
}

/** Opens the database. Connections are made on first use and kept. */
export function openDatabase(options: DatabaseOptions): Database {
  const adapter = new PrismaPg(
    {
      connectionString: options.url,
      max: options.maxConnections ?? 10,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      query_timeout: options.queryTimeoutMs ?? 5_000,
    },
    { statementNameGenerator: createStatementNames() },
  );
  return new PrismaClient({ adapter });
}

/** Rejects while the database cannot be reached. For a readiness check. */
export const pingDatabase = (db: Database): Promise<unknown> => db.$queryRaw`SELECT 1`;

/** Whether the error says that a unique constraint was violated. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';

/** Whether the error says that the row to be changed is not there, or no longer as it must be. */
export const isMissingRow = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2025';

/**
 * Names for prepared statements, so that PostgreSQL parses and plans each statement once per
 * connection. The same text always has the same name.
 */
function createStatementNames() {
  const names = new LRUCache<string, string>({ max: 500 });
  return ({ sql }: { sql: string }): string => {
    const known = names.get(sql);
    if (known) return known;
    const name = createHash('sha256').update(sql).digest('base64url').slice(0, 24);
    names.set(sql, name);
    return name;
  };
}
