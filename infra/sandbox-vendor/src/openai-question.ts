import type { Question, Tool } from './answer.ts';
import { VendorError, type Call } from './dialect.ts';
import { isObject, kindOf, textOf, type JsonObject } from './json.ts';
import { countTokens } from './tokens.ts';

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];
const tokensPerMessage = 4;
const tokensPerImage = 85;
const tokensOfReplyPriming = 3;

export interface ChatCall {
  question: Question;
  choices: number;
  isStream: boolean;
  includesUsage: boolean;
  promptTokens: number;
}

/** Checks a chat completion request as far as OpenAI does, in its words. @throws {VendorError} */
export function readChatCall({ body, answerTokens, echo }: Call): ChatCall {
  const messages = readMessages(body['messages']);
  const isStream = readOptional(body, 'stream', 'boolean') ?? false;
  const streamOptions = readOptional(body, 'stream_options', 'object');
  if (streamOptions !== undefined && !isStream) {
    throw invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.", {
      param: 'stream_options',
    });
  }
  const limit =
    readInteger(body, 'max_completion_tokens', 1) ?? readInteger(body, 'max_tokens', 1) ?? Infinity;
  const tools = readTools(body['tools']);
  const lastMessage = messages.at(-1);
  const lastUser = messages.findLast(({ role }) => role === 'user');
  return {
    question: {
      text: textOf(lastUser?.['content']),
      toolResult: lastMessage?.['role'] === 'tool' ? textOf(lastMessage['content']) : undefined,
      tools,
      toolChoice: readToolChoice(body['tool_choice'], tools),
      allowsParallelCalls: readOptional(body, 'parallel_tool_calls', 'boolean') ?? true,
      format: readFormat(body['response_format']),
      maxTokens: limit,
      stopSequences: readStop(body['stop']),
      answerTokens,
      echo,
    },
    choices: readInteger(body, 'n', 1, 128) ?? 1,
    isStream,
    includesUsage: streamOptions?.['include_usage'] === true,
    promptTokens: countPrompt(messages, body['tools']),
  };
}

function readMessages(messages: unknown): JsonObject[] {
  if (messages === undefined) {
    throw invalid("Missing required parameter: 'messages'.", {
      param: 'messages',
      code: 'missing_required_parameter',
    });
  }
  if (!Array.isArray(messages)) throw wrongType('messages', 'an array of objects', messages);
  if (messages.length === 0) {
    throw invalid(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      { param: 'messages', code: 'empty_array' },
    );
  }
  return messages.map((message: unknown, index) => {
    const at = `messages[${index}]`;
    if (!isObject(message)) throw wrongType(at, 'an object', message);
    const { role, content } = message;
    if (typeof role !== 'string' || !roles.includes(role)) {
      const supported = roles.map((each) => `'${each}'`).join(', ');
      throw invalid(`Invalid value: '${String(role)}'. Supported values are: ${supported}.`, {
        param: `${at}.role`,
        code: 'invalid_value',
      });
    }
    const mayBeEmpty = role === 'assistant';
    if (typeof content === 'string' || Array.isArray(content)) return message;
    if (mayBeEmpty && (content === null || content === undefined)) return message;
    throw wrongType(`${at}.content`, 'one of a string or array of objects', content);
  });
}

function readTools(tools: unknown): Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw wrongType('tools', 'an array of objects', tools);
  return tools.map((tool: unknown, index) => {
    const definition = isObject(tool) ? tool['function'] : undefined;
    const name = isObject(definition) ? definition['name'] : undefined;
    if (!isObject(definition) || typeof name !== 'string' || name === '') {
      throw invalid(`Missing required parameter: 'tools[${index}].function.name'.`, {
        param: `tools[${index}].function.name`,
        code: 'missing_required_parameter',
      });
    }
    return { name, schema: definition['parameters'] };
  });
}

function readToolChoice(choice: unknown, tools: Tool[]): Question['toolChoice'] {
  if (choice === undefined || choice === null) return 'auto';
  if (tools.length === 0) {
    throw invalid(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      {
        param: 'tool_choice',
      },
    );
  }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const chosen = isObject(choice) ? choice['function'] : undefined;
  const name = isObject(chosen) ? chosen['name'] : undefined;
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { name };
  throw invalid(
    "Invalid value for 'tool_choice': expected 'none', 'auto', 'required' or a function among 'tools'.",
    { param: 'tool_choice', code: 'invalid_value' },
  );
}

function readFormat(format: unknown): unknown {
  if (!isObject(format)) return undefined;
  if (format['type'] === 'json_object') return { properties: { answer: { type: 'string' } } };
  const named = format['json_schema'];
  return format['type'] === 'json_schema' && isObject(named) ? named['schema'] : undefined;
}

function readStop(stop: unknown): string[] {
  const sequences: unknown[] = Array.isArray(stop) ? stop : [stop ?? ''];
  if (sequences.every((each) => typeof each === 'string')) return sequences;
  throw wrongType('stop', 'one of a string or array of strings', stop);
}

/** 4 tokens for each message, its text, its name and its tool calls, 85 per image, 3 for the reply. */
function countPrompt(messages: JsonObject[], tools: unknown): number {
  let tokens = tokensOfReplyPriming;
  for (const { content, name, tool_calls: calls } of messages) {
    tokens += tokensPerMessage + countTokens(textOf(content));
    if (typeof name === 'string') tokens += countTokens(name);
    if (Array.isArray(calls)) tokens += countTokens(JSON.stringify(calls));
    if (Array.isArray(content)) {
      const images = content.filter((part) => isObject(part) && part['type'] === 'image_url');
      tokens += tokensPerImage * images.length;
    }
  }
  return Array.isArray(tools) ? tokens + countTokens(JSON.stringify(tools)) : tokens;
}

function readOptional(body: JsonObject, key: string, type: 'boolean'): boolean | undefined;
function readOptional(body: JsonObject, key: string, type: 'object'): JsonObject | undefined;
function readOptional(body: JsonObject, key: string, type: 'boolean' | 'object'): unknown {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  if (type === 'object' ? isObject(value) : typeof value === type) return value;
  throw wrongType(key, type === 'object' ? 'an object' : 'a boolean', value);
}

function readInteger(
  body: JsonObject,
  key: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const value = body[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw wrongType(key, 'an integer', value);
  }
  if (value >= min && value <= max) return value;
  const [side, code, bound] =
    value < min
      ? ['below minimum', 'integer_below_min_value', `>= ${min}`]
      : ['above maximum', 'integer_above_max_value', `<= ${max}`];
  throw invalid(
    `Invalid '${key}': integer ${side} value. Expected a value ${bound}, but got ${value} instead.`,
    { param: key, code },
  );
}

function wrongType(param: string, expected: string, value: unknown): VendorError {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${kindOf(value)} instead.`;
  return invalid(message, { param, code: 'invalid_type' });
}

function invalid(message: string, { param, code }: { param?: string; code?: string }) {
  return new VendorError(400, message, code, param);
}
