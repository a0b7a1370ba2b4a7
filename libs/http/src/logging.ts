import { pino, type DestinationStream, type Logger } from 'pino';

/**
 * Credentials in any text that reaches a log: our keys and refresh tokens, JSON Web Tokens,
 * vendors' keys, bearer values, and the user part of a connection URL.
 */
const credentialPatterns =
  /gh_(?:live|test|pub|rt)_[\w-]+|eyJ[\w-]+\.[\w-]+\.[\w-]*|\bsk-[\w-]+|(?<=bearer )[^\s"]+|(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi;

/** Replaces everything in `text` that looks like a credential. */
export const scrub = (text: string): string => text.replace(credentialPatterns, '[redacted]');

/**
 * A JSON logger to standard output. Request headers, bodies and query strings are never handed
 * to it; this is the second line: error texts are scrubbed, and only an error's name, message,
 * code and stack are kept, never its other members (which may hold a statement's values).
 */
export function createLogger(
  service: string,
  options: { level?: string; destination?: DestinationStream } = {},
): Logger {
  return pino(
    {
      level: options.level ?? 'info',
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
    },
    options.destination ?? pino.destination(1),
  );
}

function serializeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: scrub(String(error)) };
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    name,
    message: scrub(message),
    ...(code !== undefined && { code: scrub(String(code)) }),
    ...(stack && { stack: scrub(stack) }),
    ...(cause !== undefined && depth < 3 && { cause: serializeError(cause, depth + 1) }),
  };
}
