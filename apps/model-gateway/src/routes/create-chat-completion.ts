import type { RawRoute } from '@gatehouse/http';
import type { Deps } from '../deps.ts';
import { chatCompletions } from '../dialects.ts';
import { passThrough, passThroughOperation } from '../pass-through.ts';

export const createChatCompletion = (deps: Deps, path: string, operation: string): RawRoute => ({
  ...passThroughOperation,
  path,
  operation,
  summary: 'Create a chat completion.',
  description:
    'For OpenAI’s client packages. The key is taken in `x-api-key`, `x-goog-api-key` or as ' +
    '`Authorization: Bearer`. The vendor’s own errors pass in its own form; those of Gatehouse ' +
    'carry their code in `x-gatehouse-code`, too.',
  handlers: passThrough(deps, chatCompletions),
});
