import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRegistryError } from '../../../src/model/errors.ts';
import { parseJson } from '../../../src/server/body/json-body.ts';
import { timesAsMany } from '../../sample.ts';

function attempt(parse: () => unknown): { value: unknown } | null {
  try {
    return { value: parse() };
  } catch {
    return null;
  }
}

test('what any reader takes is read the same', () => {
  const pretty = fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, '\t'));
  fc.assert(
    fc.property(pretty, ([value, space]) => {
      const text = JSON.stringify(value, null, space);
      expect(parseJson(` ${text}\r\n`, { depth: 20 })).toEqual(JSON.parse(text));
    }),
  );
});

test('what no reader takes is refused, and nothing else is thrown', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '1',
    '-',
    '01',
    '1.',
    '1e',
    '1e5',
    'true',
    'nul',
    ' ',
    '\\',
    '\u0000',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      const expected = attempt(() => JSON.parse(text));
      try {
        expect({ value: parseJson(text, { depth: 20 }) }).toEqual(expected);
      } catch (error) {
        if (!isRegistryError(error, 'malformed')) throw error;
        // Stricter than others about names that are there twice and lone surrogates alone.
        if (expected !== null) expect(error.message).toMatch(/duplicate|surrogate/);
      }
    }),
    { numRuns: 1250 * timesAsMany },
  );
});

test.for([
  ['', 1, 1],
  ['{', 1, 2],
  ['{"a":1,}', 1, 8],
  ['{"a" 1}', 1, 6],
  ['[1,\n 2,\n\n x]', 4, 2],
  ['"a\\x"', 1, 3],
  ['{"a":1,\n"a":2}', 2, 1],
  ['{"a":{"b":1,"b":2}}', 1, 13],
  ['[[[1]]]', 1, 3],
] as const)('%j breaks at line %i, column %i', ([text, line, column]) => {
  expect(() => parseJson(text, { depth: 2 })).toThrow(`line ${line}, column ${column}: `);
});

test('a text of more values and names than the wall is refused before it is taken apart', () => {
  const text = `{"document": {"a": [${'[],'.repeat(100)}0]}}`;
  expect(() => parseJson(text, { depth: 20, nodes: 105 })).toThrow('The body has more than 105 values and names.');
  expect(parseJson(text, { depth: 20, nodes: 106 })).toEqual(JSON.parse(text));
});
