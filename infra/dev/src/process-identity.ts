import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A pid alone may have been given to another process since: its start time tells them apart. */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

/** Undefined when there is no such process, or only its zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedElsewhere(pid);
  return started === undefined ? undefined : { pid, started };
}

export const isAlive = ({ pid, started }: ProcessIdentity): boolean =>
  identify(pid)?.started === started;

/** The command line, or an empty string. */
export function commandLineOf(pid: number): string {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      : ps(pid, 'command=');
  } catch {
    return '';
  }
}

function startedOnLinux(pid: number): string | undefined {
  try {
    // proc(5): the name in brackets may hold spaces; after it come state (3) … starttime (22).
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startedElsewhere(pid: number): string | undefined {
  try {
    return ps(pid, 'lstart=') || undefined;
  } catch {
    return undefined;
  }
}

const ps = (pid: number, column: string): string =>
  execFileSync('ps', ['-o', column, '-p', String(pid)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
