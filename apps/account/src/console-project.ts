import type { Invalidation } from '@gatehouse/credentials';
import type { Database } from '@gatehouse/database';

/** The id of the built-in project whose users own accounts. */
export const consoleProjectId = 'console';

/** Makes the console project, or gives it the configured publishable key. */
export async function ensureConsoleProject(
  { db, invalidation }: { db: Database; invalidation: Invalidation },
  publishableKey: string,
): Promise<void> {
  const { count } = await db.project.updateMany({
    where: { id: consoleProjectId, publishableKey: { not: publishableKey } },
    data: { publishableKey },
  });
  if (count > 0) return invalidation.announce(consoleProjectId);
  await db.project.createMany({
    data: { id: consoleProjectId, name: 'Console', publishableKey },
    skipDuplicates: true, // it is there, or another process is making it right now
  });
}
