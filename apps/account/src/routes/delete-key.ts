import { ApiError, route } from '@gatehouse/http';
import { z } from 'zod';
import { callerErrors, callerOf } from '../caller.ts';
import type { Deps } from '../deps.ts';

export const deleteKey = (deps: Deps) =>
  route({
    method: 'delete',
    path: '/keys/:key',
    operation: 'deleteKey',
    summary: 'Revoke an API key. When this has answered, no process takes the key any more.',
    credentials: ['apiKey', 'consoleAccessToken'],
    params: z.object({
      key: z
        .string()
        .regex(/^\w{1,100}$/)
        .meta({ description: "The key's id, not its secret." }),
    }),
    responses: { 204: { description: 'Revoked everywhere.' } },
    errors: [...callerErrors, 'key_not_found'],
    handle: async ({ request, params }) => {
      if (params.key.startsWith('gh_')) {
        throw new ApiError('secret_in_url', { message: 'Name the key by its id (key_…).' });
      }
      const { accountId } = await callerOf(deps, request);
      const { count } = await deps.db.apiKey.updateMany({
        where: { id: params.key, accountId, revokedAt: null },
        data: { revokedAt: new Date(deps.now()) },
      });
      if (count === 0) throw new ApiError('key_not_found');
      await deps.invalidation.announce(params.key);
      return { status: 204 };
    },
  });
