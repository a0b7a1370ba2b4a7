import { createServer, type Server } from 'node:http';
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** A registry with the process's own metrics, labelled with the service. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Observes every request under its route pattern: a path itself would be an unbounded label. */
export function measureRequests(registry: Registry): RequestHandler {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of the request to the end of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers: [registry],
  });
  return (req, res, next) => {
    const stop = duration.startTimer();
    res.once('close', () => {
      stop({ method: req.method, route: routeOf(req), status: res.statusCode });
    });
    next();
  };
}

/** The pattern of the route that answered, or a fixed word where none did. */
export const routeOf = (req: { route?: { path?: unknown }; baseUrl: string }): string =>
  typeof req.route?.path === 'string' ? req.baseUrl + req.route.path : 'unmatched';

/** Serves `/metrics` and the health paths on the internal port, which no ingress reaches. */
export function createInternalServer(registry: Registry, isReady: () => Promise<boolean>): Server {
  return createServer((req, res) => {
    void answer(req.url ?? '/').then(
      ({ status, type, body }) => res.writeHead(status, { 'Content-Type': type }).end(body),
      () => res.writeHead(500).end(),
    );
  });

  async function answer(path: string) {
    const text = (status: number, body: string) => ({ status, type: 'text/plain', body });
    if (path === '/metrics') {
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    if (path === '/health/live') return text(200, 'live');
    if (path === '/health/ready') return (await isReady()) ? text(200, 'ready') : text(503, 'no');
    return text(404, 'not found');
  }
}
