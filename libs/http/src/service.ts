import type { IncomingMessage } from 'node:http';
import express, { type Express, type Request, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import { errorHandler, notFound } from './error-handler.ts';
import { ApiError } from './errors.ts';
import { healthRoutes, type Health } from './health.ts';
import { measureRequests } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { parseJson } from './parse-json.ts';
import { guardQuery, requestContext, securityHeaders } from './request-context.ts';
import type { RawRoute, Reply, Route } from './route.ts';

export interface ServiceOptions {
  /** Name in logs, metrics and the OpenAPI document. */
  title: string;
  /** The path prefix of the group, as published: `/api/v1/auth`. Empty for none. */
  prefix: string;
  /** Other prefixes that the interface publishes the same routes under. */
  aliases?: readonly string[];
  routes: readonly (Route | RawRoute)[];
  /** Below the prefix. Default `/openapi.json`. */
  documentPath?: string;
  log: Logger;
  metrics: Registry;
  health: Health;
  /** Reverse proxies in front whose `X-Forwarded-For` entry is believed. The router is one. */
  trustedHops?: number;
  /** Largest request body, in bytes. Default 64 KiB. */
  maxBodyBytes?: number;
  /** Runs before the routes, below the prefix; for CORS and the like. */
  before?: readonly RequestHandler[];
  /** Sees each error before it is rendered, for headers that a group's errors carry. */
  onError?: express.ErrorRequestHandler;
}

/**
 * The Express app of a service: request id, log line, metrics, security headers, health, the
 * routes with their validation, the OpenAPI document, 405 for another method on a known path,
 * and 404 and every other error in the error body.
 */
export function createService(options: ServiceOptions): Express {
  const { prefix, aliases = [], routes, log, metrics, health } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('trust proxy', options.trustedHops ?? 1);
  app.use(requestContext(log), measureRequests(metrics), securityHeaders());
  app.use(healthRoutes(health));
  const group = express.Router({ caseSensitive: true });
  group.use(guardQuery, ...(options.before ?? []));
  const document = openApiDocument(options.title, [prefix, ...aliases], routes);
  group.get(options.documentPath ?? '/openapi.json', (_req, res) => void res.json(document));
  mountRoutes(group, routes, options.maxBodyBytes ?? 64 * 1024);
  // One by one: in a list, "/" would match the root alone.
  for (const base of [prefix, ...aliases]) app.use(base || '/', group);
  app.use(notFound);
  if (options.onError) app.use(options.onError);
  app.use(errorHandler);
  return app;
}

function mountRoutes(
  group: express.Router,
  routes: readonly (Route | RawRoute)[],
  maxBodyBytes: number,
) {
  const methodsByPath = Map.groupBy(routes, ({ path }) => path);
  const readBytes = express.raw({ type: () => true, limit: maxBodyBytes });
  const handlersOf = (route: Route | RawRoute): readonly RequestHandler[] => {
    if ('handlers' in route) return route.handlers;
    return route.body ? [readBytes, handlerOf(route)] : [handlerOf(route)];
  };
  for (const [path, routesOfPath] of methodsByPath) {
    for (const route of routesOfPath) {
      group[route.method](path, ...handlersOf(route));
    }
    const allow = routesOfPath.map(({ method }) => method.toUpperCase()).join(', ');
    group.all(path, () => {
      throw new ApiError('method_not_allowed', { headers: { Allow: allow } });
    });
  }
}

function handlerOf(route: Route): RequestHandler {
  return async (request, res) => {
    const reply: Reply = await route.handle({
      params: route.params && validate(route.params, request.params, 'path'),
      query: route.query && validate(route.query, { ...request.query }, 'query'),
      body: route.body && validate(route.body, readBody(request), 'body'),
      request,
      log: request.log,
    });
    res.status(reply.status).set({ 'Cache-Control': 'no-store', ...reply.headers });
    if (reply.body === undefined) res.end();
    else res.json(reply.body);
  };
}

/**
 * Lets a body in JSON pass.
 * @throws {ApiError} `unsupported_media_type`
 */
export function requireJson({ headers }: IncomingMessage): void {
  const type = (headers['content-type'] ?? '').toLowerCase();
  if (!/^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/.test(type)) {
    throw new ApiError('unsupported_media_type');
  }
}

function readBody(request: Request): unknown {
  requireJson(request);
  return parseJson(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
}

/**
 * The value in the form of the schema.
 * @throws {ApiError} `validation_failed`, naming the field and never the value
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: 'path' | 'query' | 'body',
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.map(String).join('.').slice(0, 80) || `the ${where}`;
  const reason =
    issue?.code === 'unrecognized_keys'
      ? `the field ${JSON.stringify(issue.keys[0]?.slice(0, 40))} is not known`
      : (issue?.message ?? 'not valid');
  throw new ApiError('validation_failed', { message: `${field}: ${reason}` });
}
