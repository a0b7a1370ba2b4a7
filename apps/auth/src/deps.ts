import type { Credentials } from '@gatehouse/credentials';
import type { Database } from '@gatehouse/database';
import type { Health } from '@gatehouse/http';
import type { AccessTokenSubject } from '@gatehouse/tokens';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Passwords } from './password.ts';
import type { RefreshTokens } from './refresh-token.ts';
import type { SigningKeys } from './signing-keys.ts';

/** What the routes stand on; made in main.ts. */
export interface Deps {
  db: Database;
  credentials: Credentials;
  passwords: Passwords;
  signingKeys: SigningKeys;
  refreshTokens: RefreshTokens;
  /** Checks the header `Authorization`; see libs/tokens. */
  verifyAccessToken(authorization: string | undefined): Promise<AccessTokenSubject>;
  /** A stable stand-in for the id of a user whom an answer must not confirm. */
  decoyUserId(projectId: string, email: string): string;
  /** Milliseconds since the epoch. */
  now(): number;
  refreshGraceMs: number;
  log: Logger;
  metrics: Registry;
  health: Health;
}
