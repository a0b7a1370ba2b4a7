import { Router } from 'express';

/** Whether a service can do its work. Each check rejects, or takes too long, when it cannot. */
export interface Health {
  checks: Record<string, () => Promise<unknown>>;
  /** Set when the process is asked to stop: not ready any more, still answering. */
  isDraining: boolean;
}

export const createHealth = (checks: Health['checks'] = {}): Health => ({
  checks,
  isDraining: false,
});

const checkTimeoutMs = 2_000;

/** Runs all checks side by side, each bounded to two seconds. */
export async function runChecks(health: Health): Promise<{
  isReady: boolean;
  checks: Record<string, 'ok' | 'failed'>;
}> {
  const entries = await Promise.all(
    Object.entries(health.checks).map(async ([name, check]) => {
      const timer = Promise.withResolvers<never>();
      const timeout = setTimeout(() => timer.reject(new Error('timeout')), checkTimeoutMs);
      try {
        await Promise.race([check(), timer.promise]);
        return [name, 'ok'] as const;
      } catch {
        return [name, 'failed'] as const;
      } finally {
        clearTimeout(timeout);
      }
    }),
  );
  return {
    isReady: !health.isDraining && entries.every(([, state]) => state === 'ok'),
    checks: Object.fromEntries(entries),
  };
}

/** `/health/live`: the process answers. `/health/ready`: it has what it needs. */
export function healthRoutes(health: Health): Router {
  const router = Router();
  router.get('/health/live', (_req, res) => void res.json({ status: 'live' }));
  router.get('/health/ready', async (_req, res) => {
    const { isReady, checks } = await runChecks(health);
    const status = health.isDraining ? 'draining' : isReady ? 'ready' : 'not_ready';
    res
      .status(isReady ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status, checks });
  });
  return router;
}
