import { randomUUID } from 'node:crypto';
import type { ProjectConfig } from '@gatehouse/credentials';
import { isUniqueViolation, Prisma } from '@gatehouse/database';
import { ApiError, route } from '@gatehouse/http';
import { z } from 'zod';
import { supabaseFields } from '../compatibility.ts';
import type { Deps } from '../deps.ts';
import { emailField } from '../email-address.ts';
import { enforcePasswordPolicy, maxPasswordLength } from '../password-policy.ts';
import { projectOf } from '../project.ts';
import { createSessionResult, sessionResultBody } from '../session-result.ts';
import { newSession } from '../sessions.ts';
import { userBody } from '../user.ts';

const signUpBody = z.strictObject({
  email: emailField,
  password: z.string().max(maxPasswordLength),
  display_name: z.string().max(200).optional(),
  redirect_to: z.url().max(2_000).optional().meta({
    description: 'Where the confirmation leads back to. Exactly one of the allowed URLs.',
  }),
  data: z.record(z.string(), z.json()).optional().meta({ description: 'User metadata.' }),
  ...supabaseFields,
});

type SignUp = z.output<typeof signUpBody>;

const confirmationRequiredBody = z
  .object({ user: userBody, session: z.null(), confirmation_required: z.literal(true) })
  .meta({ id: 'ConfirmationRequired' });

export const signUp = (deps: Deps) =>
  route({
    method: 'post',
    path: '/signup',
    operation: 'signUp',
    summary: 'Create a user with email and password.',
    description:
      'Answers with a session, or, where the project asks for confirmation, without one. In the ' +
      'second case the answer does not tell whether the address was taken.',
    credentials: ['publishableKey'],
    query: z.object({ redirect_to: z.url().max(2_000).optional() }),
    body: signUpBody,
    responses: {
      200: {
        description: 'The session result, or the confirmation-required result.',
        body: z.union([sessionResultBody, confirmationRequiredBody]),
      },
    },
    errors: [
      'invalid_publishable_key',
      'signup_disabled',
      'email_provider_disabled',
      'redirect_not_allowed',
      'weak_password',
      'user_already_exists',
      'overloaded',
    ],
    handle: async ({ request, query, body }) => {
      const project = await projectOf(deps, request);
      if (!project.signupEnabled) throw new ApiError('signup_disabled');
      if (!project.emailEnabled) throw new ApiError('email_provider_disabled');
      for (const url of [query.redirect_to, body.redirect_to]) {
        // Exact comparison: any cleverness here is an open redirect.
        if (url !== undefined && !project.redirectUrls.includes(url)) {
          throw new ApiError('redirect_not_allowed');
        }
      }
      enforcePasswordPolicy(body.password, project);
      const passwordHash = await deps.passwords.hash(body.password);
      if (project.confirmationRequired) {
        return { status: 200, body: await signUpUnconfirmed(deps, project, body, passwordHash) };
      }
      const { session, user } = await createUser(deps, project, body, passwordHash);
      return {
        status: 200,
        body: await createSessionResult(deps, request, project, session, user),
      };
    },
  });

async function createUser(deps: Deps, project: ProjectConfig, body: SignUp, passwordHash: string) {
  const now = new Date(deps.now());
  try {
    const { sessions, ...user } = await deps.db.user.create({
      data: {
        id: randomUUID(),
        projectId: project.id,
        email: body.email,
        passwordHash,
        displayName: body.display_name ?? null,
        userMetadata: body.data ?? {},
        emailConfirmedAt: null,
        lastSignInAt: now,
        createdAt: now,
        updatedAt: now,
        sessions: { create: newSession(project, deps.now()) },
      },
      include: { sessions: true },
    });
    return { user, session: sessions[0]! };
  } catch (error) {
    if (isUniqueViolation(error)) throw new ApiError('user_already_exists');
    throw error;
  }
}

/**
 * One statement, whatever the address is to us, and an answer made from the request: a new
 * address, one that waits for confirmation and one that is taken cannot be told apart. Someone
 * who signs up again before confirming replaces what was said before. A confirmed user is never
 * touched.
 */
async function signUpUnconfirmed(
  deps: Deps,
  project: ProjectConfig,
  body: SignUp,
  passwordHash: string,
): Promise<z.input<typeof confirmationRequiredBody>> {
  const now = new Date(deps.now());
  const metadata = body.data ?? {};
  const rows = await deps.db.$queryRaw<{ id: string }[]>(Prisma.sql`
    INSERT INTO auth.users
      (id, project_id, email, password_hash, display_name, user_metadata, created_at, updated_at)
    VALUES (${randomUUID()}::uuid, ${project.id}, ${body.email}, ${passwordHash},
      ${body.display_name ?? null}, ${JSON.stringify(metadata)}::jsonb, ${now}, ${now})
    ON CONFLICT (project_id, email) DO UPDATE SET
      password_hash = excluded.password_hash, display_name = excluded.display_name,
      user_metadata = excluded.user_metadata, created_at = excluded.created_at,
      updated_at = excluded.updated_at
    WHERE users.email_confirmed_at IS NULL AND users.last_sign_in_at IS NULL
    RETURNING id`);
  return {
    user: {
      id: rows[0]?.id ?? deps.decoyUserId(project.id, body.email),
      email: body.email,
      display_name: body.display_name ?? null,
      user_metadata: metadata,
      email_confirmed_at: null,
      last_sign_in_at: null,
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    },
    session: null,
    confirmation_required: true,
  };
}
