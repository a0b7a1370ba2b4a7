import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PlainError } from './plain-error.ts';

/** PostgreSQL refuses to run as root: then it runs as this user. */
export interface SystemUser {
  uid: number;
  gid: number;
}

const name = 'postgres';

/** Undefined where the current user will do. */
export function databaseUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return find() ?? create();
}

/** Whether the permission bits let the user through every folder above the path, and into it. */
export function canReach(user: SystemUser, path: string): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  if (((mode >> shift) & 0o1) === 0) return false;
  return dirname(path) === path || canReach(user, dirname(path));
}

// capabilities(7): the bits of those that are used.
const capabilityBits = { dac_override: 1, dac_read_search: 2, setpcap: 8 };

/**
 * The words to put before a command so that it runs as the user and still gets to a checkout
 * below a folder that is closed to it, such as /root: one capability goes along, to read past
 * the permission bits where the system grants that, else (Docker) to override them. The secure
 * bit makes access(2) count it, with which PostgreSQL looks for its own programs.
 */
export function commandAs({ uid, gid }: SystemUser): string[] {
  const capability = (['dac_read_search', 'dac_override'] as const).find(holdsCapability);
  if (!capability || !holdsCapability('setpcap')) {
    throw new PlainError(
      'PostgreSQL does not run as root, and the user "postgres" cannot reach this checkout: move it out of the closed folder, run as another user, or set DATABASE_URL',
    );
  }
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
    '--',
  ];
}

function holdsCapability(name: keyof typeof capabilityBits): boolean {
  if (process.platform !== 'linux') return false;
  const [, hex] = /^CapPrm:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${hex ?? '0'}`) >> BigInt(capabilityBits[name])) & 1n) === 1n;
}

function find(): SystemUser | undefined {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

function create(): SystemUser {
  const options = { stdio: 'pipe' } as const;
  try {
    try {
      execFileSync('groupadd', ['--system', name], options);
    } catch {
      // A group of this name may exist without the user; useradd says so if it does not.
    }
    execFileSync('useradd', ['--system', '--gid', name, '--no-create-home', name], options);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').at(-1) : String(error);
    throw new PlainError(
      `PostgreSQL does not run as root, and the user "postgres" could not be made (${reason}): run as another user, or set DATABASE_URL`,
    );
  }
  const user = find();
  if (!user) throw new PlainError('the user "postgres" was made and is not found');
  return user;
}
