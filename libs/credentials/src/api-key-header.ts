import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '@gatehouse/http';

/**
 * The account API key of a request, from `x-api-key`, `Authorization: Bearer` or
 * `x-goog-api-key`: the official client packages of the vendors differ in which they use.
 *
 * @throws {ApiError} `invalid_api_key` where there is none, `conflicting_credentials` where two
 *   headers hold different ones
 */
export function readApiKey(headers: IncomingHttpHeaders): string {
  const [, bearer] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  const given = [headers['x-api-key'], bearer, headers['x-goog-api-key']].filter(
    (value) => value !== undefined && value !== '',
  );
  const [key, ...others] = new Set(given.map(String));
  if (others.length > 0) throw new ApiError('conflicting_credentials');
  if (key === undefined) throw new ApiError('invalid_api_key');
  return key;
}
