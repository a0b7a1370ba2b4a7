import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A Jest reporter: one file per run in GATEHOUSE_TEST_COUNTS, that `npm test` adds up. */
export default class CountsReporter {
  onRunComplete(_contexts, results) {
    const folder = process.env.GATEHOUSE_TEST_COUNTS;
    if (!folder) return;
    const counts = {
      passed: results.numPassedTests,
      // A file that could not be loaded has no failed test, and is a failure all the same.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    };
    writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(counts));
  }
}
