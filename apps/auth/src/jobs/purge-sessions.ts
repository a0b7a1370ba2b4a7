import type { Database } from '@gatehouse/database';
import { defineJob } from '@gatehouse/queues';
import { z } from 'zod';

/** Ended sessions are kept this long, so that their tokens are refused with the right reason. */
const retentionMs = 7 * 24 * 3_600_000;

export const purgeSessions = defineJob({
  name: 'auth.purge-sessions',
  payload: z.strictObject({}),
  retry: { attempts: 3, backoffMs: 60_000 },
  /** Deletes what ended long ago. @returns how many sessions */
  async handle({ db, now }: { db: Database; now: () => number }) {
    const before = new Date(now() - retentionMs);
    const { count } = await db.session.deleteMany({
      where: { OR: [{ expiresAt: { lt: before } }, { revokedAt: { lt: before } }] },
    });
    return count;
  },
});
