import { randomUUID } from 'node:crypto';
import { createKey as newKey, hashKey } from '@gatehouse/credentials';
import { ApiError, route } from '@gatehouse/http';
import { z } from 'zod';
import { callerErrors, callerOf } from '../caller.ts';
import type { Deps } from '../deps.ts';
import { keyBody, renderKey } from '../key.ts';
import { keyModes, scopes } from '../scopes.ts';

const createKeyBody = z.strictObject({
  name: z.string().trim().min(1).max(100),
  mode: z.enum(keyModes).optional().meta({ description: 'Without it: that of the caller.' }),
  scopes: z
    .array(z.enum(scopes))
    .min(1)
    .max(scopes.length)
    .optional()
    .meta({ description: 'What the key opens. Without it: all that the caller may hand on.' }),
  expires_at: z.iso.datetime().optional().meta({
    description: 'Without it: when the credential of the caller does, if ever.',
  }),
});

export const createKey = (deps: Deps) =>
  route({
    method: 'post',
    path: '/keys',
    operation: 'createKey',
    summary: 'Make an API key. Its secret is in this answer and nowhere after.',
    credentials: ['apiKey', 'consoleAccessToken'],
    body: createKeyBody,
    responses: {
      201: {
        description: 'The key, with its secret.',
        body: keyBody.extend({ key: z.string() }).meta({ id: 'NewApiKey' }),
      },
    },
    errors: callerErrors,
    handle: async ({ request, body }) => {
      const caller = await callerOf(deps, request);
      const { mode = caller.modes[0]!, scopes: asked = caller.scopes } = body;
      const expiresAt = body.expires_at ? new Date(body.expires_at) : caller.expiresAt;
      if (expiresAt && expiresAt.getTime() <= deps.now()) {
        throw new ApiError('validation_failed', { message: 'expires_at: in the past' });
      }
      // Else a leaked key could make itself a better one.
      const isMore =
        asked.some((scope) => !caller.scopes.includes(scope)) ||
        !caller.modes.includes(mode) ||
        (caller.expiresAt !== null && (expiresAt === null || expiresAt > caller.expiresAt));
      if (isMore) {
        throw new ApiError('insufficient_scope', {
          message: 'A key can be given no scope, mode or lifetime that its maker does not have.',
        });
      }
      const key = newKey(mode);
      const row = await deps.db.apiKey.create({
        data: {
          id: `key_${randomUUID().replaceAll('-', '')}`,
          accountId: caller.accountId,
          name: body.name,
          hash: hashKey(key, deps.pepper),
          pepperId: deps.pepper.id,
          prefix: `gh_${mode}_`,
          lastFour: key.slice(-4),
          scopes: [...new Set(asked)],
          createdAt: new Date(deps.now()),
          expiresAt,
        },
      });
      return { status: 201, body: { ...renderKey(row), key } };
    },
  });
