import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { buildImage, type Image } from './build-image.ts';
import { readCompose, type ComposeService } from './compose.ts';
import { startContainer, type Container } from './container.ts';
import { makeEnv } from './make-env.ts';
import { surplusPackages } from './surplus-packages.ts';

/** A PostgreSQL and a Redis in place of those of docker-compose.yml. */
export interface DataStores {
  /** A URL whose user may create databases and roles. */
  adminUrl: string;
  rolePassword: string;
  redisUrl: string;
}

export interface TryOutOptions {
  root: string;
  /** Undefined: what needs a database is built and not started. */
  stores: DataStores | undefined;
  /** Apps; all of them where undefined. */
  only?: readonly string[] | undefined;
  log: (line: string) => void;
}

export interface AppReport {
  buildMs: number;
  /** Of `/app` in the image. */
  bytes: number;
  /** Packages in the image that the app does not stand on. */
  surplus: string[];
}

export interface TryOutReport {
  apps: Record<string, AppReport>;
  /** Exit codes, by name of the service in docker-compose.yml. */
  exits: Record<string, number | null>;
  /** The router's /health/ready: 200 when all groups serve. Undefined where not all were started. */
  routerReady: number | undefined;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 20_000;

/**
 * What `docker compose up` and `down` do, without Docker: builds the image of every app by the
 * steps of infra/Dockerfile, starts every service of docker-compose.yml from those folders with
 * the environment and in the order given there, waits for all to be healthy, and ends them with
 * SIGTERM.
 */
export async function tryOut(options: TryOutOptions): Promise<TryOutReport> {
  const { root, stores, log } = options;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-images-'));
  chmodSync(folder, 0o755);
  const database = stores && (await createDatabase(stores));
  const running: Container[] = [];
  try {
    const services = readCompose(root, {
      ...makeEnv(),
      ...(stores && { DATABASE_ROLE_PASSWORD: stores.rolePassword }),
    });
    const { images, apps } = await buildAll(options, folder, services);
    const exits: TryOutReport['exits'] = {};
    const ports = await choosePorts(services);
    for (const name of startOrder(services, images)) {
      const service = services[name] as ComposeService;
      const place = database && { ...database, redisUrl: stores.redisUrl };
      const env = environmentOf(service, ports, place);
      if (!env) continue;
      const image = images.get(service.image) as Image;
      const container = startContainer({
        name,
        image,
        command: service.command,
        env: { ...env, HOST: '127.0.0.1', ...ports.get(name) },
      });
      if (isOneShot(name, services)) {
        exits[name] = await container.exited;
        if (exits[name] !== 0) throw new Error(`${name} failed\n${container.output()}`);
      } else {
        running.push(container);
        await waitForHealth(container);
      }
      log(`${name}: ${isOneShot(name, services) ? 'done' : 'healthy'}`);
    }
    const { PORT = '' } = ports.get('gateway-router') ?? {};
    const isWhole = running.length + Object.keys(exits).length === ourServices(services).length;
    const routerReady = isWhole ? await statusOf(PORT, '/health/ready') : undefined;
    for (const container of running.reverse()) exits[container.name] = await stop(container);
    return { apps, exits, routerReady };
  } finally {
    for (const container of running) container.stop('SIGKILL');
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Services = Record<string, ComposeService>;

const ourServices = (services: Services) =>
  Object.values(services).filter(({ image }) => image.startsWith('gatehouse/'));

async function buildAll({ root, only, log }: TryOutOptions, folder: string, services: Services) {
  const images = new Map<string, Image>();
  const apps: TryOutReport['apps'] = {};
  const cache = new Map();
  for (const { image: tag, build } of Object.values(services)) {
    if (!build) continue;
    const app = build.args.APP;
    if (only && !only.includes(app)) continue;
    const startedAt = performance.now();
    const options = { context: root, buildArgs: { APP: app }, folder: join(folder, app), cache };
    const image = await buildImage(options);
    const buildMs = Math.round(performance.now() - startedAt);
    images.set(tag, image);
    const tree = join(image.root, 'app');
    const report = { buildMs, bytes: sizeOf(tree), surplus: surplusPackages(tree, app, root) };
    apps[app] = report;
    log(`${app}: built in ${(buildMs / 1000).toFixed(1)} s, ${(report.bytes / 1e6).toFixed(0)} MB`);
  }
  return { images, apps };
}

function sizeOf(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Those of ours, each after what it depends on. */
function startOrder(services: Services, images: Map<string, Image>): string[] {
  const order = new Set<string>();
  const visit = (name: string) => {
    const service = services[name];
    if (!service || !images.has(service.image)) return;
    for (const dependency of Object.keys(service.depends_on ?? {})) visit(dependency);
    order.add(name);
  };
  for (const name of Object.keys(services)) visit(name);
  return [...order];
}

const isOneShot = (name: string, services: Services) =>
  Object.values(services).some(
    ({ depends_on }) => depends_on?.[name]?.condition === 'service_completed_successfully',
  );

interface Ports extends Record<string, string> {
  PORT: string;
  METRICS_PORT: string;
}

async function choosePorts(services: Services): Promise<Map<string, Ports>> {
  const ports = new Map<string, Ports>();
  for (const name of Object.keys(services)) {
    ports.set(name, { PORT: await freePort(), METRICS_PORT: await freePort() });
  }
  return ports;
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return String(port);
}

interface Place {
  adminUrl: string;
  redisUrl: string;
}

/** The service's environment with other hosts; undefined where it needs a store that is not here. */
function environmentOf(
  { environment = {} }: ComposeService,
  ports: Map<string, Ports>,
  place: Place | undefined,
): Record<string, string> | undefined {
  const entries = Object.entries(environment).map(([key, value]) => {
    if (key === 'REDIS_PREFIX') return [key, `try-${randomBytes(4).toString('hex')}`];
    const host = URL.parse(value)?.hostname;
    if (host === 'redis') return [key, place?.redisUrl];
    if (host === 'postgres') return [key, place && databaseUrl(value, place.adminUrl)];
    const { PORT } = (host && ports.get(host)) || {};
    return [key, PORT ? `http://127.0.0.1:${PORT}` : value];
  });
  if (entries.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Roles keep their name and password; the owner is whoever owns the other server. */
function databaseUrl(value: string, adminUrl: string): string {
  const { username, password } = new URL(value);
  const url = new URL(adminUrl);
  if (username !== 'gatehouse') Object.assign(url, { username, password });
  return url.href;
}

async function createDatabase({ adminUrl }: DataStores) {
  const name = `gatehouse_images_${randomBytes(4).toString('hex')}`;
  const query = async (sql: string) => {
    const client = new Client({ connectionString: adminUrl });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await query(`CREATE DATABASE ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { adminUrl: url.href, drop: () => query(`DROP DATABASE ${name} WITH (FORCE)`) };
}

async function waitForHealth(container: Container): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  let hasExited = false;
  void container.exited.then(() => (hasExited = true));
  while (!(await container.isHealthy())) {
    if (hasExited || Date.now() > deadline) {
      throw new Error(`${container.name} is not healthy\n${container.output()}`);
    }
    await delay(100);
  }
}

async function stop(container: Container): Promise<number | null> {
  container.stop('SIGTERM');
  const timer = setTimeout(() => container.stop('SIGKILL'), stopTimeoutMs);
  const code = await container.exited;
  clearTimeout(timer);
  return code;
}

async function statusOf(port: string, path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  await response.body?.cancel();
  return response.status;
}
