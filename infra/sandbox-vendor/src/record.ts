import { hash } from 'node:crypto';
import type { DialectName } from './dialect.ts';
import type { Faults } from './faults.ts';

export type Outcome = 'in_progress' | 'completed' | 'failed' | 'aborted' | 'cut';

/** What the sandbox saw of one request to a vendor path. Times are epoch milliseconds. */
export interface RequestRecord {
  id: string;
  dialect: DialectName;
  method: string;
  path: string;
  model: string | null;
  /** OpenAI's `user`, Anthropic's `metadata.user_id`. */
  tag: string | null;
  is_stream: boolean;
  rawHeaders: string[];
  credential_sha256: string | null;
  credential_matched: boolean;
  body_sha256: string | null;
  body_bytes: number;
  faults: Faults;
  status: number | null;
  chunks_sent: number;
  received_at: number;
  first_byte_at: number | null;
  finished_at: number | null;
  aborted_at: number | null;
  outcome: Outcome;
}

export interface Filter {
  tag?: string | undefined;
  outcome?: string | undefined;
  dialect?: string | undefined;
}

const capacity = 1000;
const secretHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'apikey',
  'x-goog-api-key',
  'cookie',
]);

/** Epoch milliseconds with the fraction that Date.now() lacks. */
export const nowMs = () => performance.timeOrigin + performance.now();

/** Twelve hex digits: enough to compare two credentials, too few to recover one. */
export const fingerprint = (secret: string) => hash('sha256', secret, 'hex').slice(0, 12);

/** The last 1000 requests, and those who wait for one of them to reach an outcome. */
export class Recorder {
  #ring: RequestRecord[] = [];
  #next = 0;
  #count = 0;
  #waiting = new Set<() => void>();

  begin(dialect: DialectName, method: string, path: string, rawHeaders: string[]): RequestRecord {
    const record: RequestRecord = {
      id: `req_sandbox${String(++this.#count).padStart(12, '0')}`,
      dialect,
      method,
      path,
      model: null,
      tag: null,
      is_stream: false,
      rawHeaders,
      credential_sha256: null,
      credential_matched: false,
      body_sha256: null,
      body_bytes: 0,
      faults: {},
      status: null,
      chunks_sent: 0,
      received_at: nowMs(),
      first_byte_at: null,
      finished_at: null,
      aborted_at: null,
      outcome: 'in_progress',
    };
    this.#ring[this.#next] = record;
    this.#next = (this.#next + 1) % capacity;
    return record;
  }

  /** Notes how a request ended; only the first end counts. */
  end(record: RequestRecord, outcome: Exclude<Outcome, 'in_progress'>): void {
    if (record.outcome !== 'in_progress') return;
    record.outcome = outcome;
    record[outcome === 'aborted' ? 'aborted_at' : 'finished_at'] = nowMs();
    this.changed();
  }

  /** To be called when what a filter sees has changed. */
  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** Oldest first. */
  list(filter: Filter): RequestRecord[] {
    const inOrder = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    return inOrder.filter(
      (record) =>
        (filter.tag === undefined || record.tag === filter.tag) &&
        (filter.outcome === undefined || record.outcome === filter.outcome) &&
        (filter.dialect === undefined || record.dialect === filter.dialect),
    );
  }

  /** Forgets what is there. A request under way still ends, but is no longer listed. */
  clear(): void {
    this.#ring = [];
    this.#next = 0;
  }

  /**
   * Resolves as soon as `count` records match, or with what there is when `signal` fires.
   * Without an outcome in the filter, only records that have ended count.
   */
  wait(filter: Filter, count: number, signal: AbortSignal): Promise<RequestRecord[]> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.list(filter).filter(
          ({ outcome }) => filter.outcome !== undefined || outcome !== 'in_progress',
        );
        if (found.length < count && !signal.aborted) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      signal.addEventListener('abort', look, { once: true });
      look();
    });
  }
}

/** The record as it is shown: headers by name, credentials as fingerprints. */
export function present({ rawHeaders, ...record }: RequestRecord) {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = mask(name, rawHeaders[index + 1] ?? '');
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { ...record, headers };
}

function mask(name: string, value: string): string {
  if (!secretHeaders.has(name)) return value;
  const [, scheme = '', secret = ''] = /^((?:Bearer|Basic) +)?(.*)$/is.exec(value) ?? [];
  return `${scheme}sha256:${fingerprint(secret)}`;
}
