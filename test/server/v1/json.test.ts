import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRegistryError } from '../../../src/model/errors.ts';
import { parseJson } from '../../../src/server/v1/json-body.ts';

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
      expect(parseJson(` ${text}\r\n`, 20).value).toEqual(JSON.parse(text));
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
        expect({ value: parseJson(text, 20).value }).toEqual(expected);
      } catch (error) {
        if (!isRegistryError(error, 'malformed')) throw error;
        // Stricter than others about names that are there twice and lone surrogates alone.
        if (expected !== null) expect(error.message).toMatch(/twice|surrogate/);
      }
    }),
    { numRuns: 5000 },
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
  expect(() => parseJson(text, 2)).toThrow(`line ${line}, column ${column}: `);
});

test('the text of a member of the outermost object is as it was written', () => {
  const body = parseJson('{"a": [1, {"b": 0.10}] , "b":"\\u0041", "__proto__": 1e999}', 5);
  expect(body.textOf('a')).toBe('[1, {"b": 0.10}]');
  expect(body.textOf('b')).toBe('"\\u0041"');
  expect(body.textOf('__proto__')).toBe('1e999');
  expect(body.textOf('c')).toBeNull();
  expect(parseJson('[{"a":1}]', 5).textOf('a')).toBeNull();
});

test('a text of more values and names than the wall is refused before it is taken apart', () => {
  const text = `{"document": {"a": [${'[],'.repeat(100)}0]}}`;
  expect(() => parseJson(text, 20, { nodes: 105 })).toThrow('The body has more than 105 values and names.');
  expect(parseJson(text, 20, { nodes: 106 }).value).toEqual(JSON.parse(text));
});

test('of a member that is wanted as text alone, nothing is held but that', () => {
  const text = '{"a": 1, "document": {"n": 1.0, "x": [1]}, "b": {"document": {"c": 2}}}';
  const body = parseJson(text, 20, { opaque: 'document' });
  expect(body.value).toEqual({ a: 1, document: {}, b: { document: { c: 2 } } });
  expect(body.textOf('document')).toBe('{"n": 1.0, "x": [1]}');
  expect(parseJson('{"document": "a: 1"}', 20, { opaque: 'document' }).value).toEqual({ document: 'a: 1' });
  expect(parseJson('{"document": [1]}', 20, { opaque: 'document' }).value).toEqual({ document: [] });
  expect(parseJson('[{"document": {"a": 1}}]', 20, { opaque: 'document' }).value).toEqual([{ document: { a: 1 } }]);
});
