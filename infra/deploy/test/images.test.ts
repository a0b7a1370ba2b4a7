import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contextFiles } from '../src/build-image.ts';
import { storesFrom } from '../src/stores.ts';
import { tryOut, type TryOutReport } from '../src/try-out.ts';
import { processes, root } from './app-config.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
};
const dockerfile = readFileSync(join(root, 'infra/Dockerfile'), 'utf8');

describe('the build context', () => {
  const files = contextFiles(root);

  it('has the manifests, and the sources of apps and libs', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'package.json',
        'package-lock.json',
        'infra/dev/package.json',
        'apps/auth/src/main.ts',
        'apps/auth/src/worker.ts',
        'libs/database/prisma/schema/base.prisma',
        'libs/database/src/migrate-main.ts',
      ]),
    );
  });

  it('has no secret, no test, nothing generated and nothing else', () => {
    const unwanted = /(^|\/)(\.|node_modules\/|generated\/|test\/)|^infra\/.*\.ts$|^(docs|k8s)\//;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
  });
});

it('the image has the Node that everything is developed and tested on', () => {
  expect(dockerfile).toContain(`ARG NODE_VERSION=${manifest.devDependencies.node}\n`);
});

// Takes minutes and a network: GATEHOUSE_TRY_IMAGES=all npm test -- deploy, or the names of apps.
const wanted = process.env.GATEHOUSE_TRY_IMAGES;
const isAll = wanted === 'all';

(wanted ? describe : describe.skip)('the images', () => {
  let report: TryOutReport;
  beforeAll(async () => {
    const log = (line: string) => void process.stderr.write(`${line}\n`);
    const only = isAll ? undefined : wanted?.split(',');
    report = await tryOut({ root, stores: storesFrom(process.env), only, log });
  }, 900_000);

  it('are built, started as another user, healthy, and end with 0 on SIGTERM', () => {
    const started = Object.keys(report.exits);
    expect(report.exits).toEqual(Object.fromEntries(started.map((name) => [name, 0])));
    if (!isAll) return;
    expect(started.sort()).toEqual([...processes.map(({ name }) => name), 'migrate'].sort());
    expect(report.routerReady).toBe(200);
  });

  it('hold no package that the app does not stand on', () => {
    for (const { surplus } of Object.values(report.apps)) expect(surplus).toEqual([]);
  });

  it('stay small', () => {
    for (const { bytes } of Object.values(report.apps)) expect(bytes).toBeLessThan(100e6);
  });
});
