import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

const any = fc.jsonValue({ maxDepth: 3 });
const part = fc.record({ type: fc.constantFrom('text', 'image', 'tool_result'), text: any });
const message = fc.record({
  role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
  content: fc.oneof(fc.string(), fc.array(part), any),
});
const tool = fc.record({ name: fc.string(), input_schema: any, function: any });
const body = fc.record(
  {
    model: fc.oneof({ weight: 9, arbitrary: fc.constant('sandbox-chat') }, any),
    messages: fc.oneof({ weight: 9, arbitrary: fc.array(message) }, any),
    max_tokens: fc.oneof({ weight: 9, arbitrary: fc.integer() }, any),
    tools: fc.oneof(fc.array(tool), any),
    tool_choice: fc.oneof(fc.constantFrom('auto', 'required'), any),
    stop: any,
    stop_sequences: any,
    stream: fc.oneof(fc.boolean(), any),
    stream_options: any,
    n: fc.integer(),
    response_format: any,
    output_config: any,
    metadata: any,
    user: any,
  },
  { requiredKeys: ['model', 'messages'] },
);

describe('a body of any kind', () => {
  it.each(['/v1/chat/completions', '/v1/messages'])('is answered or refused: %s', async (path) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, any), async (generated) => {
        const response = await sandbox.post(path, generated);
        await response.text();
        expect([200, 400, 404]).toContain(response.status);
      }),
      { numRuns: 200 },
    );
  });

  it.each(['/v1/chat/completions', '/v1/messages'])('however deep: %s', async (path) => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    const tools = `[{"name":"a","function":{"name":"a"},"input_schema":${deep}}]`;
    const messages = '[{"role":"user","content":"hello"}]';
    const response = await sandbox.post(
      path,
      `{"model":"sandbox-chat","max_tokens":9,"messages":${messages},"tools":${tools}}`,
    );
    expect(response.status).toBe(400);
  });
});
