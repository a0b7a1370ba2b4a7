import { ApiError, route } from '@gatehouse/http';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { subjectErrors, subjectOf } from '../subject.ts';

export const logOut = (deps: Deps) =>
  route({
    method: 'post',
    path: '/logout',
    operation: 'logOut',
    summary: 'End the session at once, for its access and refresh tokens alike.',
    credentials: ['userAccessToken'],
    query: z.object({
      scope: z.enum(['local', 'global', 'others']).default('local').meta({
        description: 'This session, all sessions of the user, or all but this one.',
      }),
    }),
    responses: { 204: { description: 'Ended.' } },
    errors: subjectErrors,
    handle: async ({ request, query }) => {
      const { userId, sessionId } = await subjectOf(deps, request);
      const standing = { revokedAt: null, expiresAt: { gt: new Date(deps.now()) } };
      // Only a session that stands may end others: a revoked one speaks for nobody.
      const callersOwn = { user: { sessions: { some: { id: sessionId, ...standing } } } };
      const ended = {
        local: { id: sessionId },
        global: {},
        others: { id: { not: sessionId } },
      }[query.scope];
      const { count } = await deps.db.session.updateMany({
        where: { userId, revokedAt: null, ...ended, ...callersOwn },
        data: { revokedAt: new Date(deps.now()) },
      });
      // No others to end is fine, for a session that stands.
      const isDone =
        count > 0 ||
        (query.scope === 'others' &&
          (await deps.db.session.count({ where: { id: sessionId, userId, ...standing } })) > 0);
      if (!isDone) throw new ApiError('session_not_found');
      return { status: 204 };
    },
  });
