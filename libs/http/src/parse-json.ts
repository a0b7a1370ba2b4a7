import { parse } from 'lossless-json';
import { ApiError } from './errors.ts';

/** Deeper bodies than this serve only to exhaust the stack of whoever walks them. */
const maxDepth = 32;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body more strictly than `JSON.parse`. Refused are: invalid UTF-8, a key that
 * is named twice with two values (RFC 8259 section 4 leaves the meaning open), `__proto__` keys,
 * nesting beyond 32 levels, numbers that overflow, and strings with NUL or lone surrogates
 * (PostgreSQL can store neither).
 *
 * @throws {ApiError} `invalid_body`
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw invalidBody('The request body is not UTF-8.');
  }
  if (text.trim() === '') throw invalidBody('The request body is empty.');
  refuseDeepNesting(text);
  try {
    return parse(text, refuseUnstorable, { parseNumber: Number, onDuplicateKey });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The parser's message quotes the body, which may hold a password: it must reach no log.
    throw new ApiError('invalid_body');
  }
}

const invalidBody = (message: string) => new ApiError('invalid_body', { message });

function onDuplicateKey(): never {
  throw invalidBody('The request body names a key twice.');
}

function refuseUnstorable(key: string, value: unknown): unknown {
  if (key === '__proto__') throw invalidBody('The key "__proto__" is not accepted.');
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidBody('The request body holds a number that is too large.');
  }
  for (const text of typeof value === 'string' ? [key, value] : [key]) {
    if (text.includes('\0') || !text.isWellFormed()) {
      throw invalidBody('The request body holds a NUL character or half a surrogate pair.');
    }
  }
  return value;
}

function refuseDeepNesting(text: string): void {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (isInString) {
      if (char === '\\') i++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{' || char === '[') {
      if (++depth > maxDepth) {
        throw invalidBody(`The request body is nested more than ${maxDepth} levels deep.`);
      }
    } else if (char === '}' || char === ']') depth--;
  }
}
