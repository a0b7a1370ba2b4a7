import { describe, expect, it } from '@jest/globals';
import { readCompose } from '../src/compose.ts';
import { makeEnv } from '../src/make-env.ts';
import { apps, environmentSchema, misfits, processes, root } from './app-config.ts';

const services = readCompose(root, makeEnv());

it('says what to do when there is no .env', () => {
  expect(() => readCompose(root, {})).toThrow(/run node infra\/deploy\/make-env.mjs .env/);
});

it('builds one image per app, by one service alone', () => {
  const built = Object.values(services).flatMap(({ build }) => build?.args.APP ?? []);
  expect(built.sort()).toEqual(apps);
});

it('publishes the router and nothing else', () => {
  const published = Object.entries(services).filter(([, { ports }]) => ports);
  expect(published.map(([name, { ports }]) => [name, ports])).toEqual([
    ['gateway-router', ['8080:8080']],
  ]);
});

it('lets no app write to its own files or hold a capability', () => {
  const ours = Object.values(services).filter(({ image }) => image.startsWith('gatehouse/'));
  expect(ours).toHaveLength(processes.length + 1);
  for (const service of ours) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
});

it('gives every process more time to stop than it takes', () => {
  for (const { name } of processes) {
    const { stop_grace_period, environment } = services[name] ?? {};
    const graceMs = 1000 * Number.parseInt(stop_grace_period ?? '0');
    expect(graceMs).toBeGreaterThan(Number(environment?.SHUTDOWN_TIMEOUT_MS));
  }
});

describe.each(processes)('$name', ({ name, app, schema }) => {
  it('gets just the environment that it reads', async () => {
    const environment = services[name]?.environment ?? {};
    expect(misfits(await environmentSchema(app, schema), environment)).toEqual([]);
  });
});
