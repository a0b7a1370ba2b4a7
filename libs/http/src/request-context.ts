import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { ApiError } from './errors.ts';
import { routeOf } from './metrics.ts';

declare module 'express-serve-static-core' {
  interface Request {
    /** The value of `X-Request-Id`, taken over from the caller or made here. */
    id: string;
    log: Logger;
    /** What the line at the request's end says beside the usual. Never a body or a header. */
    logFields?: Record<string, unknown>;
  }
}

/**
 * Gives the request an id and a logger, and logs its end in one line: method, route pattern,
 * status and duration, never a path, a query, a header or a body.
 *
 * A caller's own `X-Request-Id` is kept where it is 8 to 128 characters of `[A-Za-z0-9_.:-]`.
 */
export function requestContext(log: Logger): RequestHandler {
  return (req, res, next) => {
    const given = req.header('x-request-id');
    req.id = given && /^[\w.:-]{8,128}$/.test(given) ? given : randomUUID();
    req.headers['x-request-id'] = req.id;
    req.log = log.child({ request_id: req.id });
    res.setHeader('X-Request-Id', req.id);
    const startedAt = performance.now();
    res.once('close', () => {
      req.log.info({
        method: req.method,
        route: routeOf(req),
        // The caller left before the answer was complete: nginx's 499, in the log only.
        status: res.writableFinished ? res.statusCode : 499,
        duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
        ...req.logFields,
      });
    });
    next();
  };
}

/** The security headers of an API: nothing may be framed, sniffed, or loaded by a page. */
export const securityHeaders = (): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  });

/** Query parameters that would carry a credential. URLs end up in logs and histories. */
const secretParameters = new Set([
  'key',
  'apikey',
  'api_key',
  'access_token',
  'refresh_token',
  'token',
  'password',
]);

/** Refuses a credential in the URL. */
export function refuseSecretInUrl(req: Request, _res: Response, next: NextFunction): void {
  for (const name of Object.keys(req.query)) {
    if (secretParameters.has(name.toLowerCase())) throw new ApiError('secret_in_url');
  }
  next();
}

/**
 * Refuses a credential in the URL, and a parameter that is given twice (whichever of the two a
 * later reader takes, somebody else takes the other).
 */
export function guardQuery(req: Request, res: Response, next: NextFunction): void {
  refuseSecretInUrl(req, res, () => {
    for (const [name, value] of Object.entries(req.query)) {
      if (Array.isArray(value)) {
        throw new ApiError('validation_failed', {
          message: `The query parameter ${JSON.stringify(name.slice(0, 40))} is given twice.`,
        });
      }
    }
    next();
  });
}
