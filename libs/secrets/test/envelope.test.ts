import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createEnvelope, deriveRing, EnvelopeError, parseKeyRing } from '../src/index.ts';

const entry = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const oldEntry = entry('k1');
const oldRing = parseKeyRing(oldEntry);
const newRing = parseKeyRing(`${entry('k2')},${oldEntry}`);
const secret = Buffer.from('the private key');

describe('a key ring', () => {
  it.each(['', 'k1', 'k1:short', `K1:${randomBytes(32).toString('base64')}`, `${oldEntry},`])(
    'is refused when malformed: %j',
    (text) => expect(() => parseKeyRing(text)).toThrow(TypeError),
  );

  it('names no secret in its error', () => {
    expect(() => parseKeyRing(`${oldEntry},k2:hunter2`)).toThrow('entry 2 is not');
    expect(() => parseKeyRing(`${oldEntry},k2:hunter2`)).not.toThrow('hunter2');
  });

  it('may not repeat an id', () => {
    expect(() => parseKeyRing(`${oldEntry},${oldEntry}`)).toThrow('repeated');
  });

  it('derives unrelated keys for different purposes', () => {
    const [a] = deriveRing(oldRing, 'a');
    const [b] = deriveRing(oldRing, 'b');
    expect(a.secret.equals(b.secret)).toBe(false);
    expect(deriveRing(oldRing, 'a')[0].secret.equals(a.secret)).toBe(true);
  });
});

describe('an envelope', () => {
  const envelope = createEnvelope(oldRing);

  it('opens where it was sealed, whatever it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, context) => {
        expect(envelope.open(envelope.seal(bytes, context), context).equals(bytes)).toBe(true);
      }),
    );
  });

  it('never has the same bytes twice', () => {
    expect(envelope.seal(secret, 'row/1')).not.toBe(envelope.seal(secret, 'row/1'));
  });

  it('does not open in another row', () => {
    expect(() => envelope.open(envelope.seal(secret, 'row/1'), 'row/2')).toThrow(EnvelopeError);
  });

  it('does not open when any part of it was changed', () => {
    const parts = envelope.seal(secret, 'row/1').split('.');
    for (const at of [2, 3]) {
      const bytes = Buffer.from(parts[at] ?? '', 'base64url');
      for (let i = 0; i < bytes.length; i++) {
        bytes[i]! ^= 1;
        const changed = parts.with(at, bytes.toString('base64url')).join('.');
        expect(() => envelope.open(changed, 'row/1')).toThrow(EnvelopeError);
        bytes[i]! ^= 1;
      }
    }
  });

  it.each(['', 'v1', 'v1.k1', 'v1.k1.a.b', 'v2.k1.a.b', 'v1.k1.a.b.c'])('is not %j', (text) => {
    expect(() => envelope.open(text, 'row/1')).toThrow(EnvelopeError);
  });

  it('names the missing key, so that an operator knows which one to restore', () => {
    const sealed = createEnvelope(newRing).seal(secret, 'row/1');
    expect(() => envelope.open(sealed, 'row/1')).toThrow('no key "k2"');
  });
});

describe('rotation', () => {
  const before = createEnvelope(oldRing);
  const during = createEnvelope(newRing);

  it('reads what the old key sealed and writes with the new one', () => {
    expect(during.open(before.seal(secret, 'row/1'), 'row/1').equals(secret)).toBe(true);
    expect(during.seal(secret, 'row/1')).toMatch(/^v1\.k2\./);
  });

  it('rewraps to the new key, after which the old one is not needed', () => {
    const rewrapped = during.rewrap(before.seal(secret, 'row/1'), 'row/1');
    const after = createEnvelope([newRing[0]]);
    expect(after.open(rewrapped, 'row/1').equals(secret)).toBe(true);
    expect(during.rewrap(rewrapped, 'row/1')).toBe(rewrapped);
  });
});
