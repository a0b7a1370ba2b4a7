import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `live` and `test` open an account; `pub` is a project's publishable key. */
export type KeyKind = 'live' | 'test' | 'pub';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyForm = /^(gh_(live|test|pub)_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

/**
 * A new key: `gh_{kind}_`, 30 random base62 characters (178 bits) and six that check the rest, so
 * that a mistyped key is refused without a lookup and secret scanners can tell a real one.
 */
export function createKey(kind: KeyKind): string {
  const rest = `gh_${kind}_${randomBase62(30)}`;
  return rest + checksum(rest);
}

/** The kind of a well-formed key whose checksum holds; undefined for anything else. */
export function kindOfKey(text: string): KeyKind | undefined {
  const [, rest, kind, check] = keyForm.exec(text) ?? [];
  return rest !== undefined && checksum(rest) === check ? (kind as KeyKind) : undefined;
}

/** CRC-32 of everything before it, prefix included, as six base62 digits. */
function checksum(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = alphabet.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

/** Uniform: a byte of 248 or more would favour the first letters and is thrown away. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62);
    }
  }
  return text;
}
