import { isUtf8 } from 'node:buffer';
import { ApiError, validate } from '@gatehouse/http';
import { z } from 'zod';

/** Of any one request body. It is Anthropic's limit, and more than OpenAI takes. */
export const maxBodyBytes = 32 * 1024 * 1024;

/** What the gateway itself asks of a body. The rest is between the caller and the vendor. */
export const modelRequest = z
  .object({
    model: z.string().min(1).meta({ description: 'The model, as the vendor names it.' }),
    stream: z.unknown().optional().meta({
      type: 'boolean',
      description: 'Whether the answer comes as server-sent events.',
    }),
  })
  .meta({ description: "In the vendor's own dialect. All fields reach the vendor as sent." });

/**
 * Checks a body that will be passed on as it is. Vendors read JSON less strictly than our own
 * endpoints do, and it is theirs to read.
 *
 * @throws {ApiError} `invalid_body`, `validation_failed`
 */
export function checkModelRequest(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new ApiError('invalid_body');
  if (bytes.length > smallBodyBytes) refuseManyValues(bytes);
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    // The parser's message quotes the body.
    throw new ApiError('invalid_body');
  }
  validate(modelRequest, body, 'body');
}

/** Under this a body cannot hold enough values to matter. */
const smallBodyBytes = 1024 * 1024;
const maxValues = 100_000;

const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * Refuses a body of very many small values. Parsed, `[{},{},…]` takes twenty times its size,
 * enough to end a process; prompts, documents and images are few values, in long strings.
 */
function refuseManyValues(bytes: Buffer): void {
  let values = 0;
  let isInString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (isInString) {
      if (byte === backslash) i++;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === comma || byte === openBracket || byte === openBrace) {
      if (++values > maxValues) {
        throw new ApiError('request_too_large', {
          message: `The request body holds more than ${maxValues} values.`,
        });
      }
    }
  }
}
