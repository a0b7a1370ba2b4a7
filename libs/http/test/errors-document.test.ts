import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { errorTable } from '../src/index.ts';

const file = path.join(import.meta.dirname, '../../../docs/errors.md');

it('docs/errors.md lists every code with its status and sentence, and no other', () => {
  const rows = Object.entries(errorTable).map(
    ([code, [status, sentence]]) => `| ${status} | \`${code}\` | ${sentence} |`,
  );
  const documented = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^\| \d{3} /.test(line))
    .map((line) => line.replace(/ +\|/g, ' |'));
  expect(documented).toEqual(rows);
});
