import { ApiError, requireJson } from '@gatehouse/http';
import express, { type Request, type RequestHandler } from 'express';
import { z } from 'zod';
import { authorize } from './authorize.ts';
import type { Deps } from './deps.ts';
import type { Dialect } from './dialects.ts';
import { upstreamHeaders } from './headers.ts';
import { checkModelRequest, maxBodyBytes, modelRequest } from './model-request.ts';
import { Relay } from './relay.ts';
import type { Upstream } from './upstream.ts';

/** The codes that {@link passThrough} answers beside those of any route with a body. */
const passThroughErrors = [
  'conflicting_credentials',
  'invalid_api_key',
  'insufficient_scope',
  'upstream_error',
  'upstream_credential_rejected',
  'overloaded',
  'vendor_not_configured',
  'upstream_timeout',
] as const;

/** How a vendor's own error is documented. */
const vendorError = {
  description: 'The vendor’s own error, with its status and in its form.',
  body: z.looseObject({ error: z.unknown() }),
};

/** What every route of {@link passThrough} says about itself. */
export const passThroughOperation = {
  method: 'post',
  credentials: ['apiKey'],
  body: modelRequest,
  responses: {
    200: {
      description: 'The vendor’s answer, as it came.',
      body: z.looseObject({}),
      hasEventStream: true,
    },
  },
  passedThrough: vendorError,
  errors: passThroughErrors,
} as const;

/**
 * A model request to a vendor of the caller's own dialect. Bodies pass in both directions as they
 * are; the caller's credential is replaced by ours.
 */
export const passThrough = (deps: Deps, dialect: Dialect): RequestHandler[] => [
  authorize(deps),
  requireVersionHeader(dialect),
  admit(deps, dialect),
  // A compressed body could not be checked without unpacking it.
  express.raw({ type: () => true, limit: maxBodyBytes, inflate: false }),
  (req, res, next) => {
    const body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
    checkModelRequest(body);
    const { pool, basePath, credential } = upstreamOf(deps, dialect);
    const { timeouts, upstreamMetrics: metrics } = deps;
    pool.dispatch(
      {
        method: 'POST',
        path: basePath + dialect.upstreamPath + queryFor(dialect, req),
        headers: upstreamHeaders(dialect, credential, req.headers),
        body,
      },
      new Relay({ dialect, timeouts, metrics, req, res, next }),
    );
  },
];

const requireVersionHeader =
  ({ versionHeader }: Dialect): RequestHandler =>
  (req, _res, next) => {
    if (versionHeader && !req.headers[versionHeader]) throw new ApiError('version_header_required');
    next();
  };

/** Takes a connection and memory for the request, until it has been answered or is given up. */
const admit =
  (deps: Deps, dialect: Dialect): RequestHandler =>
  (req, res, next) => {
    // The caller left while the key was looked up: nothing would give back what is taken here.
    if (res.closed) return;
    const { slots } = upstreamOf(deps, dialect);
    requireJson(req);
    const bytes = Number(req.headers['content-length'] ?? maxBodyBytes);
    if (bytes > maxBodyBytes) throw new ApiError('request_too_large');
    slots.take(1);
    res.once('close', () => slots.give(1));
    deps.bodyBytes.take(bytes);
    res.once('close', () => deps.bodyBytes.give(bytes));
    next();
  };

function upstreamOf({ upstreams }: Deps, { vendor }: Dialect): Upstream {
  const upstream = upstreams[vendor];
  if (upstream) return upstream;
  throw new ApiError('vendor_not_configured', { headers: { 'x-should-retry': 'false' } });
}

function queryFor(dialect: Dialect, { query }: Request): string {
  const kept = new URLSearchParams();
  for (const name of dialect.query) {
    const value = query[name];
    if (typeof value === 'string') kept.set(name, value);
  }
  return kept.size > 0 ? `?${kept.toString()}` : '';
}
