import type { ApiError } from '@gatehouse/http';

export type VendorName = 'openai' | 'anthropic';

/** All in which the vendors' protocols differ, as far as a request that passes unchanged shows. */
export interface Dialect {
  name: 'chat_completions' | 'messages';
  vendor: VendorName;
  /** Below the vendor's base URL. */
  upstreamPath: string;
  credentialHeader(credential: string): Record<string, string>;
  /** Headers of the caller that reach the vendor. Nothing else does. */
  requestHeaders: readonly string[];
  /** A header that the caller must send. */
  versionHeader?: string;
  /** Query parameters of the caller that reach the vendor. */
  query: readonly string[];
  /** Where the vendor gives its own id of the request. */
  requestIdHeader: string;
  /** Headers of the vendor that reach the caller, besides those of any vendor. */
  responseHeaders: readonly string[];
  /** How a stream that has begun tells of a fault, with our code beside the dialect's own words. */
  errorEvent(error: ApiError): string;
}

/** What OpenAI speaks: `POST /v1/chat/completions`. */
export const chatCompletions: Dialect = {
  name: 'chat_completions',
  vendor: 'openai',
  upstreamPath: '/chat/completions',
  credentialHeader: (credential) => ({ authorization: `Bearer ${credential}` }),
  // Not openai-organization and openai-project: whom our credential bills is not the caller's say.
  requestHeaders: ['accept'],
  query: [],
  requestIdHeader: 'x-request-id',
  responseHeaders: ['openai-processing-ms', 'openai-version'],
  errorEvent: ({ message, code, status }) => {
    const type = status === 504 ? 'timeout_error' : 'server_error';
    return `data: ${JSON.stringify({ error: { message, type, param: null, code } })}\n\n`;
  },
};

/** What Anthropic speaks: `POST /v1/messages`. */
export const messages: Dialect = {
  name: 'messages',
  vendor: 'anthropic',
  upstreamPath: '/v1/messages',
  credentialHeader: (credential) => ({ 'x-api-key': credential }),
  requestHeaders: ['accept', 'anthropic-version', 'anthropic-beta'],
  versionHeader: 'anthropic-version',
  query: ['beta'],
  requestIdHeader: 'request-id',
  responseHeaders: ['request-id'],
  errorEvent: ({ message, code, status }) => {
    const type = status === 504 ? 'timeout_error' : 'api_error';
    return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message }, code })}\n\n`;
  },
};
