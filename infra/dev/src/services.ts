import type { Role } from '@gatehouse/database/migrate';
import type { StopStage } from './child-process.ts';
import type { Secrets } from './secrets.ts';

/** What the environment of a service is made from. */
export interface ServiceContext {
  /** Where a service listens: `http://127.0.0.1:<port>`. */
  urlOf(name: string): string;
  /** The database, as that role. */
  databaseUrl(role: Role): string;
  redisUrl: string;
  redisPrefix: string;
  secrets: Secrets;
  /** The environment of the person who starts it all. */
  user: NodeJS.ProcessEnv;
}

export interface Service {
  name: string;
  /** Below the root of the repository. */
  entry: string;
  /** Where it answers /health/ready: a worker has no door, only its metrics port. */
  readyOn: 'port' | 'metrics';
  /** Started only when database and Redis are up to date. */
  needsData: boolean;
  stage: StopStage;
  env(context: ServiceContext): Record<string, string>;
}

const app = { readyOn: 'port', needsData: true, stage: 'services' } as const;

/** Every process of ours and everything it is told, besides PORT, METRICS_PORT, HOST, LOG_LEVEL. */
export const services: readonly Service[] = [
  {
    ...app,
    name: 'sandbox-vendor',
    entry: 'infra/sandbox-vendor/src/main.ts',
    needsData: false,
    stage: 'tools',
    env: ({ secrets }) => ({ SANDBOX_VENDOR_KEY: secrets.sandboxVendorKey }),
  },
  {
    ...app,
    name: 'auth',
    entry: 'apps/auth/src/main.ts',
    env: (house) => ({
      ...data(house, 'gatehouse_auth'),
      SECRETS_KEY_RING: house.secrets.keyRing,
    }),
  },
  {
    ...app,
    name: 'auth-worker',
    entry: 'apps/auth/src/worker.ts',
    readyOn: 'metrics',
    env: (house) => data(house, 'gatehouse_auth'),
  },
  {
    ...app,
    name: 'account',
    entry: 'apps/account/src/main.ts',
    env: (house) => ({
      ...data(house, 'gatehouse_account'),
      CREDENTIALS_PEPPERS: house.secrets.peppers,
      AUTH_URL: house.urlOf('auth'),
      CONSOLE_PUBLISHABLE_KEY: house.secrets.consolePublishableKey,
    }),
  },
  {
    ...app,
    name: 'model-gateway',
    entry: 'apps/model-gateway/src/main.ts',
    env: (house) => ({
      ...data(house, 'gatehouse_gateway'),
      CREDENTIALS_PEPPERS: house.secrets.peppers,
      ...vendor(house, 'OPENAI', `${house.urlOf('sandbox-vendor')}/v1`),
      ...vendor(house, 'ANTHROPIC', house.urlOf('sandbox-vendor')),
    }),
  },
  {
    ...app,
    name: 'memory',
    entry: 'apps/memory/src/main.ts',
    needsData: false,
    env: () => ({}),
  },
  {
    ...app,
    name: 'registry',
    entry: 'apps/registry/src/main.ts',
    needsData: false,
    env: () => ({}),
  },
  {
    ...app,
    name: 'gateway-router',
    entry: 'apps/gateway-router/src/main.ts',
    needsData: false,
    stage: 'router',
    env: (house) => ({
      AUTH_URL: house.urlOf('auth'),
      MODEL_GATEWAY_URL: house.urlOf('model-gateway'),
      MEMORY_URL: house.urlOf('memory'),
      REGISTRY_URL: house.urlOf('registry'),
      ACCOUNT_URL: house.urlOf('account'),
    }),
  },
];

const data = (house: ServiceContext, role: Role) => ({
  DATABASE_URL: house.databaseUrl(role),
  REDIS_URL: house.redisUrl,
  REDIS_PREFIX: house.redisPrefix,
});

/** The real vendor where the user has a key for it, else the sandbox. */
function vendor({ user, secrets }: ServiceContext, name: 'OPENAI' | 'ANTHROPIC', sandbox: string) {
  const key = user[`${name}_API_KEY`];
  const baseUrl = user[`${name}_BASE_URL`];
  if (!key) {
    return { [`${name}_API_KEY`]: secrets.sandboxVendorKey, [`${name}_BASE_URL`]: sandbox };
  }
  return { [`${name}_API_KEY`]: key, ...(baseUrl && { [`${name}_BASE_URL`]: baseUrl }) };
}

/** One working model id per dialect. */
export const modelsFor = (user: NodeJS.ProcessEnv) => ({
  chat_completions:
    user.GATEHOUSE_CHAT_MODEL ?? (user.OPENAI_API_KEY ? 'gpt-4o-mini' : 'sandbox-chat'),
  messages:
    user.GATEHOUSE_MESSAGES_MODEL ??
    (user.ANTHROPIC_API_KEY ? 'claude-haiku-4-5' : 'sandbox-messages'),
});

/** Of the user's environment, what every process may see. */
const inherited = [
  'PATH',
  'HOME',
  'LANG',
  'TMPDIR',
  'TZ',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
];

export const baseEnvironment = (user: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    inherited.flatMap((name) => (user[name] === undefined ? [] : [[name, user[name]]])),
  );
