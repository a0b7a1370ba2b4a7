import type { Question, Tool } from './answer.ts';
import { VendorError, type Call } from './dialect.ts';
import { isObject, textOf, type JsonObject } from './json.ts';
import { countTokens } from './tokens.ts';

const tokensPerMessage = 4;
const tokensPerImage = 85;
const tokensOfReplyPriming = 3;

export interface MessagesCall {
  question: Question;
  isStream: boolean;
  inputTokens: number;
}

/** Checks a messages request as far as Anthropic does, in its words. @throws {VendorError} */
export function readMessagesCall({ body, answerTokens, echo }: Call): MessagesCall {
  const { max_tokens: maxTokens, stream } = body;
  const messages = readMessages(body['messages']);
  if (maxTokens === undefined) throw invalid('max_tokens: Field required');
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens)) {
    throw invalid('max_tokens: Input should be a valid integer');
  }
  if (maxTokens < 1) throw invalid('max_tokens: Input should be greater than or equal to 1');
  if (stream !== undefined && typeof stream !== 'boolean') {
    throw invalid('stream: Input should be a valid boolean');
  }
  const tools = readTools(body['tools']);
  const choice = readToolChoice(body['tool_choice'], tools);
  const lastUser = messages.findLast(({ role }) => role === 'user');
  return {
    question: {
      text: textOf(lastUser?.['content']),
      toolResult: toolResultOf(messages.at(-1)),
      tools,
      toolChoice: choice.toolChoice,
      allowsParallelCalls: choice.allowsParallelCalls,
      format: formatOf(body['output_config']),
      maxTokens,
      stopSequences: readStopSequences(body['stop_sequences']),
      answerTokens,
      echo,
    },
    isStream: stream === true,
    inputTokens: countInput(messages, body['system'], body['tools']),
  };
}

function readMessages(messages: unknown): JsonObject[] {
  if (messages === undefined) throw invalid('messages: Field required');
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a valid list');
  if (messages.length === 0) throw invalid('messages: at least one message is required');
  return messages.map((message: unknown, index) => {
    const at = `messages.${index}`;
    if (!isObject(message)) throw invalid(`${at}: Input should be an object`);
    const { role, content } = message;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      throw invalid(`${at}.role: Input should be 'user', 'assistant' or 'system'`);
    }
    if (content === undefined) throw invalid(`${at}.content: Field required`);
    if (typeof content === 'string') return message;
    if (!Array.isArray(content) || !content.every(isObject)) {
      throw invalid(`${at}.content: Input should be a valid list`);
    }
    return message;
  });
}

function readTools(tools: unknown): Tool[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) throw invalid('tools: Input should be a valid list');
  return tools.map((tool: unknown, index) => {
    const name = isObject(tool) ? tool['name'] : undefined;
    if (!isObject(tool) || typeof name !== 'string' || name === '') {
      throw invalid(`tools.${index}.name: Field required`);
    }
    return { name, schema: tool['input_schema'] };
  });
}

function readToolChoice(choice: unknown, tools: Tool[]) {
  if (choice === undefined) return { toolChoice: 'auto' as const, allowsParallelCalls: true };
  if (!isObject(choice)) throw invalid('tool_choice: Input should be an object');
  const allowsParallelCalls = choice['disable_parallel_tool_use'] !== true;
  return { toolChoice: chosenTool(choice, tools), allowsParallelCalls };
}

function chosenTool({ type, name }: JsonObject, tools: Tool[]): Question['toolChoice'] {
  if (type === 'none') return 'none';
  if (tools.length === 0) {
    throw invalid('tool_choice: tool_choice may only be specified while providing tools');
  }
  if (type === 'auto') return 'auto';
  if (type === 'any') return 'required';
  if (type !== 'tool') {
    throw invalid("tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'");
  }
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { name };
  throw invalid(`tool_choice: Tool '${String(name)}' not found in provided tools`);
}

function readStopSequences(sequences: unknown): string[] {
  if (sequences === undefined) return [];
  if (Array.isArray(sequences) && sequences.every((each) => typeof each === 'string')) {
    return sequences;
  }
  throw invalid('stop_sequences: Input should be a valid list of strings');
}

function formatOf(outputConfig: unknown): unknown {
  const format = isObject(outputConfig) ? outputConfig['format'] : undefined;
  return isObject(format) && format['type'] === 'json_schema' ? format['schema'] : undefined;
}

function toolResultOf(message: JsonObject | undefined): string | undefined {
  const result = partsOf(message?.['content']).findLast(({ type }) => type === 'tool_result');
  return result === undefined ? undefined : textOf(result['content']);
}

/** 4 tokens for each message, its text, tool calls and results, 85 per image, 3 for the reply. */
function countInput(messages: JsonObject[], system: unknown, tools: unknown): number {
  let tokens = tokensOfReplyPriming;
  if (system !== undefined) tokens += tokensPerMessage + countTokens(textOf(system));
  for (const { content } of messages) {
    tokens += tokensPerMessage + countTokens(textOf(content));
    for (const part of partsOf(content)) {
      if (part['type'] === 'image') tokens += tokensPerImage;
      if (part['type'] === 'tool_use') tokens += countTokens(JSON.stringify(part));
      if (part['type'] === 'tool_result') tokens += countTokens(textOf(part['content']));
    }
  }
  return Array.isArray(tools) ? tokens + countTokens(JSON.stringify(tools)) : tokens;
}

function partsOf(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function invalid(message: string): VendorError {
  return new VendorError(400, message);
}
