import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { defineJob, scheduleJob, startWorker } from '../src/index.ts';

const url = process.env['TEST_REDIS_URL'];
if (!url) throw new Error('TEST_REDIS_URL is not set: run the tests with "npm test -- queues"');
const redis = new Redis(url, { maxRetriesPerRequest: null });
afterAll(() => redis.disconnect());

let prefix: string;
beforeEach(() => {
  prefix = randomUUID();
});

const countUp = (attempts = 1) =>
  defineJob({
    name: 'test.count-up',
    payload: z.strictObject({ by: z.int() }),
    retry: { attempts, backoffMs: 1 },
    handle: async (deps: { count(by: number): void }, { by }) => deps.count(by),
  });

describe('a scheduled job', () => {
  it('is handled with its payload', async () => {
    const counted = Promise.withResolvers<number>();
    await scheduleJob({ redis, prefix }, countUp(), { by: 3 }, 3_600_000);
    const worker = startWorker(countUp(), {
      redis,
      prefix,
      deps: { count: counted.resolve },
      onFailed: (_name, error) => counted.reject(error),
    });
    expect(await counted.promise).toBe(3);
    await worker.close();
  });

  it('is scheduled once, however many processes ask for it', async () => {
    const jobs = Array.from({ length: 5 }, () =>
      scheduleJob({ redis, prefix }, countUp(), { by: 1 }, 3_600_000),
    );
    await Promise.all(jobs);
    const queue = new Queue('test.count-up', { connection: redis, prefix });
    expect(await queue.getJobSchedulersCount()).toBe(1);
    await queue.close();
  });

  it('is tried again when it fails', async () => {
    const succeeded = Promise.withResolvers<void>();
    let tries = 0;
    await scheduleJob({ redis, prefix }, countUp(3), { by: 1 }, 3_600_000);
    const count = () => {
      if (++tries < 3) throw new Error('not yet');
      succeeded.resolve();
    };
    const worker = startWorker(countUp(3), { redis, prefix, deps: { count }, onFailed: () => {} });
    await succeeded.promise;
    expect(tries).toBe(3);
    await worker.close();
  });

  it('with a payload in another form fails at once and says why', async () => {
    const failed = Promise.withResolvers<Error>();
    const worker = startWorker(countUp(5), {
      redis,
      prefix,
      deps: { count: () => failed.reject(new Error('handled')) },
      onFailed: (_name, error) => failed.resolve(error),
    });
    const queue = new Queue('test.count-up', { connection: redis, prefix });
    await queue.add('test.count-up', { by: 'three' }, { attempts: 5 });
    expect((await failed.promise).message).toContain('payload of test.count-up');
    const [job] = await queue.getFailed();
    expect(job?.attemptsMade).toBe(1);
    await Promise.all([worker.close(), queue.close()]);
  });
});
