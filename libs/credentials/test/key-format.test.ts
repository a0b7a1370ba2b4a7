import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createKey, kindOfKey, readApiKey, type KeyKind } from '../src/index.ts';

const kinds: KeyKind[] = ['live', 'test', 'pub'];

describe('a key', () => {
  it.each(kinds)('of kind %s has the documented form and is known as that', (kind) => {
    const key = createKey(kind);
    expect(key).toMatch(new RegExp(`^gh_${kind}_[0-9A-Za-z]{36}$`));
    expect(kindOfKey(key)).toBe(kind);
  });

  it('carries the CRC-32 of the rest in base62', () => {
    const body = '000000000011111111112222222222';
    expect(kindOfKey(`gh_live_${body}3Ka86Z`)).toBe('live');
    expect(kindOfKey(`gh_test_${body}1h9Ra0`)).toBe('test');
    expect(kindOfKey(`gh_pub_${body}0YQ7Nl`)).toBe('pub');
  });

  it('with any one character mistyped is not a key', () => {
    const base62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.nat(35),
        fc.constantFrom(...base62),
        (kind, offset, typo) => {
          const key = createKey(kind);
          const at = `gh_${kind}_`.length + offset;
          fc.pre(key[at] !== typo);
          expect(kindOfKey(key.slice(0, at) + typo + key.slice(at + 1))).toBeUndefined();
        },
      ),
    );
  });

  it('does not become another kind by its prefix', () => {
    expect(kindOfKey(createKey('pub').replace('gh_pub_', 'gh_live_'))).toBeUndefined();
  });

  it.each(['', 'gh_live_', 'sk-1', `gh_live_${'0'.repeat(36)}`, ` ${createKey('live')}`])(
    '%j is not one',
    (text) => expect(kindOfKey(text)).toBeUndefined(),
  );
});

describe('the key of a request', () => {
  it.each([
    [{ 'x-api-key': 'k' }],
    [{ 'x-goog-api-key': 'k' }],
    [{ authorization: 'Bearer k' }],
    [{ authorization: 'bearer  k ', 'x-api-key': 'k' }],
  ])('is read from %j', (headers) => expect(readApiKey(headers)).toBe('k'));

  it('is missing from a request without one', () => {
    expect(() => readApiKey({})).toThrow('API key');
    expect(() => readApiKey({ authorization: 'Basic k' })).toThrow('API key');
  });

  it('is not guessed where two differ', () => {
    expect(() => readApiKey({ authorization: 'Bearer a', 'x-api-key': 'b' })).toThrow(
      'Two different',
    );
  });
});
