import type { RawRoute } from '@gatehouse/http';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { chatCompletions } from '../dialects.ts';
import { modelRequest } from '../model-request.ts';
import { passThrough, passThroughErrors, vendorError } from '../pass-through.ts';

export const createChatCompletion = (deps: Deps, path: string, operation: string): RawRoute => ({
  method: 'post',
  path,
  operation,
  summary: 'Create a chat completion.',
  description:
    'For OpenAI’s client packages. The key is taken in `x-api-key`, `x-goog-api-key` or as ' +
    '`Authorization: Bearer`. The vendor’s own errors pass in its own form; those of Gatehouse ' +
    'carry their code in `x-gatehouse-code`, too.',
  credentials: ['apiKey'],
  body: modelRequest,
  responses: {
    200: {
      description: 'The vendor’s answer, as it came.',
      body: z.looseObject({}),
      hasEventStream: true,
    },
  },
  passedThrough: vendorError,
  errors: passThroughErrors,
  handlers: passThrough(deps, chatCompletions),
});
