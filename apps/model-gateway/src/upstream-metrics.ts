import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Dialect } from './dialects.ts';
import type { Deps } from './deps.ts';

/** How the exchange with a vendor ended. */
export type Outcome = 'completed' | 'failed' | 'timeout' | 'credential_rejected' | 'client_gone';

export interface UpstreamMetrics {
  observeFirstByte(dialect: Dialect, seconds: number): void;
  /** `status` is the vendor's, and undefined where it gave none. */
  countRequest(dialect: Dialect, status: number | undefined, outcome: Outcome): void;
}

export function createUpstreamMetrics(
  registry: Registry,
  upstreams: Deps['upstreams'],
): UpstreamMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'upstream_requests_total',
    help: 'Requests sent to model vendors, by how they ended.',
    labelNames: ['dialect', 'vendor', 'status', 'outcome'],
    registers,
  });
  const firstByte = new Histogram({
    name: 'upstream_time_to_first_byte_seconds',
    help: 'Time from sending the request to the first byte of the answer’s body.',
    labelNames: ['dialect', 'vendor'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
    registers,
  });
  new Gauge({
    name: 'upstream_requests_in_progress',
    help: 'Requests to model vendors that are under way.',
    labelNames: ['vendor'],
    registers,
    collect() {
      for (const [vendor, { slots }] of Object.entries(upstreams)) {
        this.set({ vendor }, slots.inUse);
      }
    },
  });
  return {
    observeFirstByte({ name, vendor }, seconds) {
      firstByte.observe({ dialect: name, vendor }, seconds);
    },
    countRequest({ name, vendor }, status, outcome) {
      requests.inc({ dialect: name, vendor, status: status ?? 'none', outcome });
    },
  };
}
