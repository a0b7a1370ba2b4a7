import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from './json.ts';

export type DialectName = 'openai' | 'anthropic';

/** A refusal that the dialect renders in its vendor's shape. */
export class VendorError extends Error {
  status: number;
  code: string | null;
  param: string | null;

  constructor(status: number, message: string, code?: string, param?: string) {
    super(message);
    this.status = status;
    this.code = code ?? null;
    this.param = param ?? null;
  }
}

export interface Call {
  body: JsonObject;
  model: string;
  /** Lower-case hex; ids are derived from it, so equal bodies get equal answers. */
  bodySha256: string;
  createdAtMs: number;
  answerTokens: number | undefined;
  echo: string | undefined;
}

/** A whole JSON body, or the events of a stream, each ready to be written. */
export type Reply = { body: string } | { events: string[] };

/** Everything in which the vendors differ. */
export interface Dialect {
  name: DialectName;
  requestIdHeader: string;
  credentialOf(headers: IncomingHttpHeaders): string | undefined;
  tagOf(body: JsonObject): unknown;
  /** The refusal of a missing or wrong credential. */
  unauthorized(credential: string | undefined): VendorError;
  modelNotFound(model: string): VendorError;
  /** What the vendor says with this status when it is not the caller's fault. */
  failure(status: number): VendorError;
  unreadableBody(): VendorError;
  missingModel(): VendorError;
  /** @throws {VendorError} */
  checkHeaders(headers: IncomingHttpHeaders): void;
  /** @throws {VendorError} if the body is not what the vendor accepts. */
  reply(call: Call): Reply;
  models(ids: string[], createdAtMs: number): JsonObject;
  errorBody(error: VendorError, requestId: string): string;
  /** An error inside a stream that has begun. */
  errorEvent(error: VendorError, requestId: string): string;
}

export function bearerOf({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(.+)$/i.exec(authorization ?? '')?.[1];
}
