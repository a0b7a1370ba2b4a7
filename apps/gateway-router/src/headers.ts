import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';

/** Between two neighbours only (RFC 9110 section 7.6.1). Node writes those of the next hop. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Only we say these to our services. */
const internal = /^(?:x-gatehouse-|x-forwarded-|forwarded$|x-real-ip$|expect$)/;

/** The headers that `Connection` names as meant for this hop. */
const namedByConnection = ({ connection = '' }: IncomingHttpHeaders) =>
  new Set(connection.split(',').map((name) => name.trim().toLowerCase()));

/** The headers of a request as its service gets them. */
export function requestHeaders(req: Request): IncomingHttpHeaders {
  const named = namedByConnection(req.headers);
  const headers: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(req.headers)) {
    if (!hopByHop.has(name) && !named.has(name) && !internal.test(name)) headers[name] = value;
  }
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  return {
    ...headers,
    // The frame of the body is ours to keep: with `Connection: content-length` a GET would reach
    // the service without it, and its body would be read there as another request.
    ...(length !== undefined && { 'content-length': length }),
    ...(coding !== undefined && { 'transfer-encoding': 'chunked' }),
    'x-request-id': req.id,
    // One entry for one trusted hop: what Express found to be the caller behind our own proxies.
    'x-forwarded-for': req.ip ?? 'unknown',
    'x-forwarded-proto': req.protocol,
    ...(req.host !== undefined && { 'x-forwarded-host': req.host }),
  };
}

/** Starts the answer with the service's status and headers. Its own win over the router's. */
export function sendHead(upstream: IncomingMessage, res: Response): void {
  const named = namedByConnection(upstream.headers);
  for (const [name, value] of Object.entries(upstream.headers)) {
    if (value === undefined || hopByHop.has(name) || named.has(name)) continue;
    if (name !== 'x-request-id') res.setHeader(name, value);
  }
  // A number that is no final status can be written to nobody.
  const status = upstream.statusCode ?? 0;
  res.writeHead(status >= 200 ? status : 502);
}
