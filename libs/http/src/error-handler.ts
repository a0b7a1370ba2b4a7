import type { ErrorRequestHandler, RequestHandler } from 'express';
import { ApiError } from './errors.ts';

/** The last handler of every app: the one place where an error becomes an answer. */
export const errorHandler: ErrorRequestHandler = (error, req, res, _next) => {
  const apiError = toApiError(error);
  // Overload and the like are answers, not faults: only what has a cause is worth a stack.
  if (apiError.status >= 500 && apiError.cause !== undefined) {
    req.log.error({ err: apiError.cause, code: apiError.code }, 'failed');
  }
  if (res.headersSent) {
    // The answer is half sent: a clean end would pass it off as whole.
    res.destroy();
    return;
  }
  const body =
    apiError.code === 'internal' ? { ...apiError.body, request_id: req.id } : apiError.body;
  res.status(apiError.status).set(apiError.headers).set('Cache-Control', 'no-store').json(body);
};

/** Answers every path that nothing else took. */
export const notFound: RequestHandler = () => {
  throw new ApiError('not_found');
};

/** Any error in our terms: what Express, its body reader and a store's client throw, too. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { type, status, code } = (error ?? {}) as Record<string, unknown>;
  if (type === 'entity.too.large') return new ApiError('request_too_large');
  if (type === 'encoding.unsupported') {
    return new ApiError('unsupported_media_type', {
      message: 'The Content-Encoding of the request is not supported.',
    });
  }
  if (isStoreUnreachable(error)) return new ApiError('unavailable', { cause: error });
  if (error instanceof URIError || (typeof status === 'number' && status >= 400 && status < 500)) {
    return new ApiError(type === undefined ? 'validation_failed' : 'invalid_body', { cause: code });
  }
  return new ApiError('internal', { cause: error });
}

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  // PostgreSQL: shutting down, starting up, too many connections.
  '57P01',
  '57P02',
  '57P03',
  '53300',
  // Prisma: cannot reach the server, timed out, connection closed, no connection free in time.
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2037',
  // The same of a raw query, as Prisma's adapter names it.
  'DatabaseNotReachable',
  'SocketTimeout',
  'ConnectionClosed',
  'TooManyConnections',
]);

/** What the clients of PostgreSQL and Redis tell by their text alone. */
const unreachableMessages = new Set([
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Connection terminated unexpectedly',
  'Query read timeout',
  'Connection is closed.',
]);

interface ErrorLike {
  name?: unknown;
  message?: unknown;
  code?: unknown;
  errorCode?: unknown;
  kind?: unknown;
  cause?: unknown;
  /** Prisma puts the error of a raw query here, under its own `P2010`. */
  meta?: { driverAdapterError?: unknown };
}

/** Whether the cause, at any depth, is a database or Redis that cannot be reached. */
function isStoreUnreachable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Object && depth < 6; depth++) {
    const { name, message, code, errorCode, kind, cause, meta }: ErrorLike = at;
    if (name === 'MaxRetriesPerRequestError' || unreachableMessages.has(String(message)))
      return true;
    if ([code, errorCode, kind].some((value) => unreachableCodes.has(String(value)))) return true;
    at = meta?.driverAdapterError ?? cause;
  }
  return false;
}
