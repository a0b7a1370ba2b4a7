import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { ApiError, type ErrorCode } from './errors.ts';
import { runChecks, type Health } from './health.ts';
import { createInternalServer } from './metrics.ts';

export interface ServeOptions {
  /** What answers; absent for a worker, which has the internal port alone. */
  app?: RequestListener;
  config: ServerConfig;
  health: Health;
  metrics: Registry;
  log: Logger;
  /** Adjusts the HTTP server before it listens, for upgrades and the like. */
  configure?: (server: Server) => void;
  /** Closes what the app stands on, after the last request was answered. */
  close: () => Promise<void>;
}

/** Where a process listens, and how it stops. See {@link serverEnvironment}. */
export interface ServerConfig {
  HOST: string;
  PORT: number;
  METRICS_PORT: number;
  SHUTDOWN_DELAY_MS: number;
  SHUTDOWN_TIMEOUT_MS: number;
}

/**
 * Serves until SIGTERM or SIGINT, then stops without losing a request: not ready at once, after
 * `SHUTDOWN_DELAY_MS` (in which a load balancer notices) no new connections, what is under way is
 * finished within `SHUTDOWN_TIMEOUT_MS`, then `close`, then exit 0.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { app, config, health, metrics, log } = options;
  const internal = createInternalServer(metrics, async () => (await runChecks(health)).isReady);
  const servers: Server[] = [];
  if (app) {
    const server = createHttpServer(app);
    closeConnectionsWhileDraining(server, health);
    options.configure?.(server);
    await listen(server, config.PORT, config.HOST);
    servers.push(server);
  }
  await listen(internal, config.METRICS_PORT, config.HOST);
  log.info({ port: app && config.PORT, metrics_port: config.METRICS_PORT }, 'serving');

  const stop = async (signal: string) => {
    if (health.isDraining) return;
    health.isDraining = true;
    log.info({ signal }, 'stopping');
    await new Promise((resolve) => setTimeout(resolve, config.SHUTDOWN_DELAY_MS));
    await Promise.all(servers.map((server) => drain(server, config.SHUTDOWN_TIMEOUT_MS)));
    await options.close();
    internal.close();
    internal.closeAllConnections();
    log.info('stopped');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        log.error({ err: error }, 'could not stop cleanly');
        process.exit(1);
      });
    });
  }
}

/** Ends the process with a log line on an error that nobody caught: its state is unknown. */
export function exitOnUncaught(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event);
      process.exit(1);
    });
  }
}

/** A server with the field's usual defences, and our error body for requests it cannot parse. */
export function createHttpServer(app: RequestListener): Server {
  const server = createServer(
    // Longer than any client or proxy in front keeps an idle connection, so that we are never
    // the side that closes one just as a request arrives on it.
    { keepAliveTimeout: 75_000, headersTimeout: 30_000, requestTimeout: 300_000, noDelay: true },
    app,
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    answerRaw(socket, rawErrorCodes[error.code ?? ''] ?? 'validation_failed');
  });
  return server;
}

const rawErrorCodes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'request_header_fields_too_large',
};

/** Writes an error body onto a bare socket and closes it. */
export function answerRaw(socket: Socket, code: ErrorCode, message?: string): void {
  const error = new ApiError(code, message === undefined ? {} : { message });
  const body = JSON.stringify(error.body);
  socket.end(
    `HTTP/1.1 ${error.status} ${code}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const listen = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/**
 * While draining, each connection ends with its answer. Node closes only those that are idle at
 * that moment: the others would be held until their keep-alive runs out, or take new requests.
 */
function closeConnectionsWhileDraining(server: Server, health: Health): void {
  server.prependListener('request', (req, res) => {
    if (health.isDraining) res.setHeader('Connection', 'close');
    else res.once('finish', () => health.isDraining && req.socket.end());
  });
}

async function drain(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearTimeout(timer);
}
