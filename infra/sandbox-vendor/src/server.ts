import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { anthropic } from './anthropic.ts';
import { BodyTooLarge, readBody } from './body.ts';
import { control, sendJson } from './control.ts';
import { deliver, deliverError, pause, type Delivery } from './deliver.ts';
import { VendorError, type Dialect } from './dialect.ts';
import { FaultBoard, InvalidFault, readModel, type Faults } from './faults.ts';
import { isObject, type JsonObject } from './json.ts';
import { openai } from './openai.ts';
import { fingerprint, Recorder } from './record.ts';
import { Replies } from './replies.ts';

export interface SandboxVendorOptions {
  /** The one credential that is accepted. */
  key: string;
  /** Epoch milliseconds for `created`. Stands still unless given, so that answers are repeatable. */
  clock?: () => number;
}

interface Sandbox {
  key: string;
  keyFingerprint: string;
  clock: () => number;
  board: FaultBoard;
  recorder: Recorder;
  replies: Replies;
}

/** Longer than any proxy keeps its connections, so that a proxy never writes to a closing one. */
const keepAliveTimeoutMs = 120_000;
const modelNames = ['sandbox-chat', 'sandbox-messages'];
const acceptedModel = /^sandbox-[a-z0-9][a-z0-9._-]*$/i;
const dialects: Record<string, Dialect> = {
  '/v1/chat/completions': openai,
  '/v1/messages': anthropic,
};

/** A model vendor without a model: the dialects, errors and faults are real, the answers canned. */
export function createSandboxVendor({ key, clock }: SandboxVendorOptions): Server {
  const sandbox: Sandbox = {
    key,
    keyFingerprint: fingerprint(key),
    clock: clock ?? (() => Date.UTC(2026, 0, 1)),
    board: new FaultBoard(),
    recorder: new Recorder(),
    replies: new Replies(),
  };
  const options = { noDelay: true, keepAliveTimeout: keepAliveTimeoutMs };
  return createServer(options, (req, res) => {
    route(sandbox, req, res).catch((error: unknown) => {
      logError(error);
      res.destroy();
    });
  });
}

async function route(sandbox: Sandbox, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
  const dialect = req.method === 'POST' ? dialects[path] : undefined;
  if (dialect !== undefined) return answerCall(sandbox, dialect, path, req, res);
  if (path.startsWith('/_sandbox/')) return control(req, res, sandbox);
  if (path === '/health/ready') return sendJson(res, 200, { status: 'ok' });

  const spoken = req.headers['anthropic-version'] === undefined ? openai : anthropic;
  const credential = spoken.credentialOf(req.headers);
  if (credential !== sandbox.key) return sendError(res, spoken, spoken.unauthorized(credential));
  if (req.method === 'GET' && path === '/v1/models') {
    return sendJson(res, 200, spoken.models(modelNames, sandbox.clock()));
  }
  sendError(res, spoken, new VendorError(404, `Invalid URL (${req.method} ${path})`));
}

function sendError(res: ServerResponse, dialect: Dialect, error: VendorError): void {
  sendJson(res, error.status, JSON.parse(dialect.errorBody(error, 'req_sandbox')) as object);
}

async function answerCall(
  { key, keyFingerprint, clock, board, recorder, replies }: Sandbox,
  dialect: Dialect,
  path: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const record = recorder.begin(dialect.name, 'POST', path, req.rawHeaders);
  const delivery: Delivery = { res, dialect, recorder, record };
  res.once('finish', () => recorder.end(record, record.status === 200 ? 'completed' : 'failed'));
  res.once('close', () => recorder.end(record, 'aborted'));

  try {
    const credential = dialect.credentialOf(req.headers);
    record.credential_matched = credential === key;
    if (record.credential_matched) record.credential_sha256 = keyFingerprint;
    else if (credential !== undefined) record.credential_sha256 = fingerprint(credential);

    const bytes = await readBody(req);
    const bodySha256 = hash('sha256', bytes, 'hex');
    record.body_sha256 = bodySha256;
    record.body_bytes = bytes.length;
    const body = parse(bytes);
    const tag = body && dialect.tagOf(body);
    record.tag = typeof tag === 'string' ? tag : null;
    record.is_stream = body?.['stream'] === true;

    if (!record.credential_matched) throw dialect.unauthorized(credential);
    dialect.checkHeaders(req.headers);
    if (body === undefined) throw dialect.unreadableBody();
    const { model, requested } = modelOf(body, dialect);
    record.model = model;
    const faults: Faults = { ...board.take(record.tag), ...requested };
    record.faults = faults;
    recorder.changed();

    await pause(res, faults.latency_ms);
    if (res.destroyed || faults.hang === true) return;
    if (faults.status !== undefined) {
      return deliverError(delivery, dialect.failure(faults.status), faults.retry_after);
    }
    const reply = replies.get(dialect, {
      body,
      model,
      bodySha256,
      createdAtMs: clock(),
      answerTokens: faults.answer_tokens,
      echo: faults.echo_body_sha256 === true ? bodySha256 : undefined,
    });
    await deliver(delivery, reply, faults);
  } catch (error) {
    if (res.headersSent) throw error;
    deliverError(delivery, refusalOf(error, dialect));
  }
}

function parse(bytes: Buffer): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(bytes.toString());
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Every name that begins with `sandbox-` is a model; what follows a `+` are faults. */
function modelOf(body: JsonObject, dialect: Dialect): { model: string; requested: Faults } {
  const model = body['model'];
  if (typeof model !== 'string' || model === '') throw dialect.missingModel();
  if (!acceptedModel.test(model.split('+', 1)[0] ?? '')) throw dialect.modelNotFound(model);
  return { model, requested: readModel(model).faults };
}

function refusalOf(error: unknown, dialect: Dialect): VendorError {
  if (error instanceof VendorError) return error;
  if (error instanceof InvalidFault) return new VendorError(400, error.message);
  if (error instanceof BodyTooLarge)
    return new VendorError(413, 'Request exceeds the maximum size');
  // JSON is read at any depth but written only as deep as the stack allows.
  if (error instanceof RangeError) return dialect.unreadableBody();
  logError(error);
  return dialect.failure(500);
}

function logError(error: unknown): void {
  const text = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`sandbox-vendor: ${text}\n`);
}
