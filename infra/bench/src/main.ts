import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startHouse } from '@gatehouse/dev';
import { benchFlood } from './flood.ts';
import { benchGateway } from './gateway.ts';
import { benchSessions } from './sessions.ts';

/**
 * `npm run bench`: measures the house on throw-away data, over loopback, for about a minute. Each
 * figure stands beside a reference of the same run, because a machine's own speed drifts.
 */
const dataDir = mkdtempSync(path.join(tmpdir(), 'gatehouse-bench-'));
const print = (line: string) => void process.stdout.write(`${line}\n`);
const house = await startHouse({
  dataDir,
  env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  log: () => undefined,
});
const { sandboxVendorKey } = JSON.parse(
  readFileSync(path.join(dataDir, 'secrets.json'), 'utf8'),
) as { sandboxVendorKey: string };
try {
  for (const bench of [benchGateway, benchSessions, benchFlood]) {
    for (const line of await bench({ ...house.devJson, sandboxVendorKey })) print(line);
    print('');
  }
} finally {
  await house.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();
