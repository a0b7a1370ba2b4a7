import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './body.ts';
import { InvalidFault, type FaultBoard } from './faults.ts';
import { present, type Filter, type Recorder } from './record.ts';

const maxWaitMs = 60_000;

/** The sandbox's own endpoints, under /_sandbox/: no vendor has them, and they need no credential. */
export async function control(
  req: IncomingMessage,
  res: ServerResponse,
  { board, recorder }: { board: FaultBoard; recorder: Recorder },
): Promise<void> {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://sandbox');
  const query = (name: string) => searchParams.get(name) ?? undefined;
  const filter: Filter = {
    tag: query('tag'),
    outcome: query('outcome'),
    dialect: query('dialect'),
  };

  switch (`${req.method} ${pathname}`) {
    case 'GET /_sandbox/faults':
      return sendJson(res, 200, { faults: board.list() });
    case 'PUT /_sandbox/faults':
      return sendJson(res, ...(await putFaults(req, board)));
    case 'DELETE /_sandbox/faults':
      board.clear(filter.tag);
      return void res.writeHead(204).end();
    case 'GET /_sandbox/requests':
      return sendJson(res, 200, { requests: recorder.list(filter).map(present) });
    case 'DELETE /_sandbox/requests':
      recorder.clear();
      return void res.writeHead(204).end();
    case 'GET /_sandbox/requests/wait': {
      const count = Number(query('count') ?? 1);
      const timeoutMs = Math.min(Number(query('timeout_ms') ?? 5000), maxWaitMs);
      return waitForRequests(res, recorder, filter, { count, timeoutMs });
    }
    default:
      return sendJson(res, 404, { error: `No ${req.method} ${pathname}` });
  }
}

async function putFaults(req: IncomingMessage, board: FaultBoard): Promise<[number, object]> {
  try {
    return [200, board.put(JSON.parse((await readBody(req)).toString()))];
  } catch (error) {
    if (error instanceof InvalidFault || error instanceof SyntaxError) {
      return [400, { error: error.message }];
    }
    throw error;
  }
}

async function waitForRequests(
  res: ServerResponse,
  recorder: Recorder,
  filter: Filter,
  { count, timeoutMs }: { count: number; timeoutMs: number },
): Promise<void> {
  if (!Number.isInteger(count) || count < 1 || !(timeoutMs >= 0)) {
    return sendJson(res, 400, { error: "'count' and 'timeout_ms' must be positive numbers" });
  }
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), timeoutMs);
  res.once('close', () => end.abort());
  const requests = await recorder.wait(filter, count, end.signal);
  clearTimeout(timer);
  const isFound = requests.length >= count;
  sendJson(res, isFound ? 200 : 404, {
    ...(!isFound && { error: `Fewer than ${count} such requests within ${timeoutMs} ms` }),
    requests: requests.map(present),
  });
}

export function sendJson(res: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  res.end(text);
}
