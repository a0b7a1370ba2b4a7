import { spawnSync } from 'node:child_process';
import type { Supervisor } from './supervisor.ts';

/**
 * policy-rc.d is Debian's way to say that a package's service is not to be started on installing:
 * a second Redis on the default port is not wanted. It is there only for as long as this runs.
 */
const script = `
set -e
if [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
  chmod 755 /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get -y -o DPkg::Lock::Timeout=120 install --no-install-recommends redis-server; }
install || { apt-get -o DPkg::Lock::Timeout=120 update && install; }
if [ -d /run/systemd/system ]; then systemctl disable redis-server || true; fi
`;

/** Installs redis-server with apt-get where there is one and the user may. */
export async function installRedis(
  supervisor: Supervisor,
  environment: NodeJS.ProcessEnv,
  onInstall: () => void,
): Promise<void> {
  const command = rootShell();
  if (!command || !works('apt-get', ['--version'])) return;
  onInstall();
  const [first = '', ...rest] = command;
  await supervisor.run({
    name: 'redis-install',
    command: first,
    args: [...rest, '-c', script],
    env: {
      PATH: `${environment.PATH ?? ''}:/usr/sbin:/sbin`,
      LC_ALL: 'C',
      ...proxies(environment),
    },
    cwd: '/',
    stage: 'tools',
    // Half a package installation is worse than a wait.
    stopSteps: [],
  });
}

function rootShell(): string[] | undefined {
  if (process.getuid?.() === 0) return ['sh'];
  return works('sudo', ['-n', 'true']) ? ['sudo', '-n', 'sh'] : undefined;
}

const works = (command: string, args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const proxies = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        /^(https?|no)_proxy$/i.test(entry[0]) && entry[1] !== undefined,
    ),
  );
