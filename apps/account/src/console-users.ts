import { ApiError } from '@gatehouse/http';
import { z } from 'zod';

/** Someone who has signed in to the console project. */
export interface ConsoleUser {
  id: string;
  email: string;
}

export interface ConsoleUsers {
  /**
   * The user of a console access token, as the auth service sees it right now.
   * @throws {ApiError} what the auth service refused it with, or `unavailable`
   */
  find(accessToken: string, requestId: string): Promise<ConsoleUser>;
}

const userAnswer = z.object({ id: z.uuid(), email: z.email() });
const refusals = ['access_token_invalid', 'access_token_expired', 'session_not_found'] as const;
const refusalAnswer = z.object({ code: z.enum(refusals).catch('access_token_invalid') });

export interface ConsoleUsersOptions {
  /** Base URL of the auth service. */
  authUrl: string;
  /** The console project's: the auth service then accepts no other project's tokens. */
  publishableKey: string;
  timeoutMs?: number;
}

/**
 * Asks the auth service on each call, so that a console session that was ended opens nothing any
 * more. Managing an account is rare enough to afford it.
 */
export function createConsoleUsers(options: ConsoleUsersOptions): ConsoleUsers {
  const url = new URL('/api/v1/auth/user', options.authUrl);
  return {
    async find(accessToken, requestId) {
      let answer: Response;
      try {
        answer = await fetch(url, {
          headers: {
            authorization: `Bearer ${accessToken}`,
            apikey: options.publishableKey,
            'x-request-id': requestId,
          },
          redirect: 'error',
          signal: AbortSignal.timeout(options.timeoutMs ?? 3_000),
        });
        if (answer.ok) return userAnswer.parse(await answer.json());
        if (answer.status === 401) {
          const { code } = refusalAnswer.parse(await answer.json());
          throw new ApiError(code, {
            headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
          });
        }
      } catch (cause) {
        if (cause instanceof ApiError) throw cause;
        throw new ApiError('unavailable', { cause });
      }
      throw new ApiError('unavailable', { cause: new Error(`auth answered ${answer.status}`) });
    },
  };
}
