import { migrateDatabase } from './migrate.ts';

/** The migration as a command, for a Kubernetes Job or a one-shot container. */
const { DATABASE_ADMIN_URL: adminUrl, DATABASE_ROLE_PASSWORD: rolePassword } = process.env;
if (!adminUrl || !rolePassword) {
  process.stderr.write('config: set DATABASE_ADMIN_URL and DATABASE_ROLE_PASSWORD\n');
  process.exit(78);
}
const { applied } = await migrateDatabase({ adminUrl, rolePassword });
process.stdout.write(`${JSON.stringify({ service: 'migrate', applied })}\n`);
// The engine's lock has a timer of ten seconds that outlives the lock.
process.exit(0);
