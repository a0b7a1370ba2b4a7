import { runChecks, type Health } from '@gatehouse/http';
import type { RequestHandler } from 'express';
import { services, type Service } from './groups.ts';
import { oncePer } from './once-per.ts';

/** Anybody may ask, and each answer asks every service: they share one within this time. */
const ttlMs = 500;

/**
 * Whether the whole house serves. The router's own readiness, on the internal port, does not hang
 * on the services: one that is down must not take the door of the others with it.
 */
export function readiness(urls: Readonly<Record<Service, URL>>, health: Health): RequestHandler {
  const checks = Object.fromEntries(services.map((service) => [service, isReady(urls[service])]));
  const askAll = oncePer(ttlMs, () => runChecks({ checks, isDraining: false }));
  return async (_req, res) => {
    const asked = await askAll();
    const isReady = asked.isReady && !health.isDraining;
    const status = health.isDraining ? 'draining' : isReady ? 'ready' : 'not_ready';
    const states = Object.entries(asked.checks).map(([service, state]) => [
      service,
      state === 'ok' ? 'ready' : 'not_ready',
    ]);
    res
      .status(isReady ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status, services: Object.fromEntries(states) });
  };
}

const isReady = (url: URL) => async () => {
  const answer = await fetch(new URL('/health/ready', url), { signal: AbortSignal.timeout(2_000) });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};
