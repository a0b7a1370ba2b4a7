import { execFileSync, spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';

export interface Container {
  name: string;
  image: string;
  imagePullPolicy?: string;
  args?: string[];
  env?: {
    name: string;
    value?: string;
    valueFrom?: {
      secretKeyRef?: { name: string; key: string; optional?: boolean };
      configMapKeyRef?: { name: string; key: string };
    };
  }[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: object;
}

interface Probe {
  httpGet: { path: string; port: string };
}

export interface Resource {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec: {
    replicas?: number;
    selector?: unknown;
    podSelector?: unknown;
    ingress?: unknown[];
    scaleTargetRef?: { name: string };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        containers: [Container, ...Container[]];
        securityContext?: object;
        automountServiceAccountToken?: boolean;
        terminationGracePeriodSeconds?: number;
        topologySpreadConstraints?: { topologyKey: string }[];
      };
    };
  };
}

/** A bare machine has no kubectl: what needs it is left out there, and reported as such. */
export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

export function kustomize(folder: string): Resource[] {
  const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  return parseAllDocuments(text).map((document) => document.toJS() as Resource);
}

export interface Values {
  resources: Resource[];
  secrets: Record<string, Record<string, string>>;
}

/** The environment that the container is started with. */
export function environmentOf(container: Container, values: Values): Record<string, string> {
  const configMap = (name: string) => {
    const found = values.resources.find(
      (it) => it.kind === 'ConfigMap' && it.metadata.name === name,
    );
    if (!found?.data) throw new Error(`no ConfigMap ${name}`);
    return found.data;
  };
  const all = (container.envFrom ?? []).map(({ configMapRef }) => configMap(configMapRef.name));
  const single = (container.env ?? []).map(({ name, value, valueFrom }) => {
    const { secretKeyRef, configMapKeyRef } = valueFrom ?? {};
    if (configMapKeyRef) return [name, configMap(configMapKeyRef.name)[configMapKeyRef.key]];
    if (!secretKeyRef) return [name, value];
    const secret = values.secrets[secretKeyRef.name]?.[secretKeyRef.key];
    if (secret === undefined && !secretKeyRef.optional) {
      throw new Error(`no key ${secretKeyRef.key} in Secret ${secretKeyRef.name}`);
    }
    return [name, secret ?? ''];
  });
  return Object.assign({}, ...all, Object.fromEntries(single) as object) as Record<string, string>;
}
