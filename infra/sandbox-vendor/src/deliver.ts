import type { ServerResponse } from 'node:http';
import type { Dialect, Reply, VendorError } from './dialect.ts';
import type { Faults } from './faults.ts';
import { nowMs, type Recorder, type RequestRecord } from './record.ts';

export interface Delivery {
  res: ServerResponse;
  dialect: Dialect;
  recorder: Recorder;
  record: RequestRecord;
}

/** Sends an answer as the faults of its request would have it. */
export async function deliver(delivery: Delivery, reply: Reply, faults: Faults): Promise<void> {
  const { res, record, recorder } = delivery;
  const isStream = 'events' in reply;
  const { chunks, ending } = plan(delivery, reply, faults);
  if (ending === 'cut' && chunks.length === 0) {
    recorder.end(record, 'cut');
    res.destroy();
    return;
  }

  record.status = 200;
  res.writeHead(200, {
    'content-type': isStream ? 'text/event-stream; charset=utf-8' : 'application/json',
    ...(isStream && { 'cache-control': 'no-cache' }),
    ...(!isStream && { 'content-length': contentLength(reply.body, chunks, ending) }),
    ...idHeaders(delivery),
  });
  if (faults.first_byte_delay_ms !== undefined || chunks.length === 0) res.flushHeaders();
  await pause(res, faults.first_byte_delay_ms);

  for (const [index, chunk] of chunks.entries()) {
    if (index > 0 && faults.chunk_delay_ms !== undefined) await pause(res, faults.chunk_delay_ms);
    if (res.destroyed) return;
    record.first_byte_at ??= nowMs();
    record.chunks_sent += 1;
    const isLast = ending === 'end' && index === chunks.length - 1;
    if (isLast) res.end(chunk);
    else if (!res.write(chunk)) await drained(res);
  }
  if (ending === 'cut') {
    // The write before it has to leave first: a cut answer is one that had begun.
    res.write('', () => {
      recorder.end(record, 'cut');
      res.destroy();
    });
  }
}

/** Sends a refusal in the vendor's shape. */
export function deliverError(delivery: Delivery, error: VendorError, retryAfter?: number): void {
  const { res, dialect, record } = delivery;
  const body = dialect.errorBody(error, record.id);
  record.status = error.status;
  record.first_byte_at = nowMs();
  res.writeHead(error.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...idHeaders(delivery),
  });
  res.end(body);
}

/** Waits, unless the client leaves first. */
export async function pause(res: ServerResponse, ms: number | undefined): Promise<void> {
  if (ms === undefined || ms === 0 || res.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      res.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    res.once('close', done);
  });
}

interface Plan {
  chunks: string[];
  ending: 'end' | 'cut' | 'hang';
}

/** Which chunks are sent and what follows the last. Without a stream, half the body is a chunk. */
function plan({ dialect, record }: Delivery, reply: Reply, faults: Faults): Plan {
  const { cut_after_chunks: cut, hang_after_chunks: hang, error_after_chunks: error } = faults;
  let chunks: string[];
  if ('events' in reply) {
    chunks = faults.malformed === true ? withBrokenEvent(reply.events) : reply.events;
  } else {
    const body = faults.malformed === true ? half(reply.body) : reply.body;
    chunks = cut === undefined && hang === undefined ? [body] : [half(body)];
  }
  if (cut !== undefined) return { chunks: chunks.slice(0, cut), ending: 'cut' };
  if (hang !== undefined) return { chunks: chunks.slice(0, hang), ending: 'hang' };
  if (error !== undefined && 'events' in reply) {
    const status = dialect.name === 'anthropic' ? 529 : 500;
    const event = dialect.errorEvent(dialect.failure(status), record.id);
    return { chunks: [...chunks.slice(0, error), event], ending: 'end' };
  }
  return { chunks, ending: 'end' };
}

/** The second event breaks off inside its JSON; the events around it are whole. */
function withBrokenEvent(events: string[]): string[] {
  return events.map((event, index) => (index === 1 ? `${half(event).trimEnd()}\n\n` : event));
}

function half(text: string): string {
  return text.slice(0, Math.ceil(text.length * 0.6));
}

/** A body that stops early still announces its full length, or it would seem complete. */
function contentLength(body: string, chunks: string[], ending: Plan['ending']): number {
  if (ending !== 'end') return Buffer.byteLength(body);
  return chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
}

function idHeaders({ dialect, record }: Delivery) {
  return {
    [dialect.requestIdHeader]: record.id,
    ...(record.body_sha256 !== null && { 'x-sandbox-body-sha256': record.body_sha256 }),
  };
}

async function drained(res: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.once('drain', done).once('close', done);
  });
}
