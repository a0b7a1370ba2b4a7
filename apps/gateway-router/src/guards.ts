import { ApiError } from '@gatehouse/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * A path that router and service cannot read in two ways: no `.` and `..` segments, no empty
 * ones, and no percent-encoded dot, slash, backslash or control character.
 */
const plainPath =
  /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w.~!$&'()*+,;=:@-]|%(?!2e|2f|5c|7f|[01])[\da-f]{2})+)*\/?$/i;

const hostname = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Refuses what is routed by one reading and might be served by another (`/api/v1/auth/..%2fuser`),
 * and a Host that is none: services build links from it.
 */
export function refuseOddAddress(req: Request, _res: Response, next: NextFunction): void {
  const end = req.url.indexOf('?');
  if (!isPlain(end === -1 ? req.url : req.url.slice(0, end))) {
    throw new ApiError('validation_failed', { message: 'The path of the URL is not plain.' });
  }
  if (req.host !== undefined && !hostname.test(req.host)) {
    throw new ApiError('validation_failed', { message: 'The header Host is not a host name.' });
  }
  next();
}

function isPlain(path: string): boolean {
  if (!plainPath.test(path)) return false;
  try {
    // Percent-encoded bytes that are not UTF-8 mean something else to each reader.
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Nothing here speaks WebSocket. Any other upgrade may be ignored (RFC 9110 section 7.8). */
export function refuseWebSocket(req: Request, _res: Response, next: NextFunction): void {
  if (/\bwebsocket\b/i.test(req.headers.upgrade ?? '')) {
    throw new ApiError('validation_failed', { message: 'WebSocket is not offered here.' });
  }
  next();
}

/** CORS is answered by the auth service, which knows the project's origins, and by no other. */
export function refusePreflight(req: Request, _res: Response, next: NextFunction): void {
  if (req.method === 'OPTIONS') {
    throw new ApiError('method_not_allowed', { headers: { Allow: 'GET, POST, PUT, DELETE' } });
  }
  next();
}

/**
 * Refuses a body that is announced as too large, or in a transfer coding that cannot be passed
 * on; then lets a client that waits for `100 Continue` go on. A body of unknown length is counted
 * while it passes.
 */
export function checkBody(maxBytes: number): RequestHandler {
  return (req, res, next) => {
    if (Number(req.headers['content-length'] ?? 0) > maxBytes) {
      throw new ApiError('request_too_large');
    }
    if (!/^(?:chunked)?$/i.test(req.headers['transfer-encoding'] ?? '')) {
      throw new ApiError('validation_failed', {
        message: 'The only Transfer-Encoding that is accepted is "chunked".',
      });
    }
    const awaitsContinue = /^100-continue$/i.test(req.headers.expect ?? '');
    if (awaitsContinue && req.httpVersion === '1.1') res.writeContinue();
    next();
  };
}
