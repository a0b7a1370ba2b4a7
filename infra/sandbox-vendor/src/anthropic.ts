import { hash } from 'node:crypto';
import { answer, type Answer, type ToolCall } from './answer.ts';
import { readMessagesCall } from './anthropic-question.ts';
import { bearerOf, VendorError, type Call, type Dialect } from './dialect.ts';

const stopReasons: Record<Answer['stop'], string> = {
  end: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const failures: Record<number, string> = {
  401: 'invalid x-api-key',
  403: 'Request not allowed',
  429: 'This request would exceed your rate limit. Please try again later.',
  500: 'Internal server error',
  529: 'Overloaded',
};

/** Anthropic's messages. */
export const anthropic: Dialect = {
  name: 'anthropic',
  requestIdHeader: 'request-id',

  // The package sends the key as Bearer since 1.0 and as x-api-key before.
  credentialOf: (headers) => {
    const key = headers['x-api-key'];
    return typeof key === 'string' ? key : bearerOf(headers);
  },
  tagOf: ({ metadata }) => (metadata as { user_id?: unknown } | null | undefined)?.user_id,
  checkHeaders: (headers) => {
    if (headers['anthropic-version'] === undefined) {
      throw new VendorError(400, 'anthropic-version: header is required');
    }
  },

  unauthorized: (credential) =>
    new VendorError(
      401,
      credential === undefined ? 'x-api-key header is required' : 'invalid x-api-key',
    ),
  modelNotFound: (model) => new VendorError(404, `model: ${model}`),
  failure: (status) =>
    new VendorError(status, failures[status] ?? `The sandbox was asked to answer ${status}.`),
  unreadableBody: () => new VendorError(400, 'The request body is not valid JSON'),
  missingModel: () => new VendorError(400, 'model: Field required'),

  reply(call) {
    const { question, isStream, inputTokens } = readMessagesCall(call);
    const answered = answer(question);
    return isStream
      ? { events: streamOf(call, inputTokens, answered) }
      : { body: JSON.stringify(messageOf(call, inputTokens, answered)) };
  },

  models: (ids, createdAtMs) => ({
    data: ids.map((id) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: new Date(createdAtMs).toISOString(),
    })),
    has_more: false,
    first_id: ids.at(0) ?? null,
    last_id: ids.at(-1) ?? null,
  }),

  errorBody: (error, requestId) => JSON.stringify(shapeOf(error, requestId)),
  errorEvent: (error, requestId) => event(shapeOf(error, requestId)),
};

function messageOf(call: Call, inputTokens: number, { textTokens, toolCalls, ...end }: Answer) {
  const text = textTokens.join('');
  return {
    ...envelope(call),
    content: [
      ...(text === '' ? [] : [{ type: 'text', text, citations: null }]),
      ...toolCalls.map((toolCall, index) => ({
        ...toolBlock(call, toolCall, index),
        input: JSON.parse(inputJsonOf(toolCall).join('') || '{}') as unknown,
      })),
    ],
    stop_reason: stopReasons[end.stop],
    stop_sequence: end.stopSequence,
    usage: usageOf(inputTokens, end.outputTokens),
  };
}

/** One delta per token. */
function streamOf(call: Call, inputTokens: number, answered: Answer): string[] {
  const { textTokens, toolCalls, stop, stopSequence, outputTokens } = answered;
  const events: string[] = [];
  const send = (data: { type: string }) => events.push(event(data));
  let index = 0;
  const sendBlock = (block: object, deltas: object[]) => {
    send(typed('content_block_start', { index, content_block: block }));
    if (index === 0) send({ type: 'ping' });
    for (const delta of deltas) send(typed('content_block_delta', { index, delta }));
    send(typed('content_block_stop', { index }));
    index += 1;
  };

  const message = {
    ...envelope(call),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf(inputTokens, Math.min(1, outputTokens)),
  };
  send(typed('message_start', { message }));
  if (textTokens.length > 0) {
    sendBlock(
      { type: 'text', text: '', citations: null },
      textTokens.map((text) => ({ type: 'text_delta', text })),
    );
  }
  toolCalls.forEach((toolCall, at) =>
    sendBlock(
      { ...toolBlock(call, toolCall, at), input: {} },
      ['', ...inputJsonOf(toolCall)].map((json) => ({
        type: 'input_json_delta',
        partial_json: json,
      })),
    ),
  );
  send(
    typed('message_delta', {
      delta: {
        stop_reason: stopReasons[stop],
        stop_sequence: stopSequence,
        stop_details: null,
        container: null,
      },
      usage: {
        input_tokens: inputTokens,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: outputTokens,
      },
    }),
  );
  send({ type: 'message_stop' });
  return events;
}

function envelope({ bodySha256, model }: Call) {
  return {
    id: `msg_${bodySha256.slice(0, 24)}`,
    type: 'message',
    role: 'assistant',
    model,
    container: null,
    stop_details: null,
  };
}

function usageOf(inputTokens: number, outputTokens: number) {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: outputTokens,
    service_tier: 'standard',
  };
}

function toolBlock({ bodySha256 }: Call, { name }: ToolCall, index: number) {
  const id = `toolu_${hash('sha256', `${bodySha256} ${index}`, 'hex').slice(0, 24)}`;
  return { type: 'tool_use', id, name, caller: { type: 'direct' } };
}

/** Input is JSON in this dialect, so arguments that the token limit cut become an empty object. */
function inputJsonOf({ argumentTokens, isWhole }: ToolCall): string[] {
  return isWhole ? argumentTokens : [];
}

function shapeOf({ status, message }: VendorError, requestId: string) {
  const type = errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message }, request_id: requestId };
}

function typed(type: string, fields: object) {
  return { type, ...fields };
}

function event(data: { type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
