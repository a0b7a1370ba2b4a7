import { describe, expect, it } from '@jest/globals';
import { cpSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeEnv, makeSecrets } from '../src/make-env.ts';
import { apps, environmentSchema, misfits, processes, root } from './app-config.ts';
import { environmentOf, hasKubectl, kustomize, type Resource } from './kubernetes.ts';

const k8s = join(root, 'k8s');
/** Stands in the one ConfigMap that every process is given. */
const common = 'REDIS_PREFIX: is set and not read';

(hasKubectl ? describe : describe.skip).each(['dev', 'prod'])('overlay %s', (overlay) => {
  const resources = hasKubectl ? kustomize(join(k8s, 'overlays', overlay)) : [];
  const ofKind = (kind: string) => resources.filter((resource) => resource.kind === kind);
  const named = (kind: string, name: string) =>
    ofKind(kind).find(({ metadata }) => metadata.name === name) as Resource;
  const pod = (name: string) => named('Deployment', name).spec.template.spec;
  const workloads = [...ofKind('Deployment'), ...ofKind('Job'), ...ofKind('StatefulSet')];

  it('deploys every app and the worker, and a Service for every app', () => {
    const names = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name);
    expect(names('Deployment').sort()).toEqual(processes.map(({ name }) => name).sort());
    expect(names('Service')).toEqual(expect.arrayContaining(apps));
    expect(names('Service')).not.toContain('auth-worker');
  });

  it('puts everything into one namespace, which refuses privileged pods', () => {
    for (const { kind, metadata } of resources) {
      if (kind !== 'Namespace') expect(metadata.namespace).toBe('gatehouse');
    }
    const { labels } = named('Namespace', 'gatehouse').metadata;
    expect(labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  });

  it.each(processes)('$name runs the image of $app', ({ name, app }) => {
    const [{ image, args }] = pod(name).containers;
    expect(image).toMatch(new RegExp(`^gatehouse/${app}:(dev|\\d+\\.\\d+\\.\\d+)$`));
    expect(args).toEqual(name === app ? undefined : ['src/worker.ts']);
  });

  it.each(processes)('$name gets the environment that it reads', async ({ name, app, schema }) => {
    const values = { resources, secrets: makeSecrets() };
    const environment = environmentOf(pod(name).containers[0], values);
    const problems = misfits(await environmentSchema(app, schema), environment);
    expect(problems.filter((problem) => problem !== common)).toEqual([]);
  });

  it('gives the owner of the database to the migration alone', () => {
    const holders = workloads.filter((workload) =>
      JSON.stringify(workload.spec.template.spec.containers).includes('"DATABASE_ADMIN_URL"'),
    );
    expect(holders.map(({ kind }) => kind)).toEqual(['Job']);
    const [{ args }] = (holders[0] as Resource).spec.template.spec.containers;
    expect(args).toEqual(['/app/libs/database/src/migrate-main.ts']);
  });

  it('names the migration after its version where images have one', () => {
    const [job] = ofKind('Job');
    const tag = job?.spec.template.spec.containers[0].image.split(':').at(-1);
    expect(job?.metadata.name).toBe(overlay === 'dev' ? 'migrate' : `migrate-${tag}`);
  });

  it('runs nothing as root, with a writable root, or with a capability', () => {
    expect(workloads.length).toBeGreaterThanOrEqual(processes.length + 1);
    for (const { spec } of workloads) {
      const { securityContext, containers, automountServiceAccountToken } = spec.template.spec;
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(automountServiceAccountToken).toBe(false);
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('bounds the memory of everything and asks for CPU', () => {
    for (const { spec } of workloads) {
      for (const { resources: bounds } of spec.template.spec.containers) {
        expect(bounds?.requests).toHaveProperty('cpu');
        expect(bounds?.limits).toHaveProperty('memory');
      }
    }
  });

  it('has no secret in it', () => {
    expect(ofKind('Secret')).toEqual([]);
    const isSecret = (key: string) => /URL_|PASSWORD$|KEY|PEPPER|DATABASE|REDIS_URL/.test(key);
    for (const { spec } of workloads) {
      for (const { env = [] } of spec.template.spec.containers) {
        for (const { name, value } of env) if (isSecret(name)) expect(value).toBeUndefined();
      }
    }
    for (const { data = {} } of ofKind('ConfigMap')) {
      expect(Object.keys(data).filter(isSecret)).toEqual([]);
    }
  });

  it.each(processes)('$name is probed where it listens', ({ name, app }) => {
    const [{ livenessProbe, readinessProbe, startupProbe, ports }] = pod(name).containers;
    const isWorker = name !== app;
    const port = isWorker ? 'metrics' : 'http';
    expect(ports).toHaveLength(isWorker ? 1 : 2);
    expect(ports).toContainEqual({ name: 'metrics', containerPort: 9090 });
    if (!isWorker) expect(ports).toContainEqual({ name: 'http', containerPort: 8080 });
    expect(startupProbe?.httpGet).toEqual({ path: '/health/live', port: 'metrics' });
    expect(livenessProbe?.httpGet).toEqual({ path: '/health/live', port: 'metrics' });
    // The router's readiness is that of all groups: one of them must not take the door away.
    const path = name === 'gateway-router' ? '/health/live' : '/health/ready';
    expect(readinessProbe?.httpGet).toEqual({ path, port });
  });

  it.each(processes)('$name may finish what is under way', ({ name }) => {
    const spec = pod(name);
    const values = { resources, secrets: makeSecrets() };
    const environment = environmentOf(spec.containers[0], values);
    const delayMs = Number(environment.SHUTDOWN_DELAY_MS);
    expect(delayMs).toBeGreaterThan(0);
    const neededMs = delayMs + Number(environment.SHUTDOWN_TIMEOUT_MS);
    expect(1000 * (spec.terminationGracePeriodSeconds ?? 30)).toBeGreaterThan(neededMs);
  });

  it('spreads every app over nodes and zones', () => {
    for (const { name } of processes) {
      const keys = pod(name).topologySpreadConstraints?.map(({ topologyKey }) => topologyKey);
      expect(keys).toEqual(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']);
    }
  });

  it('leaves the number of replicas to the autoscaler', () => {
    for (const { spec } of ofKind('Deployment')) expect(spec.replicas).toBeUndefined();
    if (overlay === 'dev') return;
    const scaled = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef?.name);
    expect(scaled.sort()).toEqual(processes.map(({ name }) => name).sort());
    const budgets = ofKind('PodDisruptionBudget').map(({ metadata }) => metadata.name);
    expect(budgets.sort()).toEqual(processes.map(({ name }) => name).sort());
  });

  it('lets everyone reach the router, and nothing else', () => {
    const policies = ofKind('NetworkPolicy').map(({ metadata, spec }) => ({
      name: metadata.name,
      selector: spec.podSelector,
      ingress: (spec.ingress ?? []) as { from?: unknown[]; ports?: { port: string }[] }[],
    }));
    expect(policies.find(({ selector }) => JSON.stringify(selector) === '{}')?.ingress).toEqual([]);
    const open = policies.filter(({ ingress }) => ingress.some(({ from }) => !from));
    expect(open).toEqual([
      {
        name: 'anyone-to-router',
        selector: { matchLabels: { 'app.kubernetes.io/name': 'gateway-router' } },
        ingress: [{ ports: [{ port: 'http' }] }],
      },
    ]);
    const toMetrics = policies.filter(({ ingress }) =>
      ingress.some(({ ports }) => !ports || ports.some(({ port }) => port === 'metrics')),
    );
    expect(toMetrics.map(({ name }) => name)).toEqual(['monitoring-to-metrics']);
  });
});

(hasKubectl ? describe : describe.skip)('the Secrets', () => {
  /** The folder of k8s/secrets with its examples in place. */
  const examples = () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-secrets-'));
    try {
      cpSync(join(k8s, 'secrets'), folder, { recursive: true });
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.example'))) {
        renameSync(join(folder, file), join(folder, file.replace('.example', '')));
      }
      return kustomize(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('have an example for every key that base names', () => {
    const given = Object.fromEntries(
      examples().map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {})]),
    );
    const containers = kustomize(join(k8s, 'base'))
      .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
      .flatMap(({ spec }) => spec.template.spec.containers);
    const named = containers.flatMap(({ env = [] }) =>
      env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
    );
    expect(named.length).toBeGreaterThan(5);
    for (const { name, key } of named) expect(given[name]).toContain(key);
  });
});

it('k8s has no real secret in git', () => {
  const files = readdirSync(join(k8s, 'secrets')).filter((name) => name.endsWith('.example'));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const lines = readFileSync(join(k8s, 'secrets', file), 'utf8').split('\n');
    for (const line of lines.filter((text) => text && !text.startsWith('#'))) {
      expect(line).toContain('PLACEHOLDER');
    }
  }
  expect(readFileSync(join(k8s, 'secrets/.gitignore'), 'utf8')).toBe('*.env\n');
});

it('the Secrets for the dev overlay hold what .env holds', () => {
  const made = Object.values(makeSecrets()).flatMap((secret) => Object.keys(secret));
  expect(made).toEqual(expect.arrayContaining(Object.keys(makeEnv())));
});
