import type { Credentials } from '@gatehouse/credentials';
import type { ServiceOptions } from '@gatehouse/http';
import type { VendorName } from './dialects.ts';
import type { Limit } from './limit.ts';
import type { Timeouts } from './relay.ts';
import type { Upstream } from './upstream.ts';
import type { UpstreamMetrics } from './upstream-metrics.ts';

export interface Deps extends Pick<ServiceOptions, 'log' | 'metrics' | 'health'> {
  credentials: Credentials;
  /** A vendor without a credential of ours is absent. */
  upstreams: Readonly<Partial<Record<VendorName, Upstream>>>;
  upstreamMetrics: UpstreamMetrics;
  timeouts: Timeouts;
  /** Bytes of request bodies in memory. */
  bodyBytes: Limit;
}
