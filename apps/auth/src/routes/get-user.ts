import { ApiError, route } from '@gatehouse/http';
import type { Deps } from '../deps.ts';
import { subjectErrors, subjectOf } from '../subject.ts';
import { renderUser, userBody } from '../user.ts';

export const getUser = (deps: Deps) =>
  route({
    method: 'get',
    path: '/user',
    operation: 'getUser',
    summary: 'The user of the access token, if the session still stands.',
    credentials: ['userAccessToken'],
    responses: { 200: { description: 'The current user.', body: userBody } },
    errors: subjectErrors,
    handle: async ({ request }) => {
      const subject = await subjectOf(deps, request);
      const now = new Date(deps.now());
      const user = await deps.db.user.findFirst({
        where: {
          id: subject.userId,
          projectId: subject.projectId,
          bannedAt: null,
          sessions: { some: { id: subject.sessionId, revokedAt: null, expiresAt: { gt: now } } },
        },
      });
      if (!user) throw new ApiError('session_not_found');
      return { status: 200, body: renderUser(user) };
    },
  });
