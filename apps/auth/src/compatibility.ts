import type { Request, RequestHandler } from 'express';
import { z } from 'zod';

const header = 'X-Supabase-Api-Version';
const version = '2024-01-01';

/**
 * Whether the caller is a client package of that family (npm `@supabase/auth-js` sends the
 * header). It reads `expires_at` as the access token's expiry in Unix seconds.
 */
export const usesSupabaseVersion = (request: Request): boolean =>
  request.header(header) === version;

/** Echoes the version: only then does that client read `code` from an error body. */
export const echoSupabaseVersion: RequestHandler = (request, response, next) => {
  if (usesSupabaseVersion(request)) response.setHeader(header, version);
  next();
};

/** Fields that the same package always sends, known here by name and not used. */
export const supabaseFields = {
  gotrue_meta_security: z.unknown().optional(),
  code_challenge: z.string().nullish(),
  code_challenge_method: z.string().nullish(),
};
