import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { ApiError } from '@gatehouse/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { Group, Timeouts } from './groups.ts';
import { requestHeaders, sendHead } from './headers.ts';

/**
 * The connections to the services. Their number is that of the requests under way, which the
 * clients' own connections bound. An idle one is given up a second before the service closes it,
 * as its `Keep-Alive: timeout` says: so the two do not cross, except where a service stops.
 */
export const createAgent = () => new Agent({ keepAlive: true });

/** What belongs to one request while it is forwarded. Kept in `res.locals`. */
interface Exchange {
  next: NextFunction;
  upstream?: ClientRequest;
}

/** Streams requests to a service and its answers back. Failures go to the error handler. */
export function forwardTo(target: URL, group: Group, agent: Agent): RequestHandler {
  const proxy = createProxyMiddleware<Request, Response>({
    target,
    agent,
    changeOrigin: true,
    // The built-in ones log addresses with their query, and render errors in their own form.
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (upstream, req, res) => {
          exchangeOf(res).upstream = upstream;
          watchTime(upstream, group);
          if ('transfer-encoding' in req.headers) countBody(req, upstream, group.maxBytes);
        });
        server.on('proxyRes', (upstream, req, res) => {
          // We gave up on this answer a moment ago and have sent our own.
          if (res.headersSent) return void upstream.destroy();
          // Registered before the proxy's own listener, which ends the client's connection too.
          upstream.once('error', (error) => {
            if (!res.destroyed) req.log.warn({ err: error }, 'the service broke off its answer');
          });
          sendHead(upstream, res);
          flushHead(upstream, res);
        });
        server.on('error', (error, req, res) => {
          if (req === undefined || !isResponse(res) || res.destroyed || res.writableEnded) return;
          const { next, upstream } = exchangeOf(res);
          if (upstream !== undefined && isSafeToRepeat(error, req, res, upstream)) {
            void proxy(req, res, next);
            return;
          }
          // What is left of the body is read and dropped, else the client would not hear us.
          req.unpipe();
          req.resume();
          next(
            error instanceof ApiError
              ? error
              : new ApiError('service_unreachable', { cause: error }),
          );
        });
      },
    ],
  });
  return (req, res, next) => {
    res.locals = { next } satisfies Exchange;
    req.headers = requestHeaders(req);
    return proxy(req, res, next);
  };
}

const exchangeOf = (res: Response) => res.locals as Exchange;

/** The proxy's type allows the socket of a WebSocket here. */
const isResponse = (res: unknown): res is Response =>
  typeof res === 'object' && res !== null && 'locals' in res;

function watchTime(upstream: ClientRequest, { connectMs, firstByteMs, idleMs }: Timeouts): void {
  if (upstream.socket?.connecting) {
    const timer = setTimeout(() => {
      upstream.destroy(new Error(`not connected within ${connectMs} ms`));
    }, connectMs);
    upstream.socket.once('connect', () => clearTimeout(timer));
    upstream.once('close', () => clearTimeout(timer));
  }
  upstream.once('timeout', () => upstream.destroy(new ApiError('service_timeout')));
  let hasAnswer = false;
  // While the request is sent, the server's own limit on its duration holds.
  upstream.once('finish', () => hasAnswer || upstream.setTimeout(firstByteMs));
  upstream.once('response', () => {
    hasAnswer = true;
    upstream.setTimeout(idleMs);
  });
}

/** Node holds a body to its Content-Length; one without is counted here. */
function countBody(req: Request, upstream: ClientRequest, maxBytes: number): void {
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) upstream.destroy(new ApiError('request_too_large'));
  });
}

/** Sends the head without waiting for a body, unless the body is there already. */
function flushHead(upstream: IncomingMessage, res: Response): void {
  let hasBody = false;
  upstream.once('data', () => (hasBody = true));
  upstream.once('end', () => (hasBody = true));
  setImmediate(() => hasBody || res.destroyed || res.flushHeaders());
}

/**
 * A kept-alive connection that the service closed just as it was used again. The service may have
 * read the request all the same, so only one that changes nothing is sent again.
 */
function isSafeToRepeat(error: Error, req: Request, res: Response, upstream: ClientRequest) {
  const { code } = error as NodeJS.ErrnoException;
  return (
    (code === 'ECONNRESET' || code === 'EPIPE') &&
    upstream.reusedSocket &&
    !res.headersSent &&
    (req.method === 'GET' || req.method === 'HEAD') &&
    !('content-length' in req.headers) &&
    !('transfer-encoding' in req.headers)
  );
}
