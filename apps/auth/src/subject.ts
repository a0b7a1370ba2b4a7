import { ApiError } from '@gatehouse/http';
import type { AccessTokenSubject } from '@gatehouse/tokens';
import type { Request } from 'express';
import type { Deps } from './deps.ts';
import { projectOf } from './project.ts';

/** The codes of {@link subjectOf}, and of a session that has ended. */
export const subjectErrors = [
  'access_token_required',
  'access_token_invalid',
  'access_token_expired',
  'invalid_publishable_key',
  'session_not_found',
] as const;

/**
 * Whom the request's access token was made for. Where the request also names a project by its
 * publishable key, the token must be one of that project's: so a caller that serves one project
 * needs no check of its own.
 *
 * @throws {ApiError} `access_token_required`, `access_token_invalid`, `access_token_expired`,
 *   `invalid_publishable_key`
 */
export async function subjectOf(deps: Deps, request: Request): Promise<AccessTokenSubject> {
  const subject = await deps.verifyAccessToken(request.header('authorization'));
  if (request.header('apikey') !== undefined) {
    const project = await projectOf(deps, request);
    if (project.id !== subject.projectId) throw new ApiError('access_token_invalid');
  }
  return subject;
}
