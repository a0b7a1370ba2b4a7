import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Dialect } from './dialects.ts';

/**
 * The headers with which a request goes to the vendor: ours, and of the caller's those alone that
 * the dialect lists, so that no credential or address of a caller can reach a vendor.
 */
export function upstreamHeaders(dialect: Dialect, credential: string, given: IncomingHttpHeaders) {
  const headers: Record<string, string> = {
    ...dialect.credentialHeader(credential),
    'content-type': 'application/json',
    'user-agent': 'gatehouse',
  };
  for (const name of dialect.requestHeaders) {
    const value = given[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

/** Of any vendor's answer. */
const anyResponseHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
];

/**
 * The headers of the answer. Not the vendor's cookies, nor what tells of our account with it:
 * the organisation's name, and how much of its limits others have left.
 */
export function relayedHeaders(dialect: Dialect, given: IncomingHttpHeaders): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { 'cache-control': 'no-store' };
  for (const names of [anyResponseHeaders, dialect.responseHeaders]) {
    for (const name of names) {
      const value = given[name];
      if (value !== undefined) headers[name] = value;
    }
  }
  const requestId = given[dialect.requestIdHeader];
  if (requestId !== undefined) headers['x-upstream-request-id'] = requestId;
  // nginx in front would collect events.
  if (given['content-type']?.startsWith('text/event-stream')) headers['x-accel-buffering'] = 'no';
  return headers;
}
