import { createService, plannedRoute, toApiError } from '@gatehouse/http';
import type { ErrorRequestHandler } from 'express';
import type { Deps } from './deps.ts';
import { createChatCompletion } from './routes/create-chat-completion.ts';
import { createMessage } from './routes/create-message.ts';
import { explainGenaiVersion } from './wrong-address.ts';

/** The vendors' paths, in the order of interface section 4.2. */
export const createApp = (deps: Deps) =>
  createService({
    title: 'Model gateway',
    prefix: '',
    documentPath: '/v1/openapi.json',
    log: deps.log,
    metrics: deps.metrics,
    health: deps.health,
    before: [explainGenaiVersion],
    onError: tellVendorClients,
    routes: [
      plannedRoute('post', '/v1beta/models/:model\\:generateContent', 'generateContent'),
      plannedRoute('post', '/v1beta/models/:model\\:streamGenerateContent', 'streamContent'),
      plannedRoute('post', '/v1beta/models/:model\\:predictLongRunning', 'predictLongRunning'),
      createChatCompletion(deps, '/compat-a/v1/chat/completions', 'createChatCompletionCompatA'),
      plannedRoute('post', '/compat-a/v1/images/generations', 'generateImageCompatA'),
      plannedRoute('post', '/compat-a/v1/images/edits', 'editImageCompatA'),
      createMessage(deps),
      plannedRoute('post', '/compat-c/v1/chat/completions', 'createChatCompletionCompatC'),
      plannedRoute('post', '/compat-d/v1/tts', 'createSpeech'),
      createChatCompletion(deps, '/v1/chat/completions', 'createChatCompletion'),
      plannedRoute('post', '/v1/images/generations', 'generateImage'),
      plannedRoute('post', '/v1/images/edits', 'editImage'),
      plannedRoute('post', '/:family/v1/chat/completions', 'createChatCompletionOfFamily'),
    ],
  });

/** The vendors' clients show a header where they hide an error's body. */
const tellVendorClients: ErrorRequestHandler = (error, _req, res, next) => {
  const apiError = toApiError(error);
  if (!res.headersSent) res.set('x-gatehouse-code', apiError.code);
  next(apiError);
};
