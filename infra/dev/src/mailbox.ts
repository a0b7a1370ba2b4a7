import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ChildSpec } from './child-process.ts';
import { loopback } from './ports.ts';

export interface MailboxOptions {
  dataDir: string;
  webPort: number;
  smtpPort: number;
  env: Record<string, string>;
}

/** maildev: takes every mail, delivers none, shows them on a page. */
export function mailboxSpec({ dataDir, webPort, smtpPort, env }: MailboxOptions): ChildSpec {
  const program = createRequire(import.meta.url).resolve('maildev/package.json');
  const folder = join(dataDir, 'mailbox');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    name: 'mailbox',
    command: process.execPath,
    args: [
      join(dirname(program), 'bin/maildev'),
      '--ip',
      loopback,
      '--smtp',
      String(smtpPort),
      '--web-ip',
      loopback,
      '--web',
      String(webPort),
      '--mail-directory',
      folder,
    ],
    env,
    cwd: folder,
    stage: 'tools',
  };
}
