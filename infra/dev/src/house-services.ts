import { join } from 'node:path';
import type { ChildSpec } from './child-process.ts';
import { waitForReady } from './http-probe.ts';
import { mailboxSpec } from './mailbox.ts';
import { freePort, loopback } from './ports.ts';
import { baseEnvironment, type Service, type ServiceContext } from './services.ts';
import type { Ready } from './supervisor.ts';

const readyTimeoutMs = 60_000;

/** Where a service, or anything else with two doors, listens. */
export interface Ports {
  port: number;
  metricsPort: number;
}

export type PortTable = ReadonlyMap<string, Ports>;

/** Free ports for all; the router's door may be given. */
export async function choosePorts(
  names: Iterable<string>,
  routerPort: number | undefined,
): Promise<PortTable> {
  const taken = new Set<number>();
  const table = new Map<string, Ports>();
  for (const name of names) {
    const given = name === 'gateway-router' ? routerPort : undefined;
    const port = given ?? (await freePort(taken));
    table.set(name, { port, metricsPort: await freePort(taken) });
  }
  return table;
}

export function portsOf(table: PortTable, name: string): Ports {
  const ports = table.get(name);
  if (!ports) throw new Error(`no ports were chosen for ${name}`);
  return ports;
}

export const urlOn = (port: number): string => `http://${loopback}:${port}`;

interface StartOptions {
  root: string;
  nodeArgs: readonly string[];
  context: ServiceContext;
  ports: PortTable;
}

/** How a service is run, and how to know that it serves. */
export function serviceProcess(service: Service, { root, nodeArgs, context, ports }: StartOptions) {
  const { port, metricsPort } = portsOf(ports, service.name);
  const spec: ChildSpec = {
    name: service.name,
    command: process.execPath,
    args: [...nodeArgs, join(root, service.entry)],
    env: {
      ...baseEnvironment(context.user),
      // Half of a service's start is compiling; what the last start compiled is still good.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
      HOST: loopback,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: context.user.LOG_LEVEL ?? 'info',
      // An answer that is still streaming must not hold up Ctrl-C for long.
      SHUTDOWN_TIMEOUT_MS: '5000',
      ...service.env(context),
    },
    cwd: root,
    stage: service.stage,
  };
  const door = service.readyOn === 'port' ? port : metricsPort;
  return { spec, ready: whenReady(service.name, `${urlOn(door)}/health/ready`) };
}

const whenReady =
  (name: string, url: string): Ready =>
  (_child, gone) =>
    waitForReady(name, url, { timeoutMs: readyTimeoutMs, gone });

/** The mailbox: `port` is its page, `metricsPort` its SMTP door. */
export function mailboxProcess(dataDir: string, ports: PortTable, user: NodeJS.ProcessEnv) {
  const { port, metricsPort } = portsOf(ports, 'mailbox');
  const env = baseEnvironment(user);
  const spec = mailboxSpec({ dataDir, webPort: port, smtpPort: metricsPort, env });
  return { spec, ready: whenReady('mailbox', `${urlOn(port)}/healthz`) };
}
