import type { Agent, Server } from 'node:http';
import {
  answerRaw,
  errorHandler,
  measureRequests,
  notFound,
  refuseSecretInUrl,
  requestContext,
  securityHeaders,
  toApiError,
  type Health,
  type ServiceOptions,
} from '@gatehouse/http';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { forwardTo } from './forward.ts';
import { groups as publishedGroups, type Group, type Service } from './groups.ts';
import { checkBody, refuseOddAddress, refusePreflight, refuseWebSocket } from './guards.ts';
import { openApi } from './openapi.ts';
import { readiness } from './readiness.ts';
import { referencePage } from './reference-page.ts';

export interface Deps extends Pick<ServiceOptions, 'log' | 'metrics'> {
  /** Where each service listens. */
  urls: Readonly<Record<Service, URL>>;
  trustedHops: number;
  health: Health;
  /** Holds the connections to the services. */
  agent: Agent;
  groups?: readonly Group[];
}

/** The door: routes by path, streams, limits, adds a request id. It knows nothing else. */
export function createApp(deps: Deps): Express {
  const { urls, health, groups = publishedGroups } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('trust proxy', deps.trustedHops);
  app.use(requestContext(deps.log), measureRequests(deps.metrics), securityHeaders());
  app.use(refuseOddAddress, refuseSecretInUrl, refuseWebSocket);
  app.get('/health/live', (_req, res) => void res.json({ status: 'live' }));
  app.get('/health/ready', readiness(urls, health));
  app.get('/openapi.json', openApi(urls));
  app.use(referencePage());
  for (const group of groups) {
    app.all(
      `${group.prefix}{/*rest}`,
      ...(group.service === 'auth' ? [] : [refusePreflight]),
      checkBody(group.maxBytes),
      forwardTo(urls[group.service], group, deps.agent),
    );
  }
  app.use(notFound);
  app.use(tellVendorClients, errorHandler);
  return app;
}

/**
 * The vendors' clients show a header where they hide the body. Everything outside of `/api/` is
 * their ground, unknown paths too: a wrong base address ends there.
 */
const tellVendorClients: ErrorRequestHandler = (error, req, res, next) => {
  if (!req.path.startsWith('/api/') && !res.headersSent) {
    res.set('x-gatehouse-code', toApiError(error).code);
  }
  next(error);
};

/** What a server in front of {@link createApp} handles beside ordinary requests. */
export function configureServer(server: Server, app: Express): void {
  // The app decides whether the body is wanted. An expectation that is not known is ignored.
  server.on('checkContinue', app);
  server.on('checkExpectation', app);
  server.on('connect', (_req, socket) => {
    answerRaw(socket as Parameters<typeof answerRaw>[0], 'method_not_allowed');
  });
}
