import { describe, expect, it } from '@jest/globals';
import { APIError, type OpenAI } from 'openai';
import { chat, key, useSandbox, weather, weatherArguments } from './sandbox.ts';

const sandbox = useSandbox();

const tools = [
  { type: 'function' as const, function: { name: weather.name, parameters: weather.schema } },
];

type Params = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** What the package makes of a stream. */
async function accumulated(params: Params): Promise<OpenAI.Chat.ChatCompletion> {
  const stream = sandbox
    .openai()
    .chat.completions.stream({ ...params, stream: true, stream_options: { include_usage: true } });
  return stream.finalChatCompletion();
}

/** Ids are derived from the body, in which `stream` differs; `parsed` the package itself adds. */
function comparable(completion: OpenAI.Chat.ChatCompletion): unknown {
  const omitted = ['id', 'parsed', 'parsed_arguments'];
  return JSON.parse(
    JSON.stringify(completion, (name, value: unknown) =>
      omitted.includes(name) ? undefined : value,
    ),
  );
}

describe('chat completions through the official package', () => {
  it('answers with the last user message, and counts tokens', async () => {
    const completion = await sandbox.openai().chat.completions.create(chat('hello'));

    expect(completion.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'You said: hello', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
    expect(completion.model).toBe('sandbox-chat');
    // 3 + 4 + ceil(5 / 4) in, ceil(15 / 4) out.
    expect(completion.usage).toMatchObject({
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
    });
  });

  it.each<[string, Partial<Params>]>([
    ['text', {}],
    [
      'text of several bytes per character',
      { messages: [{ role: 'user', content: 'Zürich 東京 🗼' }] },
    ],
    ['text cut by max_tokens', { max_tokens: 2 }],
    ['nothing, cut by a stop sequence', { stop: ['You'] }],
    ['several choices', { n: 3 }],
    ['a forced tool call', { tools, tool_choice: 'required' }],
    [
      'a tool call that the prompt asks for',
      { tools, messages: [{ role: 'user', content: 'get_weather' }] },
    ],
    ['a tool call cut by max_tokens', { tools, tool_choice: 'required', max_tokens: 9 }],
    [
      'JSON after a schema',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'weather', schema: weather.schema },
        },
      },
    ],
  ])('streams what it answers without a stream: %s', async (_, more) => {
    const params = { ...chat('hello'), ...more };
    const whole = await sandbox.openai().chat.completions.create(params);
    const streamed = await accumulated(params);

    expect(comparable(streamed)).toEqual(comparable(whole));
  });

  it('begins a stream with the role, ends it with the usage and [DONE]', async () => {
    const response = await sandbox.post('/v1/chat/completions', {
      ...chat('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    const events = (await response.text()).trimEnd().split('\n\n');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)));

    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(chunks.at(0)).toMatchObject({
      choices: [{ delta: { role: 'assistant', content: '' } }],
    });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it('calls a tool with arguments that fit its schema, streamed in pieces', async () => {
    const params = { ...chat('hello'), tools, tool_choice: 'required' as const };
    const { choices } = await sandbox.openai().chat.completions.create(params);
    const call = choices[0]?.message.tool_calls?.[0];
    if (call?.type !== 'function') throw new Error('no function call');
    const pieces: string[] = [];
    for await (const chunk of await sandbox
      .openai()
      .chat.completions.create({ ...params, stream: true })) {
      pieces.push(chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '');
    }

    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(JSON.parse(call.function.arguments)).toEqual(weatherArguments);
    expect(pieces.filter((piece) => piece !== '').length).toBeGreaterThan(5);
    expect(pieces.join('')).toBe(call.function.arguments);
  });

  it('answers a tool result with text, so that an agent comes to its end', async () => {
    const completion = await sandbox.openai().chat.completions.create({
      ...chat('hello'),
      tools,
      messages: [
        { role: 'user', content: 'call get_weather' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ],
    });

    expect(completion.choices[0]?.message.content).toBe('The tool answered: sunny');
    expect(completion.choices[0]?.finish_reason).toBe('stop');
  });

  it('stops at max_tokens', async () => {
    const params = { ...chat('hello'), max_completion_tokens: 2 };
    const { choices, usage } = await sandbox.openai().chat.completions.create(params);

    expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'You said' } });
    expect(usage?.completion_tokens).toBe(2);
  });

  it('gives equal bodies equal answers, and other bodies other ids', async () => {
    const once = () => sandbox.post('/v1/chat/completions', chat('hello')).then((r) => r.text());
    const other = await sandbox.post('/v1/chat/completions', chat('hello!'));

    expect(await once()).toBe(await once());
    expect(JSON.parse(await other.text()).id).not.toBe(JSON.parse(await once()).id);
  });

  it('lists its models', async () => {
    const { data } = await sandbox.openai().models.list();
    expect(data.map(({ id }) => id)).toEqual(['sandbox-chat', 'sandbox-messages']);
  });
});

describe('refusals in the shape of OpenAI', () => {
  it('quotes the ends of a wrong key', async () => {
    const wrong = 'sk-wrong-00000000000000001234';
    const error = await sandbox
      .openai(wrong)
      .chat.completions.create(chat('hello'))
      .catch((caught: unknown) => caught as APIError);

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'invalid_request_error',
    });
    expect((error as APIError).message).toMatch(/provided: sk-wron\*+1234\./);
    expect((error as APIError).message).not.toContain(key);
  });

  it.each([
    [404, { code: 'model_not_found' }, { ...chat('hello'), model: 'gpt-4o' }],
    [400, { code: 'missing_required_parameter', param: 'messages' }, { model: 'sandbox-chat' }],
    [400, { code: 'empty_array', param: 'messages' }, { model: 'sandbox-chat', messages: [] }],
    [
      400,
      { code: 'invalid_type', param: 'messages' },
      { model: 'sandbox-chat', messages: 'hello' },
    ],
    [
      400,
      { param: 'messages[0].role' },
      { model: 'sandbox-chat', messages: [{ role: 'me', content: '' }] },
    ],
    [
      400,
      { code: 'integer_below_min_value', param: 'max_tokens' },
      { ...chat('hello'), max_tokens: 0 },
    ],
    [400, { code: 'invalid_type', param: 'stream' }, { ...chat('hello'), stream: 'yes' }],
    [400, { param: 'stream_options' }, { ...chat('hello'), stream_options: {} }],
    [400, { param: 'tool_choice' }, { ...chat('hello'), tool_choice: 'required' }],
    [400, { type: 'invalid_request_error' }, { messages: [] }],
    [400, { type: 'invalid_request_error' }, '{"model":'],
    [400, { type: 'invalid_request_error' }, '[]'],
  ])('%i %j', async (status, error, body) => {
    const response = await sandbox.post('/v1/chat/completions', body);

    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({ error });
  });
});
