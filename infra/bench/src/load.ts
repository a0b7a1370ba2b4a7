import type { DevJson } from '@gatehouse/dev';
import autocannon from 'autocannon';

/** What the house told about itself, and the credential that its sandbox vendor takes. */
export type Bench = DevJson & { sandboxVendorKey: string };

export interface Load {
  name: string;
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Figures {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that were not 2xx. */
  refused: number;
}

/** Sends one request again and again over so many connections. */
export async function apply(load: Load, connections: number, seconds: number): Promise<Figures> {
  const result = await autocannon({
    url: load.url,
    method: load.method ?? 'POST',
    headers: { 'content-type': 'application/json', ...load.headers },
    ...(load.body !== undefined && { body: JSON.stringify(load.body) }),
    connections,
    duration: seconds,
  });
  return {
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    refused: result.non2xx,
  };
}

/** Applies the loads in turn, round after round. @returns the median of each, in their order */
export async function compare(loads: Load[], connections: number): Promise<Figures[]> {
  const rounds = 3;
  const runs: Figures[][] = loads.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, load] of loads.entries()) {
      runs[index]?.push(await apply(load, connections, 3));
    }
  }
  return runs.map((figures) => figures.toSorted((a, b) => a.perSecond - b.perSecond)[1]!);
}

/** A row of a table: a name, then figures of fixed width. */
export const row = (name: string, ...cells: (string | number)[]): string =>
  name.padEnd(34) + cells.map((cell) => String(cell).padStart(11)).join('');
