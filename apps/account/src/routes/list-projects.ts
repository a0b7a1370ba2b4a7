import { route } from '@gatehouse/http';
import { callerErrors, callerOf } from '../caller.ts';
import type { Deps } from '../deps.ts';
import { pageOf, pageQuery, pageWindow, toPage } from '../pagination.ts';
import { projectBody, renderProject } from '../project.ts';

export const listProjects = (deps: Deps) =>
  route({
    method: 'get',
    path: '/projects',
    operation: 'listProjects',
    summary: 'The projects of the account, newest first.',
    credentials: ['apiKey', 'consoleAccessToken'],
    query: pageQuery,
    responses: { 200: { description: 'A page of projects.', body: pageOf(projectBody) } },
    errors: callerErrors,
    handle: async ({ request, query }) => {
      const { accountId } = await callerOf(deps, request);
      const { where, ...window } = pageWindow(query);
      const rows = await deps.db.project.findMany({
        where: { accountId, deletedAt: null, ...where },
        ...window,
      });
      return { status: 200, body: toPage(rows, query.limit, renderProject) };
    },
  });
