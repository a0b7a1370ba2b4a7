// Makes the secrets of a new deployment:
//
//   node infra/deploy/make-env.mjs .env                                  for docker compose
//   node infra/deploy/make-env.mjs --kubernetes | kubectl create -f -    for k8s/overlays/dev
//
// Neither overwrites what is there: without the SECRETS_KEY_RING of its day no stored secret can
// be read, and without the CREDENTIALS_PEPPERS no API key opens anything.
// Node built-ins only, so that it works before anything is installed.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const password = () => randomBytes(24).toString('hex');
const keyRing = () => `k1:${randomBytes(32).toString('base64')}`;

/** The form of libs/credentials/src/key-format.ts. */
function publishableKey() {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const uniform = [...randomBytes(120)].filter((byte) => byte < 248).slice(0, 30);
  const key = `gh_pub_${uniform.map((byte) => alphabet[byte % 62]).join('')}`;
  let check = '';
  for (let rest = crc32(key), i = 0; i < 6; i++, rest = Math.floor(rest / 62)) {
    check = alphabet[rest % 62] + check;
  }
  return key + check;
}

const made = {
  POSTGRES_PASSWORD: password(),
  DATABASE_ROLE_PASSWORD: password(),
  REDIS_PASSWORD: password(),
  SECRETS_KEY_RING: keyRing(),
  CREDENTIALS_PEPPERS: keyRing(),
  CONSOLE_PUBLISHABLE_KEY: publishableKey(),
};

/** The Secrets that k8s/base names, for the PostgreSQL and Redis of k8s/components/data-stores. */
function kubernetesSecrets() {
  const role = (user, secret) => `postgres://${user}:${secret}@postgres:5432/gatehouse`;
  const secret = (name, stringData) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'gatehouse' },
    stringData,
  });
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      secret('database-admin', {
        DATABASE_ADMIN_URL: role('gatehouse', made.POSTGRES_PASSWORD),
        DATABASE_ROLE_PASSWORD: made.DATABASE_ROLE_PASSWORD,
        POSTGRES_PASSWORD: made.POSTGRES_PASSWORD,
      }),
      secret('database', {
        AUTH_DATABASE_URL: role('gatehouse_auth', made.DATABASE_ROLE_PASSWORD),
        ACCOUNT_DATABASE_URL: role('gatehouse_account', made.DATABASE_ROLE_PASSWORD),
        MODEL_GATEWAY_DATABASE_URL: role('gatehouse_gateway', made.DATABASE_ROLE_PASSWORD),
      }),
      secret('redis', {
        REDIS_URL: `redis://:${made.REDIS_PASSWORD}@redis:6379`,
        REDIS_PASSWORD: made.REDIS_PASSWORD,
      }),
      secret('keys', {
        SECRETS_KEY_RING: made.SECRETS_KEY_RING,
        CREDENTIALS_PEPPERS: made.CREDENTIALS_PEPPERS,
        CONSOLE_PUBLISHABLE_KEY: made.CONSOLE_PUBLISHABLE_KEY,
      }),
    ],
  };
}

const [target] = process.argv.slice(2);
if (target === '--kubernetes') {
  process.stdout.write(`${JSON.stringify(kubernetesSecrets(), undefined, 2)}\n`);
} else if (target) {
  const lines = Object.entries(made).map(([key, value]) => `${key}=${value}\n`);
  try {
    writeFileSync(target, lines.join(''), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    process.stderr.write(
      error.code === 'EEXIST'
        ? `${target} is there already and is kept\n`
        : `${target} cannot be written: ${error.code}\n`,
    );
    process.exit(1);
  }
} else {
  process.stderr.write('usage: node infra/deploy/make-env.mjs <file> | --kubernetes\n');
  process.exit(64);
}
