import { Pool } from 'undici';
import type { Config } from './config.ts';
import type { VendorName } from './dialects.ts';
import { createLimit, type Limit } from './limit.ts';

export interface UpstreamOptions {
  /** Of the vendor. A path in it stands before every path. */
  baseUrl: string;
  /** Our own with the vendor. It never reaches a caller. */
  credential: string;
  /** Connections at most. */
  connections: number;
  connectTimeoutMs: number;
}

/** A vendor, the connections to it and the credential for it. */
export interface Upstream {
  pool: Pool;
  /** One for each request under way. */
  slots: Limit;
  basePath: string;
  credential: string;
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(options.baseUrl);
  const pool = new Pool(origin, {
    connections: options.connections,
    // One request per connection: none waits behind another, and to stop one is to close it.
    pipelining: 1,
    allowH2: false,
    connectTimeout: options.connectTimeoutMs,
    keepAliveTimeout: 30_000,
    // Kept by the relay, which tells the phases apart.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    pool,
    // As many as there are connections, so that none ever queues inside the pool.
    slots: createLimit(options.connections),
    basePath: pathname.replace(/\/+$/, ''),
    credential: options.credential,
  };
}

/** The vendors for which there is a credential. */
export function createUpstreams(config: Config): Partial<Record<VendorName, Upstream>> {
  const limits = {
    connections: config.UPSTREAM_CONNECTIONS,
    connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
  };
  const { OPENAI_API_KEY: openai, ANTHROPIC_API_KEY: anthropic } = config;
  return {
    ...(openai && {
      openai: createUpstream({ baseUrl: config.OPENAI_BASE_URL, credential: openai, ...limits }),
    }),
    ...(anthropic && {
      anthropic: createUpstream({
        baseUrl: config.ANTHROPIC_BASE_URL,
        credential: anthropic,
        ...limits,
      }),
    }),
  };
}
