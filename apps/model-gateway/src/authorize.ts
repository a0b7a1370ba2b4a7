import { readApiKey } from '@gatehouse/credentials';
import { ApiError } from '@gatehouse/http';
import type { RequestHandler } from 'express';
import type { Deps } from './deps.ts';

/** Lets a request pass that has an account API key with the scope `models`. */
export const authorize =
  ({ credentials }: Deps): RequestHandler =>
  async (req, _res, next) => {
    const grant = await credentials.findApiKey(readApiKey(req.headers));
    if (!grant) throw new ApiError('invalid_api_key');
    if (!grant.scopes.includes('models')) throw new ApiError('insufficient_scope');
    next();
  };
