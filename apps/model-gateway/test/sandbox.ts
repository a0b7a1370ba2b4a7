import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const main = resolve(import.meta.dirname, '../../../infra/sandbox-vendor/src/main.ts');

/** What the sandbox vendor saw of a request. Times are epoch milliseconds. */
export interface Seen {
  id: string;
  path: string;
  headers: Record<string, string>;
  credential_matched: boolean;
  body_sha256: string;
  chunks_sent: number;
  outcome: string;
  aborted_at: number | null;
}

/** The sandbox vendor, in a process of its own. */
export async function startSandbox(key: string) {
  const child = spawn(process.execPath, [main], {
    env: { SANDBOX_VENDOR_KEY: key, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const url = /http:\S+/.exec(line)?.[0];
  if (url === undefined) throw new Error(`the sandbox vendor said: ${line}`);

  return {
    url,
    /** Waits until a request with that tag has come to that outcome. */
    async waitFor(tag: string, outcome?: string): Promise<Seen> {
      const query = new URLSearchParams({ tag, ...(outcome !== undefined && { outcome }) });
      const answer = await fetch(`${url}/_sandbox/requests/wait?${query.toString()}`);
      const { requests, error } = (await answer.json()) as { requests: Seen[]; error?: string };
      const [seen] = requests;
      if (!seen) throw new Error(error ?? 'no such request');
      return seen;
    },
    async count(): Promise<number> {
      const answer = await fetch(`${url}/_sandbox/requests`);
      return ((await answer.json()) as { requests: Seen[] }).requests.length;
    },
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
