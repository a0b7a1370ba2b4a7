import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ApiError, type ErrorCode } from './errors.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** How a route is opened; the name is also the OpenAPI security scheme. */
export type Credential = 'publishableKey' | 'userAccessToken' | 'apiKey' | 'consoleAccessToken';

/** One possible success: what it means, and the form of its JSON body where it has one. */
export interface ResponseSpec {
  description: string;
  body?: z.ZodType;
  /** The same answer may come as server-sent events, if the caller asks for a stream. */
  hasEventStream?: boolean;
}

/** What a handler answers. Headers given here win over the defaults (`Cache-Control: no-store`). */
export interface Reply<Status extends number = number, Body = unknown> {
  status: Status;
  body?: Body;
  headers?: Record<string, string>;
}

type ReplyOf<Responses extends Record<number, ResponseSpec>> = {
  [S in keyof Responses & number]: Responses[S] extends { body: infer B extends z.ZodType }
    ? Reply<S, z.input<B>> & { body: z.input<B> }
    : Reply<S, undefined>;
}[keyof Responses & number];

type ValueOf<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler is given: the validated parts of the request, and the request itself. */
export interface Input<Params, Query, Body> {
  params: ValueOf<Params>;
  query: ValueOf<Query>;
  body: ValueOf<Body>;
  request: Request;
  log: Logger;
}

export interface RouteSpec<
  Responses extends Record<number, ResponseSpec>,
  Params extends z.ZodObject | undefined,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
> {
  method: Method;
  /** Below the service's prefix, in Express form, for example `/keys/:key`. */
  path: string;
  /** The operation's name, verb first: `createKey`. */
  operation: string;
  summary: string;
  description?: string;
  /** Any one of these opens the route. */
  credentials?: readonly Credential[];
  params?: Params;
  query?: Query;
  /** JSON body. Use `z.strictObject`, so that an unknown field is refused by name. */
  body?: Body;
  responses: Responses;
  /** Answers of somebody else that pass through: documented as OpenAPI's `default`. */
  passedThrough?: ResponseSpec;
  /** The codes that this route answers beside those that any route may. */
  errors: readonly ErrorCode[];
  handle(
    input: Input<Params, Query, Body>,
  ): Promise<ReplyOf<NoInfer<Responses>>> | ReplyOf<NoInfer<Responses>>;
}

/** What the OpenAPI document says about a route. */
export type Operation = Omit<
  RouteSpec<
    Record<number, ResponseSpec>,
    z.ZodObject | undefined,
    z.ZodObject | undefined,
    z.ZodType | undefined
  >,
  'handle'
>;

/**
 * A route that reads and answers the bytes by itself, with Express handlers in their order. What
 * it says about its parameters and bodies is documented and not enforced.
 */
export interface RawRoute extends Operation {
  handlers: readonly RequestHandler[];
}

/** A route whose types were checked where it was written. */
export interface Route extends Operation {
  handle(
    input: Record<'params' | 'query' | 'body', unknown> & { request: Request; log: Logger },
  ): Promise<Reply> | Reply;
}

/**
 * Defines one operation. Validation, the handler's types and the OpenAPI document all come from
 * the zod objects given here.
 */
export function route<
  const Responses extends Record<number, ResponseSpec>,
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(spec: RouteSpec<Responses, Params, Query, Body>): Route {
  return spec as unknown as Route;
}

/** A parameter in an Express path; a colon behind a backslash is a colon. */
export const pathParameter = /(?<!\\):(\w+)/g;

/**
 * An operation that the interface publishes and this version does not have yet.
 * It answers 501 `not_implemented`, whatever it is sent.
 */
export const plannedRoute = (method: Method, path: string, operation: string): Route =>
  route({
    method,
    path,
    operation,
    summary: 'Published, not built yet.',
    params: z.object(
      Object.fromEntries([...path.matchAll(pathParameter)].map(([, name]) => [name, z.string()])),
    ),
    responses: {},
    errors: ['not_implemented'],
    handle: () => {
      throw new ApiError('not_implemented');
    },
  });
