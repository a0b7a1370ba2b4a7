/**
 * The one table of error codes. A code is stable: clients may switch on it.
 * Each has the HTTP status that it is sent with and the sentence that a person reads
 * when the place that throws says nothing better.
 */
export const errorTable = {
  invalid_body: [400, 'The request body is not valid JSON.'],
  validation_failed: [400, 'The request does not have the documented form.'],
  secret_in_url: [400, 'A credential stands in the URL. Send it in its header instead.'],
  conflicting_credentials: [400, 'Two different credentials were sent. Send one.'],
  version_header_required: [400, 'The header anthropic-version is required.'],
  unsupported_grant_type: [
    400,
    'The query parameter grant_type must be "password" or "refresh_token".',
  ],
  redirect_not_allowed: [400, 'redirect_to is not on the redirect allowlist of this project.'],
  access_token_required: [401, 'Send the access token as "Authorization: Bearer <token>".'],
  access_token_invalid: [401, 'The access token is not valid.'],
  access_token_expired: [401, 'The access token has expired.'],
  invalid_publishable_key: [401, 'The header apikey must hold a valid publishable key.'],
  invalid_api_key: [401, 'The API key is missing or not valid.'],
  invalid_credentials: [401, 'The email address or the password is wrong.'],
  refresh_token_not_found: [401, 'The refresh token is not valid.'],
  refresh_token_reused: [401, 'The refresh token was used before. The session has been ended.'],
  session_expired: [401, 'The session has expired. Sign in again.'],
  session_not_found: [401, 'The session has ended. Sign in again.'],
  email_not_confirmed: [403, 'The email address has not been confirmed yet.'],
  user_banned: [403, 'This user may not sign in.'],
  signup_disabled: [403, 'This project does not accept new users.'],
  email_provider_disabled: [403, 'Sign-in by email and password is switched off in this project.'],
  insufficient_scope: [403, 'The credential does not have the scope that this needs.'],
  not_found: [404, 'There is nothing at this address.'],
  project_not_found: [404, 'There is no such project in this account.'],
  key_not_found: [404, 'There is no such API key in this account.'],
  method_not_allowed: [405, 'This address does not take that method.'],
  user_already_exists: [409, 'There is already a user with this email address.'],
  request_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'Send the body as application/json, encoded in UTF-8.'],
  weak_password: [422, 'The password does not meet the requirements of this project.'],
  request_header_fields_too_large: [431, 'The request headers are too large.'],
  internal: [500, 'Something went wrong on our side.'],
  not_implemented: [501, 'This endpoint is published, but not built yet.'],
  upstream_error: [502, 'The model vendor could not be reached or broke off.'],
  upstream_credential_rejected: [502, 'The model vendor refused the credential configured here.'],
  service_unreachable: [502, 'The service behind this path cannot be reached.'],
  overloaded: [503, 'Too much work is waiting. Try again shortly.'],
  unavailable: [503, 'A part that this needs cannot be reached. Try again shortly.'],
  vendor_not_configured: [503, 'No credential for this model vendor is configured.'],
  service_timeout: [504, 'The service behind this path did not answer in time.'],
  upstream_timeout: [504, 'The model vendor did not answer in time.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

export type ErrorCode = keyof typeof errorTable;

/** What {@link ApiError} takes beside its code. */
export interface ApiErrorOptions {
  /** A better sentence than the table's. It is sent to the caller: never put a secret into it. */
  message?: string;
  /** Response headers, for example `Retry-After` (seconds). 503 gets one by itself. */
  headers?: Record<string, string>;
  /** Documented members of the error body beside `error` and `code`. */
  extra?: Record<string, unknown>;
  /** What happened underneath. It is logged, never sent. */
  cause?: unknown;
}

/**
 * An error that the caller is told about. Throw it anywhere in a request; it is rendered in one
 * place as `{ "error": "<sentence>", "code": "<code>" }` (interface section 2.3).
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly extra: Record<string, unknown>;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    const [status, sentence] = errorTable[code];
    super(options.message ?? sentence, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.headers = { ...(status === 503 && { 'Retry-After': '1' }), ...options.headers };
    this.extra = options.extra ?? {};
  }

  /** The error body, as sent. */
  get body(): { error: string; code: ErrorCode } {
    return { error: this.message, code: this.code, ...this.extra };
  }
}
