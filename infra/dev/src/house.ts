import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { serviceUrl } from '@gatehouse/database/migrate';
import { readDevJson, writeDevJson, type DevJson } from './dev-json.ts';
import { migrate, startCache, startDatabase } from './house-data.ts';
import {
  choosePorts,
  mailboxProcess,
  portsOf,
  serviceProcess,
  urlOn,
  type PortTable,
} from './house-services.ts';
import { acquireLock } from './lock.ts';
import { isNodeError, PlainError } from './plain-error.ts';
import { assertPortIsFree, loopback } from './ports.ts';
import { generateClient } from './prisma-generate.ts';
import { createProgress, line, type Log, type Progress } from './progress.ts';
import { readSecrets, type Secrets } from './secrets.ts';
import { seed } from './seed.ts';
import { modelsFor, services as allServices, type Service } from './services.ts';
import { endLeftovers, Supervisor } from './supervisor.ts';

export const repositoryRoot = resolve(import.meta.dirname, '../../..');

export interface HouseOptions {
  /** Everything it keeps is below this folder. */
  dataDir: string;
  /** The router's port; a free one when left out. */
  port?: number | undefined;
  /** Of the person or test that starts it: PATH, vendor keys, DATABASE_URL, REDIS_URL. */
  env: NodeJS.ProcessEnv;
  log: Log;
  /** Shown to whoever tries to start a second one. */
  command?: string;
  /** False for throw-away data, that is faster when nothing has to reach the disk. */
  isDurable?: boolean;
  /** The services to run, out of those of the table. */
  services?: readonly Service[];
  /** False when only some services run: then there is no door to make an account through. */
  isSeeded?: boolean;
  /** Arguments for Node before the entry of each service. */
  nodeArgs?: readonly string[];
  /** Told of each line that a child writes. */
  onOutput?(name: string, output: string): void;
  /** Ends the start early. */
  signal?: AbortSignal;
}

export interface House {
  devJson: DevJson;
  /** Where each service listens. */
  services: DevJson['services'];
  /** Rejects when a child ends that should not have. */
  failure: Promise<never>;
  /** Ends every process, in order. Repeatable. */
  stop(): Promise<void>;
}

interface Plan extends HouseOptions {
  services: readonly Service[];
  supervisor: Supervisor;
  progress: Progress;
  secrets: Secrets;
  ports: PortTable;
}

/** Starts the house and resolves when all of it answers. Leaves no process when it rejects. */
export async function startHouse(options: HouseOptions): Promise<House> {
  const { dataDir, port, log, signal } = options;
  makeDataDir(dataDir);
  const lock = acquireLock(dataDir, options.command ?? 'start', port);
  let supervisor: Supervisor | undefined;
  const stop = async () => {
    await supervisor?.stop();
    lock.release();
  };
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  signal?.addEventListener('abort', () => aborted.reject(new PlainError('stopped')));
  try {
    const left = await endLeftovers(dataDir);
    if (left > 0) log(line('clean-up', `${left} processes of a killed run ended`));
    if (port !== undefined) await assertPortIsFree(port);
    supervisor = new Supervisor(dataDir, options.onOutput);
    const services = options.services ?? allServices;
    const names = new Set([...allServices, ...services].map(({ name }) => name));
    const plan: Plan = {
      ...options,
      services,
      supervisor,
      progress: createProgress(log),
      secrets: await readSecrets(dataDir),
      ports: await choosePorts([...names, 'mailbox'], port),
    };
    const build = startAll(plan);
    build.catch(() => undefined);
    const devJson = await Promise.race([build, supervisor.failure, aborted.promise]);
    return { devJson, services: devJson.services, failure: supervisor.failure, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Independent steps run side by side; services that need no data do not wait for it. */
async function startAll(plan: Plan): Promise<DevJson> {
  const { services, progress, dataDir } = plan;
  const data = startData(plan);
  const start = (service: Service) => startService(plan, service, data);
  await Promise.all([
    data.databaseUrl,
    data.redisUrl,
    progress.step(
      'mailbox',
      () => startMailbox(plan),
      () => mailboxUrl(plan),
    ),
    progress.step(
      'services',
      () => Promise.all(services.map(start)),
      () => services.map(({ name }) => name).join(', '),
    ),
  ]);
  const isSeeded = plan.isSeeded ?? true;
  const devJson = describe(plan, isSeeded ? await seedHouse(plan) : readDevJson(dataDir));
  if (isSeeded) writeDevJson(dataDir, devJson);
  return devJson;
}

interface Data {
  /** Settles when the database is migrated and the generated client fits it. */
  databaseUrl: Promise<string>;
  redisUrl: Promise<string>;
}

function startData(plan: Plan): Data {
  const { supervisor, env, progress, secrets } = plan;
  const options = { ...plan, isDurable: plan.isDurable ?? true };
  const generated = generateClient(supervisor, repositoryRoot, env.PATH ?? '');
  // Awaited below, and too late if something else fails before.
  generated.catch(() => undefined);
  const databaseUrl = async () => {
    const adminUrl = await startDatabase(options);
    const { rolePassword } = secrets;
    await migrate({ supervisor, progress, root: repositoryRoot, adminUrl, rolePassword });
    await generated;
    return adminUrl;
  };
  return { databaseUrl: databaseUrl(), redisUrl: startCache(options) };
}

async function startService(plan: Plan, service: Service, data: Data): Promise<void> {
  const { supervisor, secrets, ports, env, nodeArgs = [] } = plan;
  const [adminUrl, redisUrl] = service.needsData
    ? await Promise.all([data.databaseUrl, data.redisUrl])
    : ['', ''];
  const { spec, ready } = serviceProcess(service, {
    root: repositoryRoot,
    nodeArgs,
    ports,
    context: {
      urlOf: (name) => urlOn(portsOf(ports, name).port),
      databaseUrl: (role) => serviceUrl(adminUrl, role, secrets.rolePassword),
      redisUrl,
      redisPrefix: redisPrefix(plan),
      secrets,
      user: env,
    },
  });
  await supervisor.start(spec, ready);
}

function startMailbox({ supervisor, dataDir, ports, env }: Plan): Promise<void> {
  const { spec, ready } = mailboxProcess(dataDir, ports, env);
  return supervisor.start(spec, ready);
}

const seedHouse = (plan: Plan) =>
  plan.progress.step(
    'seed',
    () =>
      seed({
        baseUrl: urlOn(portsOf(plan.ports, 'gateway-router').port),
        account: accountOf(plan),
        consoleKey: plan.secrets.consolePublishableKey,
        known: readDevJson(plan.dataDir),
      }),
    ({ isNew }) => (isNew ? 'account, project and keys made' : 'account and keys kept'),
  );

const accountOf = ({ secrets }: Plan) => ({
  email: 'owner@example.com',
  password: secrets.accountPassword,
});

const mailboxUrl = ({ ports }: Plan) => urlOn(portsOf(ports, 'mailbox').port);

function describe(
  plan: Plan,
  keys: Pick<DevJson, 'project_id' | 'publishable_key' | 'api_key'> | undefined,
): DevJson {
  const { ports, services, env } = plan;
  const { email, password } = accountOf(plan);
  return {
    base_url: urlOn(portsOf(ports, 'gateway-router').port),
    project_id: keys?.project_id ?? '',
    publishable_key: keys?.publishable_key ?? '',
    api_key: keys?.api_key ?? '',
    account_email: email,
    account_password: password,
    mailbox_url: mailboxUrl(plan),
    mailbox_smtp_url: `smtp://${loopback}:${portsOf(ports, 'mailbox').metricsPort}`,
    models: modelsFor(env),
    services: Object.fromEntries(
      services.map(({ name, readyOn }) => {
        const { port, metricsPort } = portsOf(ports, name);
        return [
          name,
          { url: urlOn(readyOn === 'port' ? port : metricsPort), metrics_url: urlOn(metricsPort) },
        ];
      }),
    ),
  };
}

/** A Redis of the user's own may serve several checkouts. */
function redisPrefix({ env, dataDir }: Plan): string {
  if (!env.REDIS_URL) return 'gatehouse';
  return `gatehouse-${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`;
}

function makeDataDir(dataDir: string): void {
  try {
    // Open to pass through: PostgreSQL may have to run as another user. Each secret is 0600.
    mkdirSync(dataDir, { recursive: true });
    chmodSync(dataDir, 0o755);
  } catch (error) {
    if (!isNodeError(error)) throw error;
    throw new PlainError(`${dataDir} cannot be made (${error.code}): is the folder writable?`);
  }
}
