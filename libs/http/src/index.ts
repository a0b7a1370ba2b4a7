export { readConfig, serverEnvironment } from './config.ts';
export { errorHandler, notFound, toApiError } from './error-handler.ts';
export { ApiError, errorTable, type ErrorCode } from './errors.ts';
export { createHealth, healthRoutes, runChecks, type Health } from './health.ts';
export { createLogger, scrub } from './logging.ts';
export { createMetrics, measureRequests, routeOf } from './metrics.ts';
export {
  guardQuery,
  refuseSecretInUrl,
  requestContext,
  securityHeaders,
} from './request-context.ts';
export { plannedRoute, route, type RawRoute, type Route } from './route.ts';
export { answerRaw, createHttpServer, exitOnUncaught, serve } from './serve.ts';
export { runService, type ServiceContext } from './run-service.ts';
export { createService, requireJson, validate, type ServiceOptions } from './service.ts';
