import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '@gatehouse/http';
import type { NextFunction, Request, Response } from 'express';
import type { Dispatcher } from 'undici';
import type { Dialect } from './dialects.ts';
import { relayedHeaders } from './headers.ts';
import type { Outcome, UpstreamMetrics } from './upstream-metrics.ts';

/** In milliseconds. The one for connecting is the pool's. */
export interface Timeouts {
  firstByteMs: number;
  idleMs: number;
  totalMs: number;
}

/** Both sides of an exchange. */
export interface RelayOptions {
  dialect: Dialect;
  timeouts: Timeouts;
  metrics: UpstreamMetrics;
  req: Request;
  res: Response;
  next: NextFunction;
}

/** How long the words about a fault may take to reach a caller who does not read. */
const lastWordsMs = 5_000;

/**
 * Passes a vendor's answer to the caller as it arrives: the same bytes, with the same framing.
 *
 * The head goes out together with the first byte of the body. Until then, a fault is an error
 * like any other, which clients try again; after it, the dialect's error event tells of it and the
 * connection is cut, because the vendors' clients take a clean end for a whole answer.
 */
export class Relay implements Dispatcher.DispatchHandler {
  readonly #options: RelayOptions;
  readonly #startedAt = performance.now();
  readonly #totalTimer: NodeJS.Timeout;
  #phaseTimer: NodeJS.Timeout;
  #upstream: Dispatcher.DispatchController | undefined;
  #status: number | undefined;
  #headers: IncomingHttpHeaders = {};
  #hasBegun = false;
  #isOver = false;
  /** The last bytes of a stream that went out. */
  #tail: Buffer = Buffer.alloc(0);

  constructor(options: RelayOptions) {
    this.#options = options;
    const { firstByteMs, totalMs } = options.timeouts;
    const timeOut = () => this.#fail(new ApiError('upstream_timeout'), 'timeout');
    this.#phaseTimer = setTimeout(timeOut, firstByteMs);
    this.#totalTimer = setTimeout(timeOut, totalMs);
    // Ahead of the listener that logs the end of the request.
    options.res.prependOnceListener('close', () => this.#finish('client_gone'));
  }

  onRequestStart(upstream: Dispatcher.DispatchController): void {
    this.#upstream = upstream;
    // It was over while the connection was made.
    if (this.#isOver) upstream.abort(new Error('over'));
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (status === 401 || status === 403) {
      // The vendor's text quotes parts of the credential, and it is not the caller's that is bad.
      this.#fail(
        new ApiError('upstream_credential_rejected', {
          cause: new Error(`${this.#options.dialect.vendor} answered ${status}`),
        }),
        'credential_rejected',
      );
    } else if (status < 400 && status >= 300) {
      this.#fail(new ApiError('upstream_error', { cause: new Error(`redirect ${status}`) }));
    }
  }

  onResponseData(upstream: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    const { res } = this.#options;
    if (this.#hasBegun) this.#phaseTimer.refresh();
    else this.#begin();
    this.#tail = chunk.length >= 4 ? chunk : Buffer.concat([this.#tail.subarray(-4), chunk]);
    if (!res.write(chunk)) {
      upstream.pause();
      res.once('drain', () => upstream.resume());
    }
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (!this.#hasBegun) this.#begin();
    this.#finish('completed');
    this.#options.res.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(new ApiError('upstream_error', { cause: error }));
  }

  #begin(): void {
    const { res, dialect, metrics, timeouts } = this.#options;
    res.writeHead(this.#status ?? 502, relayedHeaders(dialect, this.#headers));
    this.#hasBegun = true;
    metrics.observeFirstByte(dialect, (performance.now() - this.#startedAt) / 1000);
    clearTimeout(this.#phaseTimer);
    this.#phaseTimer = setTimeout(() => {
      // A caller who takes nothing holds the vendor up: that is not the vendor's silence.
      if (this.#upstream?.paused) res.destroy();
      else this.#fail(new ApiError('upstream_timeout'), 'timeout');
    }, timeouts.idleMs);
  }

  #fail(error: ApiError, outcome: Outcome = 'failed'): void {
    if (this.#isOver) return;
    this.#finish(outcome);
    const { req, res, next, dialect } = this.#options;
    if (!this.#hasBegun) return next(error);
    req.log.warn({ err: error.cause ?? error, code: error.code }, 'the answer was cut');
    if (!this.#isBetweenEvents) return void res.destroy();
    const timer = setTimeout(() => res.destroy(), lastWordsMs);
    res.write(dialect.errorEvent(error), () => {
      clearTimeout(timer);
      res.destroy();
    });
  }

  /** Half an event cannot be taken back: what follows it would be read as its end. */
  get #isBetweenEvents(): boolean {
    const { 'content-type': type = '', 'content-encoding': encoding } = this.#headers;
    return (
      type.startsWith('text/event-stream') &&
      encoding === undefined &&
      /(?:\n\n|\r\r|\r\n\r\n)$/.test(this.#tail.toString('latin1', this.#tail.length - 4))
    );
  }

  /** Ends the exchange with the vendor, whoever ended it. Only the first end counts. */
  #finish(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#phaseTimer);
    clearTimeout(this.#totalTimer);
    const { req, dialect, metrics } = this.#options;
    if (outcome !== 'completed') this.#upstream?.abort(new Error(outcome));
    metrics.countRequest(dialect, this.#status, outcome);
    req.logFields = {
      dialect: dialect.name,
      vendor: dialect.vendor,
      upstream_status: this.#status,
      upstream_request_id: this.#headers[dialect.requestIdHeader],
      outcome,
      // Broken off by us, it would be taken for a caller who left.
      ...(this.#hasBegun && outcome !== 'client_gone' && { status: this.#status }),
    };
  }
}
