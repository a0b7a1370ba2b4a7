import type { Request, RequestHandler } from 'express';
import type { Deps } from './deps.ts';

const allowedMethods = 'GET, POST, OPTIONS';
const allowedHeaders =
  'apikey, authorization, content-type, x-request-id, x-client-info, x-supabase-api-version';
const exposedHeaders = 'retry-after, x-request-id, x-supabase-api-version';

/**
 * Lets pages call from the origins that the project allows. A preflight carries no key, so there
 * the origins of all projects count; the answer to the call itself can be read by the pages of its
 * own project alone. No cookie is ever involved, hence no `Allow-Credentials`.
 */
export const cors =
  ({ credentials }: Pick<Deps, 'credentials'>): RequestHandler =>
  async (request, response, next) => {
    response.vary('Origin');
    const origin = request.header('origin');
    if (origin && (await mayCall(credentials, request, origin))) {
      response.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders,
      });
      if (request.method === 'OPTIONS') {
        response.set({
          'Access-Control-Allow-Methods': allowedMethods,
          'Access-Control-Allow-Headers': allowedHeaders,
          'Access-Control-Max-Age': '600',
        });
      }
    }
    if (request.method === 'OPTIONS') response.status(204).end();
    else next();
  };

async function mayCall(
  credentials: Deps['credentials'],
  request: Request,
  origin: string,
): Promise<boolean> {
  const project = await credentials.findProject(request.header('apikey'));
  if (!project) return credentials.isOriginAllowed(origin);
  return project.allowedOrigins.includes(origin) || project.allowedOrigins.includes('*');
}
