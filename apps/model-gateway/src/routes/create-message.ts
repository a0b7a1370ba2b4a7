import type { RawRoute } from '@gatehouse/http';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { messages } from '../dialects.ts';
import { modelRequest } from '../model-request.ts';
import { passThrough, passThroughErrors, vendorError } from '../pass-through.ts';

export const createMessage = (deps: Deps): RawRoute => ({
  method: 'post',
  path: '/compat-b/v1/messages',
  operation: 'createMessage',
  summary: 'Create a message.',
  description:
    'For Anthropic’s client packages. The header `anthropic-version` is required; its value is ' +
    'passed on. The key is taken in `x-api-key`, `x-goog-api-key` or as `Authorization: Bearer`. ' +
    'The vendor’s own errors pass in its own form; those of Gatehouse carry their code in ' +
    '`x-gatehouse-code`, too.',
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
  errors: ['version_header_required', ...passThroughErrors],
  handlers: passThrough(deps, messages),
});
