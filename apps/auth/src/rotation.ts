import type { ProjectConfig } from '@gatehouse/credentials';
import { Prisma, type Session, type User } from '@gatehouse/database';
import { ApiError } from '@gatehouse/http';
import type { Deps } from './deps.ts';
import type { RefreshTokenContent } from './refresh-token.ts';
import { expiryOf } from './sessions.ts';

interface SessionOfUser {
  session: Session;
  user: User;
}

interface StepRow {
  user_id: string;
  refresh_counter: number;
  created_at: Date;
  expires_at: Date;
  email: string;
  display_name: string | null;
  user_metadata: User['userMetadata'];
  email_confirmed_at: Date | null;
  last_sign_in_at: Date | null;
  user_created_at: Date;
  user_updated_at: Date;
}

/**
 * Refresh token rotation (RFC 9700 section 4.14.2): the token's number must be the session's
 * current one, and the session steps to the next, in one statement. Of fifty parallel uses one
 * steps; the others find the session a step ahead and, within the grace, get the same successor,
 * as does a client that lost the answer. There is never a second branch. A token that comes later
 * than that was stolen from someone or by someone: the session ends.
 *
 * @throws {ApiError} `refresh_token_not_found`, `refresh_token_reused`, `session_expired`,
 *   `session_not_found`
 */
export async function rotateRefreshToken(
  deps: Deps,
  project: ProjectConfig,
  content: RefreshTokenContent,
): Promise<SessionOfUser> {
  return (await step(deps, project, content)) ?? explain(deps, project, content);
}

async function step(
  { db, now }: Deps,
  project: ProjectConfig,
  { sessionId, counter }: RefreshTokenContent,
): Promise<SessionOfUser | undefined> {
  const at = new Date(now());
  const [row] = await db.$queryRaw<StepRow[]>(Prisma.sql`
    UPDATE auth.sessions s
    SET refresh_counter = s.refresh_counter + 1, refreshed_at = ${at},
      expires_at = ${expiryOf(project, now())}
    FROM auth.users u
    WHERE s.id = ${sessionId}::uuid AND s.project_id = ${project.id}
      AND s.refresh_counter = ${counter} AND s.revoked_at IS NULL AND s.expires_at > ${at}
      AND u.id = s.user_id AND u.banned_at IS NULL
    RETURNING s.user_id, s.refresh_counter, s.created_at, s.expires_at, u.email, u.display_name,
      u.user_metadata, u.email_confirmed_at, u.last_sign_in_at, u.created_at AS user_created_at,
      u.updated_at AS user_updated_at`);
  if (!row) return undefined;
  return {
    session: {
      id: sessionId,
      userId: row.user_id,
      projectId: project.id,
      refreshCounter: row.refresh_counter,
      refreshedAt: at,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      revokedAt: null,
    },
    user: {
      id: row.user_id,
      projectId: project.id,
      email: row.email,
      passwordHash: null,
      displayName: row.display_name,
      userMetadata: row.user_metadata,
      emailConfirmedAt: row.email_confirmed_at,
      bannedAt: null,
      lastSignInAt: row.last_sign_in_at,
      createdAt: row.user_created_at,
      updatedAt: row.user_updated_at,
    },
  };
}

/** Why the session did not step: a repeat that is answered again, or the right refusal. */
async function explain(
  { db, now, refreshGraceMs }: Deps,
  project: ProjectConfig,
  { sessionId, counter }: RefreshTokenContent,
): Promise<SessionOfUser> {
  const found = await db.session.findUnique({
    where: { id: sessionId, projectId: project.id },
    include: { user: true },
  });
  if (!found) throw new ApiError('refresh_token_not_found');
  const { user, ...session } = found;
  if (session.revokedAt || user.bannedAt) throw new ApiError('session_not_found');
  if (session.expiresAt.getTime() <= now()) throw new ApiError('session_expired');
  const stepsBehind = session.refreshCounter - counter;
  const isInGrace = now() - session.refreshedAt.getTime() <= refreshGraceMs;
  if (stepsBehind === 1 && isInGrace) return { session, user };
  // Ahead of the session: issued by us, then undone by a restored backup. No theft, no session.
  if (stepsBehind < 1) throw new ApiError('refresh_token_not_found');
  await db.session.updateMany({
    where: { id: sessionId, revokedAt: null },
    data: { revokedAt: new Date(now()) },
  });
  throw new ApiError('refresh_token_reused');
}
