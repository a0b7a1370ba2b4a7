import { describe, expect, it } from '@jest/globals';
import { APIError, type Anthropic } from '@anthropic-ai/sdk';
import { chat, key, useSandbox, weather, weatherArguments } from './sandbox.ts';

const sandbox = useSandbox();

const ask = (content: string) => ({ ...chat(content, 'sandbox-messages'), max_tokens: 100 });
const tools = [{ name: weather.name, input_schema: weather.schema }];

type Params = Anthropic.MessageCreateParamsNonStreaming;

/** Ids are derived from the body, in which `stream` differs; the package adds `parsed_output`. */
function comparable(message: Anthropic.Message): unknown {
  const omitted = ['id', 'parsed_output'];
  return JSON.parse(
    JSON.stringify(message, (name, value: unknown) => (omitted.includes(name) ? undefined : value)),
  );
}

describe('messages through the official package', () => {
  it('answers with the last user message, and counts tokens', async () => {
    const message = await sandbox.anthropic().messages.create(ask('hello'));

    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'sandbox-messages',
      content: [{ type: 'text', text: 'You said: hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      // 3 + 4 + ceil(5 / 4) in, ceil(15 / 4) out.
      usage: { input_tokens: 9, output_tokens: 4 },
    });
  });

  it.each<[string, Partial<Params>]>([
    ['text', {}],
    [
      'text of several bytes per character',
      { messages: [{ role: 'user', content: 'Zürich 東京 🗼' }] },
    ],
    ['text cut by max_tokens', { max_tokens: 2 }],
    ['text cut by a stop sequence', { stop_sequences: ['hello'] }],
    ['nothing, cut by a stop sequence', { stop_sequences: ['You'] }],
    ['a forced tool call', { tools, tool_choice: { type: 'tool', name: 'get_weather' } }],
    ['a tool call after text', { tools, messages: [{ role: 'user', content: 'get_weather' }] }],
    ['a tool call cut by max_tokens', { tools, tool_choice: { type: 'any' }, max_tokens: 9 }],
  ])('streams what it answers without a stream: %s', async (_, more) => {
    const params = { ...ask('hello'), ...more };
    const whole = await sandbox.anthropic().messages.create(params);
    const streamed = await sandbox.anthropic().messages.stream(params).finalMessage();

    expect(comparable(streamed)).toEqual(comparable(whole));
  });

  it('sends the events in the order of the vendor', async () => {
    const response = await sandbox.post('/v1/messages', { ...ask('hello'), stream: true });
    const names = [...(await response.text()).matchAll(/^event: (.+)$/gm)].map(([, name]) => name);

    expect(names).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      ...Array.from({ length: 4 }, () => 'content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('calls a tool with input that fits its schema, after a text block', async () => {
    const params = { ...ask('please get_weather'), tools };
    const message = await sandbox.anthropic().messages.create(params);
    const pieces: string[] = [];
    const stream = sandbox.anthropic().messages.stream(params);
    stream.on('inputJson', (piece) => pieces.push(piece));
    await stream.done();

    expect(message.stop_reason).toBe('tool_use');
    expect(message.content).toMatchObject([
      { type: 'text', text: 'I will call get_weather.' },
      { type: 'tool_use', name: 'get_weather', input: weatherArguments },
    ]);
    expect(pieces.length).toBeGreaterThan(5);
    expect(JSON.parse(pieces.join(''))).toEqual(weatherArguments);
  });

  it('answers a tool result with text', async () => {
    const { content } = await sandbox.anthropic().messages.create({
      ...ask('hello'),
      tools,
      messages: [
        { role: 'user', content: 'call get_weather' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }],
        },
      ],
    });

    expect(content).toMatchObject([{ type: 'text', text: 'The tool answered: sunny' }]);
  });

  it('names the stop sequence, and max_tokens', async () => {
    const client = sandbox.anthropic();
    const stopped = await client.messages.create({ ...ask('hello'), stop_sequences: ['hell'] });
    const cut = await client.messages.create({ ...ask('hello'), max_tokens: 1 });

    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'hell' });
    expect(stopped.content).toMatchObject([{ text: 'You said: ' }]);
    expect(cut).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 1 } });
  });

  it('lists its models', async () => {
    const { data } = await sandbox.anthropic().models.list();
    expect(data.map(({ id }) => id)).toEqual(['sandbox-chat', 'sandbox-messages']);
  });
});

describe('refusals in the shape of Anthropic', () => {
  it('refuses a wrong key', async () => {
    const error = await sandbox
      .anthropic('sk-wrong')
      .messages.create(ask('hello'))
      .catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 401, type: 'authentication_error' });
  });

  it('takes the key in x-api-key too, and needs a version', async () => {
    const headers = { 'x-api-key': 'sk-wrong' };
    const wrong = await sandbox.post('/v1/messages', ask('hello'), { headers });
    const unversioned = await sandbox.fetch('/v1/messages', {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(ask('hello')),
    });

    expect(wrong.status).toBe(401);
    expect(unversioned.status).toBe(400);
    expect(await unversioned.json()).toMatchObject({
      error: { message: 'anthropic-version: header is required' },
    });
  });

  it.each([
    [404, 'not_found_error', 'model: claude-x', { ...ask('hello'), model: 'claude-x' }],
    [400, 'invalid_request_error', 'max_tokens: Field required', chat('hello')],
    [400, 'invalid_request_error', 'messages: Field required', { model: 'sandbox-messages' }],
    [400, 'invalid_request_error', 'model: Field required', { messages: [] }],
    [400, 'invalid_request_error', 'The request body is not valid JSON', 'hello'],
  ])('%i %s %s', async (status, type, message, body) => {
    const response = await sandbox.post('/v1/messages', body);

    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type, message },
      request_id: response.headers.get('request-id'),
    });
  });
});
