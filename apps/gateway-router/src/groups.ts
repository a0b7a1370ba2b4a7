export const services = ['auth', 'model-gateway', 'memory', 'registry', 'account'] as const;
export type Service = (typeof services)[number];

/** How long a service may take, step by step. There is no limit on the whole of a request. */
export interface Timeouts {
  /** To accept a connection. */
  connectMs: number;
  /** From the last byte of the request to the first of the answer. */
  firstByteMs: number;
  /** Between two bytes of the answer. */
  idleMs: number;
}

export interface Group extends Timeouts {
  prefix: string;
  service: Service;
  /** Largest request body. A service may allow less. */
  maxBytes: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

const api: Timeouts = { connectMs: 3_000, firstByteMs: 60_000, idleMs: 60_000 };

/**
 * The vendors' own clients wait ten minutes, and a model may think that long before its first
 * byte. The router waits longer than they do, so that it is never the one who gives up first.
 */
const models: Timeouts = { connectMs: 3_000, firstByteMs: 620_000, idleMs: 620_000 };

/** Which service answers a path. A prefix matches whole segments; the path goes on unchanged. */
export const groups: readonly Group[] = [
  { prefix: '/api/v1/auth', service: 'auth', maxBytes: 64 * KiB, ...api },
  { prefix: '/api/v1/memory', service: 'memory', maxBytes: 1 * MiB, ...api },
  { prefix: '/api/v1/services', service: 'registry', maxBytes: 256 * KiB, ...api },
  { prefix: '/api/v1/agents', service: 'registry', maxBytes: 256 * KiB, ...api },
  { prefix: '/api/user', service: 'account', maxBytes: 64 * KiB, ...api },
  { prefix: '/v1', service: 'model-gateway', maxBytes: 32 * MiB, ...models },
  { prefix: '/v1beta', service: 'model-gateway', maxBytes: 32 * MiB, ...models },
  { prefix: '/compat-a', service: 'model-gateway', maxBytes: 32 * MiB, ...models },
  { prefix: '/compat-b', service: 'model-gateway', maxBytes: 32 * MiB, ...models },
  { prefix: '/compat-c', service: 'model-gateway', maxBytes: 32 * MiB, ...models },
  { prefix: '/compat-d', service: 'model-gateway', maxBytes: 32 * MiB, ...models },
  { prefix: '/open-source/v1', service: 'model-gateway', maxBytes: 32 * MiB, ...models },
];

/** Where each service serves its OpenAPI document: under a prefix of its own. */
export const documentPaths: Readonly<Record<Service, string>> = {
  auth: '/api/v1/auth/openapi.json',
  'model-gateway': '/v1/openapi.json',
  memory: '/api/v1/memory/openapi.json',
  registry: '/api/v1/services/openapi.json',
  account: '/api/user/openapi.json',
};
