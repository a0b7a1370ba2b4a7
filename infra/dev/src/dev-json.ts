import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeJson } from './write-json.ts';

/** What `npm start` prints, for scripts: `.gatehouse/dev.json`, mode 0600. */
export interface DevJson {
  base_url: string;
  project_id: string;
  publishable_key: string;
  api_key: string;
  account_email: string;
  account_password: string;
  mailbox_url: string;
  mailbox_smtp_url: string;
  /** One working model id per dialect. */
  models: { chat_completions: string; messages: string };
  services: Record<string, { url: string; metrics_url: string }>;
}

const pathIn = (dataDir: string): string => join(dataDir, 'dev.json');

export function readDevJson(dataDir: string): DevJson | undefined {
  const path = pathIn(dataDir);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as DevJson) : undefined;
}

export const writeDevJson = (dataDir: string, value: DevJson): void =>
  writeJson(pathIn(dataDir), value);
