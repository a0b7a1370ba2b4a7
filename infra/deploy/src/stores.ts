import type { DataStores } from './try-out.ts';

/** The PostgreSQL and Redis that `npm test` starts and names in the environment. */
export function storesFrom(environment: NodeJS.ProcessEnv): DataStores | undefined {
  const {
    TEST_DATABASE_ADMIN_URL: adminUrl,
    TEST_DATABASE_ROLE_PASSWORD: rolePassword,
    TEST_REDIS_URL: redisUrl,
  } = environment;
  return adminUrl && rolePassword && redisUrl ? { adminUrl, rolePassword, redisUrl } : undefined;
}
