import { sample } from './sample.ts';
import { countTokens, tokenise } from './tokens.ts';

const maxEchoCharacters = 1000;

export interface Tool {
  name: string;
  schema: unknown;
}

/** What of a request decides the answer, in no dialect. */
export interface Question {
  /** The text of the last user message. */
  text: string;
  /** The text of the tool result that the conversation ends with, if it does. */
  toolResult: string | undefined;
  tools: Tool[];
  /** A `{ name }` forces that tool. */
  toolChoice: 'auto' | 'none' | 'required' | { name: string };
  allowsParallelCalls: boolean;
  /** The schema that the answer text must fit as JSON, if one is asked for. */
  format: unknown;
  maxTokens: number;
  stopSequences: string[];
  /** Lengthens the text to this many tokens by repeating it. */
  answerTokens: number | undefined;
  /** Becomes the text word for word. */
  echo: string | undefined;
}

export interface ToolCall {
  name: string;
  argumentTokens: string[];
  /** False where the token limit cut the arguments, which then are no JSON. */
  isWhole: boolean;
}

export interface Answer {
  textTokens: string[];
  toolCalls: ToolCall[];
  stop: 'end' | 'length' | 'stop_sequence' | 'tool_calls';
  stopSequence: string | null;
  /** Text, and name and arguments of each tool call. */
  outputTokens: number;
}

/** The same question always gets the same answer; `choice` counts the alternatives from 0. */
export function answer(question: Question, choice = 0): Answer {
  const tools = toolsToCall(question);
  const text = answerText(question, tools) + (choice > 0 ? ` (choice ${choice + 1})` : '');
  const { kept, stopSequence } = cutAtStop(text, question.stopSequences);

  let left = question.maxTokens;
  let isCut = false;
  const take = (tokens: string[]): string[] => {
    const taken = tokens.length > left ? tokens.slice(0, left) : tokens;
    isCut ||= taken.length < tokens.length;
    left -= taken.length;
    return taken;
  };

  const textTokens = take(lengthened(kept, tools.length > 0 ? undefined : question.answerTokens));
  const toolCalls: ToolCall[] = [];
  for (const tool of stopSequence === null ? tools : []) {
    const nameTokens = countTokens(tool.name);
    if (nameTokens > left) isCut = true;
    if (isCut) break;
    left -= nameTokens;
    const argumentTokens = take(tokenise(JSON.stringify(sample(tool.schema) ?? {})));
    toolCalls.push({ name: tool.name, argumentTokens, isWhole: !isCut });
  }

  let stop: Answer['stop'] = toolCalls.length > 0 ? 'tool_calls' : 'end';
  if (stopSequence !== null) stop = 'stop_sequence';
  if (isCut) stop = 'length';
  const outputTokens = toolCalls.reduce(
    (sum, call) => sum + countTokens(call.name) + call.argumentTokens.length,
    textTokens.length,
  );
  return {
    textTokens,
    toolCalls,
    stop,
    stopSequence: stop === 'stop_sequence' ? stopSequence : null,
    outputTokens,
  };
}

/**
 * A forced choice is followed; otherwise the tools that the last user message names are called.
 * A conversation that ends with a tool result gets text, so that an agent's loop comes to its end.
 */
function toolsToCall({ tools, toolChoice, ...question }: Question): Tool[] {
  if (toolChoice === 'none' || tools.length === 0) return [];
  if (typeof toolChoice === 'object') return tools.filter(({ name }) => name === toolChoice.name);
  if (toolChoice === 'auto' && question.toolResult !== undefined) return [];
  const named = tools.filter(({ name }) => question.text.includes(name));
  const called = named.length === 0 && toolChoice === 'required' ? tools.slice(0, 1) : named;
  return question.allowsParallelCalls ? called : called.slice(0, 1);
}

function answerText(question: Question, tools: Tool[]): string {
  if (tools.length > 0) {
    const names = tools.map(({ name }) => name).join(' and ');
    return question.toolChoice === 'auto' ? `I will call ${names}.` : '';
  }
  if (question.echo !== undefined) return question.echo;
  if (question.format !== undefined) return JSON.stringify(sample(question.format));
  if (question.toolResult !== undefined) return `The tool answered: ${head(question.toolResult)}`;
  return question.text === '' ? 'You said nothing.' : `You said: ${head(question.text)}`;
}

function head(text: string): string {
  return text.length <= maxEchoCharacters ? text : [...text].slice(0, maxEchoCharacters).join('');
}

function lengthened(text: string, tokens: number | undefined): string[] {
  const once = tokenise(text);
  if (tokens === undefined || once.length === 0) return once;
  return Array.from({ length: tokens }, (_, index) => once[index % once.length] ?? '');
}

function cutAtStop(text: string, sequences: string[]) {
  let at = text.length;
  let stopSequence: string | null = null;
  for (const sequence of sequences) {
    const found = sequence === '' ? -1 : text.indexOf(sequence);
    if (found === -1 || found >= at) continue;
    at = found;
    stopSequence = sequence;
  }
  return { kept: text.slice(0, at), stopSequence };
}
