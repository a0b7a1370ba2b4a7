import type { ProjectConfig } from '@gatehouse/credentials';
import { isMissingRow } from '@gatehouse/database';
import { ApiError, route, validate } from '@gatehouse/http';
import type { Request } from 'express';
import { z } from 'zod';
import { supabaseFields } from '../compatibility.ts';
import type { Deps } from '../deps.ts';
import { emailField } from '../email-address.ts';
import { maxPasswordLength } from '../password-policy.ts';
import { projectOf } from '../project.ts';
import { createSessionResult, sessionResultBody } from '../session-result.ts';
import { newSession } from '../sessions.ts';
import { rotateRefreshToken } from '../rotation.ts';

const passwordGrant = z.strictObject({
  email: emailField,
  password: z.string().max(maxPasswordLength),
  ...supabaseFields,
});

const refreshTokenGrant = z.strictObject({ refresh_token: z.string() });

type SessionResult = z.input<typeof sessionResultBody>;
type Grant = (
  deps: Deps,
  request: Request,
  project: ProjectConfig,
  body: unknown,
) => Promise<SessionResult>;

const grants = new Map<string | undefined, Grant>([
  ['password', signInWithPassword],
  ['refresh_token', refresh],
]);

export const createToken = (deps: Deps) =>
  route({
    method: 'post',
    path: '/token',
    operation: 'createToken',
    summary: 'Sign in with a password, or refresh a session.',
    credentials: ['publishableKey'],
    query: z.object({
      grant_type: z.string().optional().meta({ description: '`password` or `refresh_token`.' }),
    }),
    body: z.record(z.string(), z.unknown()).meta({
      override: {
        oneOf: [passwordGrant, refreshTokenGrant].map(
          (grant) => z.toJSONSchema(grant, { io: 'input' }) as Record<string, unknown>,
        ),
      },
    }),
    responses: { 200: { description: 'The session result.', body: sessionResultBody } },
    errors: [
      'invalid_publishable_key',
      'unsupported_grant_type',
      'email_provider_disabled',
      'invalid_credentials',
      'email_not_confirmed',
      'user_banned',
      'refresh_token_not_found',
      'refresh_token_reused',
      'session_expired',
      'session_not_found',
      'overloaded',
    ],
    handle: async ({ request, query, body }) => {
      const project = await projectOf(deps, request);
      const grant = grants.get(query.grant_type);
      if (!grant) throw new ApiError('unsupported_grant_type');
      return { status: 200, body: await grant(deps, request, project, body) };
    },
  });

async function signInWithPassword(
  deps: Deps,
  request: Request,
  project: ProjectConfig,
  body: unknown,
): Promise<SessionResult> {
  const { email, password } = validate(passwordGrant, body, 'body');
  if (!project.emailEnabled) throw new ApiError('email_provider_disabled');
  deps.passwords.assertCapacity();
  const found = await deps.db.user.findUnique({
    where: { projectId_email: { projectId: project.id, email } },
  });
  const isRight = await deps.passwords.verify(password, found?.passwordHash);
  // Only the right password learns anything about the account.
  if (!found || !isRight) throw new ApiError('invalid_credentials');
  if (found.bannedAt) throw new ApiError('user_banned');
  if (project.confirmationRequired && !found.emailConfirmedAt) {
    throw new ApiError('email_not_confirmed');
  }
  const session = newSession(project, deps.now());
  const { sessions, ...user } = await deps.db.user
    .update({
      where: { id: found.id, bannedAt: null },
      data: { lastSignInAt: new Date(deps.now()), sessions: { create: session } },
      include: { sessions: { where: { id: session.id } } },
    })
    .catch((error: unknown) => {
      // Banned or deleted while the password was hashed.
      throw isMissingRow(error) ? new ApiError('invalid_credentials') : error;
    });
  return createSessionResult(deps, request, project, sessions[0]!, user);
}

async function refresh(
  deps: Deps,
  request: Request,
  project: ProjectConfig,
  body: unknown,
): Promise<SessionResult> {
  const { refresh_token } = validate(refreshTokenGrant, body, 'body');
  const content = deps.refreshTokens.read(refresh_token);
  if (!content) throw new ApiError('refresh_token_not_found');
  const { session, user } = await rotateRefreshToken(deps, project, content);
  return createSessionResult(deps, request, project, session, user);
}
