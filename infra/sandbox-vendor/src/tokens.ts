const maxTokenBytes = 4;

/**
 * Cuts a text into the sandbox's tokens: runs of whole characters of at most 4 UTF-8 bytes.
 * Joined, they are the text again. One token is one delta of a stream, so the number of text
 * deltas that a client has seen is the number of tokens that it is billed for.
 */
export function tokenise(text: string): string[] {
  const tokens: string[] = [];
  let start = 0;
  let end = 0;
  let bytes = 0;
  for (const character of text) {
    const size = utf8Bytes(character.codePointAt(0) ?? 0);
    if (bytes + size > maxTokenBytes) {
      tokens.push(text.slice(start, end));
      start = end;
      bytes = 0;
    }
    end += character.length;
    bytes += size;
  }
  if (end > start) tokens.push(text.slice(start, end));
  return tokens;
}

/** The number of tokens of a text: for ASCII ceil(length / 4). */
export function countTokens(text: string): number {
  const isAscii = Buffer.byteLength(text) === text.length;
  return isAscii ? Math.ceil(text.length / maxTokenBytes) : tokenise(text).length;
}

function utf8Bytes(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
