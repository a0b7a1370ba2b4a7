import { route } from '@gatehouse/http';
import { callerErrors, callerOf } from '../caller.ts';
import type { Deps } from '../deps.ts';
import { keyBody, renderKey } from '../key.ts';
import { pageOf, pageQuery, pageWindow, toPage } from '../pagination.ts';

export const listKeys = (deps: Deps) =>
  route({
    method: 'get',
    path: '/keys',
    operation: 'listKeys',
    summary: 'The API keys of the account, newest first, without their secrets.',
    credentials: ['apiKey', 'consoleAccessToken'],
    query: pageQuery,
    responses: { 200: { description: 'A page of keys.', body: pageOf(keyBody) } },
    errors: callerErrors,
    handle: async ({ request, query }) => {
      const { accountId } = await callerOf(deps, request);
      const { where, ...window } = pageWindow(query);
      const rows = await deps.db.apiKey.findMany({
        where: { accountId, revokedAt: null, ...where },
        ...window,
      });
      return { status: 200, body: toPage(rows, query.limit, renderKey) };
    },
  });
