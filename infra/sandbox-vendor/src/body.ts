import type { IncomingMessage } from 'node:http';

/** Anthropic's limit; larger requests are answered 413. */
export const maxBodyBytes = 32 * 1024 * 1024;

export class BodyTooLarge extends Error {}

/** The bytes as they came. Never settles if the client leaves before the end. */
export function readBody(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
    });
    req.on('end', () => {
      if (bytes > maxBodyBytes) reject(new BodyTooLarge());
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    req.on('error', () => {});
  });
}
