import type { ProjectConfig } from '@gatehouse/credentials';
import { ApiError } from '@gatehouse/http';
import { normalizePassword } from './password.ts';

/** Characters at most. Long enough for any passphrase, short enough to hash in full. */
export const maxPasswordLength = 256;

const characterClasses: Record<string, RegExp> = {
  lowercase: /\p{Ll}/u,
  uppercase: /\p{Lu}/u,
  digit: /\p{Nd}/u,
  symbol: /[^\p{L}\p{N}]/u,
};

/** @throws {ApiError} `weak_password`, with the reasons in `weak_password.reasons` */
export function enforcePasswordPolicy(password: string, project: ProjectConfig): void {
  const normalized = normalizePassword(password);
  const missing = project.passwordRequired.filter(
    (name) => !characterClasses[name]?.test(normalized),
  );
  // A single ligature may become eighteen letters: what was typed counts too.
  const length = Math.min([...password].length, [...normalized].length);
  const isTooShort = length < project.passwordMinLength;
  if (!isTooShort && missing.length === 0) return;
  const message = [
    ...(isTooShort ? [`at least ${project.passwordMinLength} characters`] : []),
    ...missing.map((name) => `a ${name} character`),
  ].join(', ');
  throw new ApiError('weak_password', {
    message: `The password needs ${message}.`,
    extra: {
      weak_password: {
        reasons: [...(isTooShort ? ['length'] : []), ...(missing.length ? ['characters'] : [])],
        message: `The password needs ${message}.`,
      },
    },
  });
}
