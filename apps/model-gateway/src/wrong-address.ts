import { ApiError } from '@gatehouse/http';
import type { RequestHandler } from 'express';

/** `@google/genai` 3 asks under `/v1` where it is told nothing else; its dialect is `/v1beta`. */
export const explainGenaiVersion: RequestHandler = (req, _res, next) => {
  if (/^\/v1\/(?:models|tunedModels)\/.+:\w+$/.test(req.path)) {
    throw new ApiError('not_found', {
      message:
        "This dialect is served under /v1beta: construct the client with apiVersion: 'v1beta'.",
    });
  }
  next();
};
