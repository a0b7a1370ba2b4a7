/** A failure that the user can act on: told in one line, without a stack. */
export class PlainError extends Error {
  override name = 'PlainError';
}

// By its shape: under Jest the errors of Node's own modules come from another realm.
export const isNodeError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === 'object' && error !== null && 'code' in error && 'message' in error;
