import { route } from '@gatehouse/http';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { projectOf } from '../project.ts';

const jwksBody = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('RSA'),
        kid: z.string(),
        alg: z.literal('RS256'),
        use: z.literal('sig'),
        n: z.string(),
        e: z.string(),
      }),
    ),
  })
  .meta({ id: 'JwkSet', description: 'RFC 7517.' });

export const getJwks = (deps: Deps) =>
  route({
    method: 'get',
    path: '/.well-known/jwks.json',
    operation: 'getJwks',
    summary: "The public keys that the project's access tokens are verified with.",
    credentials: ['publishableKey'],
    responses: {
      200: { description: 'The key set. Cache it as the header says.', body: jwksBody },
    },
    errors: ['invalid_publishable_key'],
    handle: async ({ request }) => {
      const project = await projectOf(deps, request);
      const keys = await deps.signingKeys.publicKeysOf(project.id);
      return {
        status: 200,
        headers: { 'Cache-Control': 'public, max-age=600', Vary: 'Origin, apikey' },
        body: { keys: keys as z.input<typeof jwksBody>['keys'] },
      };
    },
  });
