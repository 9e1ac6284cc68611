import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRegistryError } from '../../../src/model/errors.ts';
import { createDocumentScan } from '../../../src/server/body/document-scan.ts';

const limits = { depth: 20, nodes: 1000, rest: 1000 };

/** The text of the document in a body that comes in pieces of so many bytes. */
function documentIn(body: string, size = 1, given: Partial<typeof limits> = {}): string | null {
  const scan = createDocumentScan({ ...limits, ...given });
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) scan.look(bytes.subarray(at, at + size));
  const span = scan.span();
  return span && bytes.toString('utf8', span.from, span.to);
}

test('the document is found however it is written, and in whatever pieces it comes', () => {
  const json = (value: unknown) => JSON.stringify(value, null, 1);
  const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), fc.string());
  const others = fc.dictionary(
    fc.string().filter((name) => name !== 'document'),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const name = fc.constantFrom(
    '"document"',
    '"d\\u006fcument"',
    '"\\u0064\\u006f\\u0063\\u0075\\u006D\\u0065\\u006e\\u0074"',
  );
  fc.assert(
    fc.property(others, name, value, others, fc.nat({ max: 30 }), (before, written, document, after, size) => {
      const members = (from: object) => Object.entries(from).map(([key, each]) => `${json(key)} : ${json(each)}`);
      const body = `{ ${[...members(before), `${written} : ${json(document)}`, ...members(after)].join(' , ')} }`;
      expect(documentIn(body, size + 1, { nodes: 1e6, rest: 1e6 })).toBe(json(document));
    }),
  );
});

test.for([
  ['{"a": {"document": {"b": 1}}}', null],
  ['[{"document": {"b": 1}}]', null],
  ['{"a": "document", "b": {}}', null],
  ['{"document": 7}', null],
  ['{"document": null, "a": {}}', null],
  ['{"document": {"document": {}}}', '{"document": {}}'],
  ['{"a": "\\"document\\": {", "document": "\\\\"}', '"\\\\"'],
  ['{"document": {"a": "}\\"]"}, "b": {}}', '{"a": "}\\"]"}'],
  ['{"document": {', null],
] as const)('the document in %s is %s', ([body, expected]) => {
  for (const size of [1, 2, 3, 100]) expect(documentIn(body, size)).toBe(expected);
});

test.for([
  ['an array', '{"document": [', {}, 'malformed', 'must be an object or a string'],
  ['there twice', '{"document": {}, "document": {', {}, 'malformed', 'twice'],
  ['too deep', `{"document": ${'{"a":'.repeat(5)}`, { depth: 5 }, 'malformed', 'deeper than 5'],
  ['of too many values', `{"document": {"a": [${'"",'.repeat(20)}`, { nodes: 20 }, 'too_large', 'more than 20 values'],
  [
    'beside too many values',
    `{"document": {}, "a": [${'0,'.repeat(20)}`,
    { nodes: 20 },
    'too_large',
    'more than 20 values',
  ],
  ['beside too much', `{"document": {}, "a": "${'a'.repeat(100)}`, { rest: 100 }, 'too_large', 'outside the document'],
] as const)('a document that is %s is refused before the body ends', ([, body, given, code, message]) => {
  try {
    documentIn(body, 1, given);
  } catch (error) {
    expect(isRegistryError(error, code) && error.message).toContain(message);
    return;
  }
  throw new Error('It was not refused.');
});
