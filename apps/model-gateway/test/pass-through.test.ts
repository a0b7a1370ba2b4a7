import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  anthropicClient,
  dialectNames,
  dialects,
  openaiClient,
  post,
  startHouse,
  type DialectName,
} from './harness.ts';

let house: Awaited<ReturnType<typeof startHouse>>;
let gateway: Awaited<ReturnType<typeof house.startGateway>>;
let key: string;

beforeAll(async () => {
  house = await startHouse();
  gateway = await house.startGateway();
  ({ key } = await house.createKey());
});
afterAll(() => house.stop());

const weather = {
  name: 'get_weather',
  description: 'The weather in a city.',
  schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};

describe.each(['/v1', '/compat-a/v1'])('the OpenAI client on %s', (base) => {
  const question = {
    model: 'sandbox-chat',
    messages: [{ role: 'user' as const, content: 'Hello, gateway.' }],
  };
  const tools = [
    {
      type: 'function' as const,
      function: {
        name: weather.name,
        description: weather.description,
        parameters: weather.schema,
      },
    },
  ];

  it('gets a completion', async () => {
    const client = openaiClient(gateway.url, key, base);
    const completion = await client.chat.completions.create(question);
    expect(completion.choices[0]?.message.content).toBe('You said: Hello, gateway.');
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('gets the same completion as a stream, with usage', async () => {
    const client = openaiClient(gateway.url, key, base);
    const stream = client.chat.completions.stream({
      ...question,
      stream_options: { include_usage: true },
    });
    let deltas = '';
    for await (const chunk of stream) deltas += chunk.choices[0]?.delta.content ?? '';
    const completion = await stream.finalChatCompletion();
    expect(deltas).toBe('You said: Hello, gateway.');
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(completion.usage?.completion_tokens).toBeGreaterThan(0);
  });

  it('gets tool calls, whole and streamed', async () => {
    const client = openaiClient(gateway.url, key, base);
    const call = { ...question, tools, tool_choice: 'required' as const };
    const whole = await client.chat.completions.create(call);
    const streamed = await client.chat.completions.stream(call).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.finish_reason).toBe('tool_calls');
      const [toolCall] = choices[0]?.message.tool_calls ?? [];
      if (toolCall?.type !== 'function') throw new Error('no function call');
      expect(toolCall.function.name).toBe('get_weather');
      expect(JSON.parse(toolCall.function.arguments)).toHaveProperty('city');
    }
  });
});

describe('the Anthropic client on /compat-b', () => {
  const question = {
    model: 'sandbox-messages',
    max_tokens: 200,
    messages: [{ role: 'user' as const, content: 'Hello, gateway.' }],
  };

  it('gets a message', async () => {
    const message = await anthropicClient(gateway.url, key).messages.create(question);
    expect(message.content).toMatchObject([{ type: 'text', text: 'You said: Hello, gateway.' }]);
    expect(message._request_id).toMatch(/^req_sandbox/);
  });

  it('gets the same message as a stream', async () => {
    const stream = anthropicClient(gateway.url, key).messages.stream(question);
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([{ type: 'text', text: 'You said: Hello, gateway.' }]);
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  it('gets tool calls, whole and streamed', async () => {
    const client = anthropicClient(gateway.url, key);
    const { schema: input_schema, ...tool } = weather;
    const call = {
      ...question,
      tools: [{ ...tool, input_schema }],
      tool_choice: { type: 'any' as const },
    };
    const whole = await client.messages.create(call);
    const streamed = await client.messages.stream(call).finalMessage();
    for (const message of [whole, streamed]) {
      expect(message.stop_reason).toBe('tool_use');
      expect(message.content).toMatchObject([{ type: 'tool_use', name: 'get_weather' }]);
    }
  });

  it('reaches the beta endpoint with its query and its header', async () => {
    const client = anthropicClient(gateway.url, key);
    const tag = 'beta';
    await client.beta.messages.create({
      ...question,
      metadata: { user_id: tag },
      betas: ['some-beta-2026-01-01'],
    });
    const { headers } = await house.sandbox.waitFor(tag);
    expect(headers['anthropic-beta']).toBe('some-beta-2026-01-01');
  });
});

describe.each(dialectNames)('%s', (name) => {
  const dialect = dialects[name];

  it.each([false, true])('passes bytes as they are, stream %s', async (stream) => {
    const tag = `bytes-${name}-${stream}`;
    // Spaces, escapes, an order of keys and a field that nobody knows: any re-writing would show.
    const text = JSON.stringify(dialect.body(tag, { stream }), null, 3)
      .replace('Hello', '\\u0048ello \u{1F44B}')
      .replace('{', '{ "unknown_field" : 1.0e2 ,');
    const answer = await post(gateway.url, name, key, text);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.status).toBe(200);
    const seen = await house.sandbox.waitFor(tag);
    expect(seen.body_sha256).toBe(createHash('sha256').update(text).digest('hex'));

    const direct = await fetch(house.sandbox.url + dialect.vendorPath, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.vendorKey}`, ...dialect.headers },
      body: text,
    });
    expect(Buffer.from(await direct.arrayBuffer()).equals(bytes)).toBe(true);
    expect(answer.headers.get('content-type')).toBe(direct.headers.get('content-type'));
  });

  it('passes each event on when it comes', async () => {
    const tag = `chunks-${name}`;
    const abort = new AbortController();
    const answer = await fetch(gateway.url + dialect.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, ...dialect.headers },
      body: JSON.stringify(
        dialect.body(tag, { model: 'sandbox-chat+hang_after_chunks=3', stream: true }),
      ),
      signal: abort.signal,
    });
    // The vendor has sent three events and is silent: were one held back, this would not end.
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.split('\n\n').length > 3) break;
    }
    abort.abort();
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    await house.sandbox.waitFor(tag, 'aborted');
  });

  it('shows the vendor its own credential and nothing of the caller', async () => {
    const tag = `headers-${name}`;
    await post(gateway.url, name, key, dialect.body(tag), {
      authorization: `Bearer ${key}`,
      'x-goog-api-key': key,
      cookie: 'session=1',
      'x-forwarded-for': '203.0.113.7',
      'accept-encoding': 'gzip, br',
      'openai-organization': 'org-of-the-caller',
      'idempotency-key': 'one',
      'x-stainless-os': 'Linux',
      'user-agent': 'a caller',
    });
    const { headers, credential_matched } = await house.sandbox.waitFor(tag);
    expect(credential_matched).toBe(true);
    expect(Object.keys(headers).sort()).toEqual(
      [
        'accept',
        ...(name === 'messages' ? ['anthropic-version', 'x-api-key'] : ['authorization']),
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
      ].sort(),
    );
    expect(headers['user-agent']).toBe('gatehouse');
  });

  it('tells both ids of a request', async () => {
    const answer = await post(gateway.url, name, key, dialect.body('ids'), {
      'x-request-id': 'chosen-by-caller',
    });
    expect(answer.headers.get('x-request-id')).toBe('chosen-by-caller');
    expect(answer.headers.get('x-upstream-request-id')).toMatch(/^req_sandbox/);
    expect(answer.headers.get('request-id')).toEqual(
      name === 'messages' ? expect.stringMatching(/^req_sandbox/) : null,
    );
    expect(answer.headers.get('x-sandbox-body-sha256')).toBeNull();
  });
});

it('loses nothing of a long stream to a slow reader', async () => {
  const body = JSON.stringify(
    dialects.messages.body('slow', { model: 'sandbox-x+answer_tokens=30000', stream: true }),
  ).replace('1000', '100000');
  const answer = await post(gateway.url, 'messages', key, body);
  const hash = createHash('sha256');
  for await (const chunk of answer.body ?? []) {
    hash.update(chunk as Uint8Array);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const direct = await fetch(`${house.sandbox.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': house.vendorKey, ...dialects.messages.headers },
    body,
  });
  const directBytes = Buffer.from(await direct.arrayBuffer());
  expect(directBytes.length).toBeGreaterThan(1_000_000);
  expect(hash.digest('hex')).toBe(createHash('sha256').update(directBytes).digest('hex'));
});

it('passes a body of nearly the largest size', async () => {
  const content = 'x'.repeat(32 * 1024 * 1024 - 1000);
  const body = dialects.messages.body('large', { messages: [{ role: 'user', content }] });
  const answer = await post(gateway.url, 'messages', key, body);
  expect(answer.status).toBe(200);
});

it('counts what it asked of vendors, and logs it without bodies', async () => {
  await post(gateway.url, 'messages', key, dialects.messages.body('counted'));
  const text = await gateway.metrics.metrics();
  for (const [name, vendor] of [
    ['chat_completions', 'openai'],
    ['messages', 'anthropic'],
  ] satisfies [DialectName, string][]) {
    expect(text).toMatch(
      new RegExp(
        `upstream_requests_total\\{dialect="${name}",vendor="${vendor}",status="200",outcome="completed",.* \\d`,
      ),
    );
  }
  expect(text).toContain('upstream_time_to_first_byte_seconds_bucket');
  expect(text).toMatch(/upstream_requests_in_progress\{vendor="openai",.*\} 0/);
  const line = JSON.parse(house.logLines.at(-1) ?? '{}') as object;
  expect(line).toMatchObject({
    route: '/compat-b/v1/messages',
    status: 200,
    vendor: 'anthropic',
    upstream_status: 200,
    outcome: 'completed',
  });
  const all = house.logLines.join('');
  for (const secret of [key, house.vendorKey, 'Hello', 'session=1', 'caller)']) {
    expect(all).not.toContain(secret);
  }
});
