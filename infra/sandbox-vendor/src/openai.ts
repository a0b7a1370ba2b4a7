import { hash } from 'node:crypto';
import { answer, type Answer } from './answer.ts';
import { bearerOf, VendorError, type Call, type Dialect } from './dialect.ts';
import { readChatCall, type ChatCall } from './openai-question.ts';

const finishReasons: Record<Answer['stop'], string> = {
  end: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
};

const failures: Record<number, [message: string, code?: string]> = {
  401: ['Incorrect API key provided.', 'invalid_api_key'],
  403: ['Country, region, or territory not supported.', 'unsupported_country_region_territory'],
  429: ['Rate limit reached. Please try again later.', 'rate_limit_exceeded'],
  500: ['The server had an error while processing your request. Sorry about that!'],
  503: ['The engine is currently overloaded, please try again later.'],
};

/** OpenAI's chat completions. */
export const openai: Dialect = {
  name: 'openai',
  requestIdHeader: 'x-request-id',
  credentialOf: bearerOf,
  tagOf: (body) => body['user'],
  checkHeaders: () => {},

  unauthorized: (credential) =>
    credential === undefined
      ? new VendorError(
          401,
          "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        )
      : new VendorError(
          401,
          `Incorrect API key provided: ${quoted(credential)}. The sandbox accepts SANDBOX_VENDOR_KEY.`,
          'invalid_api_key',
        ),
  modelNotFound: (model) =>
    new VendorError(
      404,
      `The model \`${model}\` does not exist or you do not have access to it.`,
      'model_not_found',
    ),
  failure: (status) => {
    const [message, code] = failures[status] ?? [`The sandbox was asked to answer ${status}.`];
    return new VendorError(status, message, code);
  },
  unreadableBody: () =>
    new VendorError(
      400,
      'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)',
    ),
  missingModel: () => new VendorError(400, 'you must provide a model parameter'),

  reply(call) {
    const chat = readChatCall(call);
    const answers = Array.from({ length: chat.choices }, (_, index) =>
      answer(chat.question, index),
    );
    return chat.isStream
      ? { events: streamOf(call, chat, answers) }
      : { body: JSON.stringify(completionOf(call, chat, answers)) };
  },

  models: (ids, createdAtMs) => ({
    object: 'list',
    data: ids.map((id) => ({
      id,
      object: 'model',
      created: Math.floor(createdAtMs / 1000),
      owned_by: 'sandbox',
    })),
  }),

  errorBody: (error) => JSON.stringify(shapeOf(error)),
  errorEvent: (error) => event(shapeOf(error)),
};

function completionOf(call: Call, chat: ChatCall, answers: Answer[]) {
  return {
    ...envelope(call, 'chat.completion'),
    choices: answers.map((each, index) => ({
      index,
      message: {
        role: 'assistant',
        content: contentOf(each),
        refusal: null,
        ...(each.toolCalls.length > 0 && {
          tool_calls: each.toolCalls.map(({ name, argumentTokens }, at) => ({
            id: toolCallId(call, index, at),
            type: 'function',
            function: { name, arguments: argumentTokens.join('') },
          })),
        }),
      },
      logprobs: null,
      finish_reason: finishReasons[each.stop],
    })),
    usage: usageOf(chat, answers),
  };
}

/** One delta per token, the alternatives one after the other. */
function streamOf(call: Call, chat: ChatCall, answers: Answer[]): string[] {
  const shared = envelope(call, 'chat.completion.chunk');
  const events: string[] = [];
  const send = (choices: object[], usage: object | null) =>
    events.push(event({ ...shared, choices, ...(chat.includesUsage && { usage }) }));
  const sendDelta = (index: number, delta: object, finishReason: string | null = null) =>
    send([{ index, delta, logprobs: null, finish_reason: finishReason }], null);

  answers.forEach((each, index) => {
    const content = contentOf(each) === null ? null : '';
    sendDelta(index, { role: 'assistant', content, refusal: null });
    for (const token of each.textTokens) sendDelta(index, { content: token });
    each.toolCalls.forEach(({ name, argumentTokens }, at) => {
      const id = toolCallId(call, index, at);
      sendDelta(index, {
        tool_calls: [{ index: at, id, type: 'function', function: { name, arguments: '' } }],
      });
      for (const token of argumentTokens) {
        sendDelta(index, { tool_calls: [{ index: at, function: { arguments: token } }] });
      }
    });
    sendDelta(index, {}, finishReasons[each.stop]);
  });
  if (chat.includesUsage) send([], usageOf(chat, answers));
  events.push('data: [DONE]\n\n');
  return events;
}

function envelope({ bodySha256, createdAtMs, model }: Call, object: string) {
  return {
    id: `chatcmpl-${bodySha256.slice(0, 29)}`,
    object,
    created: Math.floor(createdAtMs / 1000),
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  };
}

function usageOf({ promptTokens }: ChatCall, answers: Answer[]) {
  const completionTokens = answers.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** A message that only calls tools has no content at all, rather than an empty one. */
function contentOf({ textTokens, toolCalls }: Answer): string | null {
  return textTokens.length === 0 && toolCalls.length > 0 ? null : textTokens.join('');
}

function toolCallId({ bodySha256 }: Call, choice: number, index: number): string {
  return `call_${hash('sha256', `${bodySha256} ${choice} ${index}`, 'hex').slice(0, 24)}`;
}

function shapeOf({ status, message, param, code }: VendorError) {
  let type = 'invalid_request_error';
  if (status === 429) type = 'requests';
  if (status >= 500) type = 'server_error';
  return { error: { message, type, param, code } };
}

/** Shows the ends of a key, as OpenAI does: a proxy that passes this on gives part of it away. */
function quoted(credential: string): string {
  if (credential.length < 12) return '*'.repeat(credential.length);
  return credential.slice(0, 7) + '*'.repeat(credential.length - 11) + credential.slice(-4);
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
