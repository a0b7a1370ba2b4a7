import { randomUUID } from 'node:crypto';
import { readApiKey } from '@gatehouse/credentials';
import { ApiError } from '@gatehouse/http';
import type { Request } from 'express';
import type { Deps } from './deps.ts';
import { keyModes, scopes, type KeyMode, type Scope } from './scopes.ts';

/** Whose account a request manages, and what it may hand on to new keys. */
export interface Caller {
  accountId: string;
  scopes: readonly Scope[];
  modes: readonly KeyMode[];
  /** When the caller's own credential ends; null where it does not. */
  expiresAt: Date | null;
}

/** The codes of {@link callerOf}. */
export const callerErrors = [
  'invalid_api_key',
  'conflicting_credentials',
  'insufficient_scope',
  'access_token_invalid',
  'access_token_expired',
  'session_not_found',
] as const;

/**
 * The caller by an API key with the scope `account`, or by a console access token. The first call
 * of a new console user makes the account.
 *
 * @throws {ApiError} `invalid_api_key`, `conflicting_credentials`, `insufficient_scope`, and what
 *   is wrong with an access token
 */
export async function callerOf(deps: Deps, request: Request): Promise<Caller> {
  const credential = readApiKey(request.headers);
  // A JSON Web Token has dots; an API key has none.
  if (credential.includes('.')) return accountOfConsoleUser(deps, credential, request.id);
  const grant = await deps.credentials.findApiKey(credential);
  if (!grant) throw new ApiError('invalid_api_key');
  if (!grant.scopes.includes('account')) throw new ApiError('insufficient_scope');
  return {
    accountId: grant.accountId,
    scopes: grant.scopes as Scope[],
    modes: grant.kind === 'live' ? keyModes : ['test'],
    expiresAt: grant.expiresAt,
  };
}

async function accountOfConsoleUser(
  { db, consoleUsers }: Deps,
  accessToken: string,
  requestId: string,
): Promise<Caller> {
  const user = await consoleUsers.find(accessToken, requestId);
  const account = await db.account.upsert({
    where: { consoleUserId: user.id },
    create: {
      id: `acc_${randomUUID().replaceAll('-', '')}`,
      consoleUserId: user.id,
      email: user.email,
    },
    update: { email: user.email },
    select: { id: true },
  });
  return { accountId: account.id, scopes, modes: keyModes, expiresAt: null };
}
