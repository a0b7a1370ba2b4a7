import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sample } from '../src/sample.ts';
import { countTokens, tokenise } from '../src/tokens.ts';

describe('tokens', () => {
  it('are runs of at most 4 bytes that break no character and join to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const tokens = tokenise(text);
        expect(tokens.join('')).toBe(text);
        expect(tokens).toHaveLength(countTokens(text));
        expect(tokens.every((token) => Buffer.byteLength(token) <= 4 && token !== '')).toBe(true);
        expect(tokens.every((token) => token.isWellFormed())).toBe(true);
      }),
    );
  });

  it('are a quarter of the length of ASCII', () => {
    expect(['', 'a', 'abcd', 'abcde'].map(countTokens)).toEqual([0, 1, 1, 2]);
  });
});

describe('the sample of a schema', () => {
  it.each([
    [{ type: ['null', 'string'], maxLength: 6 }, 'sample'],
    [{ type: 'string', format: 'date' }, '2026-01-02'],
    [{ type: 'number', exclusiveMinimum: 4 }, 5],
    [{ type: 'integer', maximum: -2 }, -2],
    [{ const: 'fixed' }, 'fixed'],
    [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
    [
      { allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] },
      { a: 1, b: 2 },
    ],
    [{ $ref: '#/$defs/Name', $defs: { Name: { default: 'Ann' } } }, 'Ann'],
    [{ $ref: '#/$defs/__proto__' }, null],
    ['no schema', null],
  ])('%j is %j', (schema, value) => {
    expect(sample(schema)).toEqual(value);
  });

  it('of a schema that contains itself ends', () => {
    const node = { properties: { next: { $ref: '#' } } };
    expect(JSON.stringify(sample(node)).length).toBeLessThan(200);
  });

  it('of any JSON whatever is a value, and no exception', () => {
    fc.assert(fc.property(fc.json(), (json) => void JSON.stringify(sample(JSON.parse(json)))));
  });
});
