import type { ProjectConfig } from '@gatehouse/credentials';
import type { Session, User } from '@gatehouse/database';
import { signAccessToken } from '@gatehouse/tokens';
import type { Request } from 'express';
import { z } from 'zod';
import { usesSupabaseVersion } from './compatibility.ts';
import type { Deps } from './deps.ts';
import { renderSession, renderUser, sessionBody, userBody } from './user.ts';

/** Interface section 2.1. */
export const sessionResultBody = z
  .object({
    access_token: z.string(),
    refresh_token: z.string().meta({ description: 'Valid for one refresh.' }),
    token_type: z.literal('bearer'),
    expires_in: z.int().meta({ description: 'Seconds of validity of the access token.' }),
    expires_at: z.string().meta({ description: 'When the session ends unless it is refreshed.' }),
    user: userBody,
    session: sessionBody,
  })
  .meta({ id: 'SessionResult' });

/** A fresh access token and the session's current refresh token. */
export async function createSessionResult(
  { now, signingKeys, refreshTokens }: Deps,
  request: Request,
  project: ProjectConfig,
  session: Session,
  user: User,
): Promise<z.input<typeof sessionResultBody>> {
  const issuedAt = Math.floor(now() / 1000);
  const expiresIn = project.accessTokenTtlSeconds;
  const accessToken = await signAccessToken(
    { projectId: project.id, userId: user.id, sessionId: session.id, email: user.email },
    await signingKeys.signerOf(project.id),
    issuedAt,
    expiresIn,
  );
  return {
    access_token: accessToken,
    refresh_token: refreshTokens.issue({
      sessionId: session.id,
      counter: session.refreshCounter,
    }),
    token_type: 'bearer',
    expires_in: expiresIn,
    expires_at: usesSupabaseVersion(request)
      ? String(issuedAt + expiresIn)
      : session.expiresAt.toISOString(),
    user: renderUser(user),
    session: renderSession(session),
  };
}
