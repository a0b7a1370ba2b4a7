import { setTimeout as delay } from 'node:timers/promises';
import { Queue, UnrecoverableError, Worker, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';

/**
 * One kind of background job. Its handler may run more than once for one payload (a worker can
 * die after the work and before saying so), hence it must be idempotent.
 */
export interface Job<Deps, Payload extends z.ZodType> {
  /** `{app}.{verb-noun}`, for example `auth.purge-sessions`. */
  name: string;
  payload: Payload;
  retry: { attempts: number; backoffMs: number };
  handle(deps: Deps, payload: z.output<Payload>): Promise<unknown>;
}

/** Defines a job; see {@link Job}. */
export const defineJob = <Deps, Payload extends z.ZodType>(
  job: Job<Deps, Payload>,
): Job<Deps, Payload> => job;

export interface QueueOptions {
  /** Must have `maxRetriesPerRequest: null`: a worker waits for Redis as long as it takes. */
  redis: Redis;
  /** Namespace of the keys, so that two installations can share a Redis. */
  prefix: string;
}

const jobOptions = ({ retry }: Pick<Job<unknown, z.ZodType>, 'retry'>): JobsOptions => ({
  attempts: retry.attempts,
  backoff: { type: 'exponential', delay: retry.backoffMs, jitter: 0.5 },
  removeOnComplete: { age: 3_600, count: 1_000 },
  removeOnFail: { age: 7 * 86_400, count: 10_000 },
});

/** Runs the job with this payload again and again; with a new interval, in place of the old. */
export async function scheduleJob<Deps, Payload extends z.ZodType>(
  { redis, prefix }: QueueOptions,
  job: Job<Deps, Payload>,
  payload: z.input<Payload>,
  everyMs: number,
): Promise<void> {
  const queue = new Queue(job.name, { connection: redis, prefix });
  try {
    await queue.upsertJobScheduler(
      job.name,
      { every: everyMs },
      { data: job.payload.parse(payload), opts: jobOptions(job) },
    );
  } finally {
    await queue.close();
  }
}

export interface WorkerOptions<Deps> extends QueueOptions {
  deps: Deps;
  /** Jobs of one kind that run at the same time in this process. Default 1. */
  concurrency?: number;
  onFailed(jobName: string, error: Error): void;
  /** How long `close` waits for the work under way. Default 5,000 ms. */
  closeTimeoutMs?: number;
}

/**
 * Works on one kind of job. A payload that does not have the job's form fails without retry.
 * `close` waits for what is under way, so long and no longer.
 */
export function startWorker<Deps, Payload extends z.ZodType>(
  job: Job<Deps, Payload>,
  options: WorkerOptions<Deps>,
): { close(): Promise<void> } {
  const worker = new Worker(
    job.name,
    (work) => {
      const payload = job.payload.safeParse(work.data);
      if (!payload.success) {
        throw new UnrecoverableError(`payload of ${job.name}: ${z.prettifyError(payload.error)}`);
      }
      return job.handle(options.deps, payload.data);
    },
    {
      connection: options.redis,
      prefix: options.prefix,
      concurrency: options.concurrency ?? 1,
    },
  );
  worker.on('failed', (_job, error) => options.onFailed(job.name, error));
  worker.on('error', (error) => options.onFailed(job.name, error));
  return {
    async close() {
      // Without Redis there is nothing to say to it, and waiting for it would never end.
      const bound = new AbortController();
      const timeout = delay(options.closeTimeoutMs ?? 5_000, undefined, { signal: bound.signal });
      await Promise.race([worker.close(), timeout]);
      bound.abort();
      await timeout.catch(() => undefined);
    },
  };
}
