import type { RawRoute } from '@gatehouse/http';
import type { Deps } from '../deps.ts';
import { messages } from '../dialects.ts';
import { passThrough, passThroughOperation } from '../pass-through.ts';

export const createMessage = (deps: Deps): RawRoute => ({
  ...passThroughOperation,
  path: '/compat-b/v1/messages',
  operation: 'createMessage',
  summary: 'Create a message.',
  description:
    'For Anthropic’s client packages. The header `anthropic-version` is required; its value is ' +
    'passed on. The key is taken in `x-api-key`, `x-goog-api-key` or as `Authorization: Bearer`. ' +
    'The vendor’s own errors pass in its own form; those of Gatehouse carry their code in ' +
    '`x-gatehouse-code`, too.',
  errors: ['version_header_required', ...passThroughOperation.errors],
  handlers: passThrough(deps, messages),
});
