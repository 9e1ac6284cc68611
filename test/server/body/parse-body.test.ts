import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLarge } from '../../../src/server/body/body-thread.ts';
import { parseBody } from '../../../src/server/body/json-body.ts';

const limits = { depth: 20, nodes: 1000, rest: 1000 };

const limited = (given: Partial<typeof limits> = {}) => ({
  bytes: 1e6,
  depth: 20,
  nodes: 1e6,
  document: { ...limits, ...given },
});

/** The document in a body: the text of its object, or its text. */
function documentIn(body: string, given: Partial<typeof limits> = {}): string | null {
  const { document } = parseBody(Buffer.from(body), limited(given));
  return document && Buffer.from(document).toString();
}

test('the document is found however it is written', () => {
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
    fc.property(others, fc.nat({ max: 5 }), name, value, (all, at, written, document) => {
      const members = Object.entries(all).map(([key, each]) => `${json(key)} : ${json(each)}`);
      const body = `{ ${members.toSpliced(at, 0, `${written} : ${json(document)}`).join(' , ')} }`;
      const expected = typeof document === 'string' ? document : json(document);
      expect(documentIn(body, { nodes: 1e6, rest: 1e6 })).toBe(expected);
    }),
  );
});

test.for([
  ['{"a": {"document": {"b": 1}}}', null],
  ['[{"document": {"b": 1}}]', null],
  ['{"a": "document", "b": {}}', null],
  ['{"document": 7}', null],
  ['{"document": [{}]}', null],
  ['{"document": null, "a": {}}', null],
  ['{"document": {"document": {}}}', '{"document": {}}'],
  ['{"a": "\\"document\\": {", "document": "\\\\"}', '\\'],
  ['{"document": {"a": "}\\"]"}, "b": {}}', '{"a": "}\\"]"}'],
  ['{"document": {"a": 1, "a": 2}}', '{"a": 1, "a": 2}'],
] as const)('the document in %s is %s', ([body, expected]) => {
  expect(documentIn(body)).toBe(expected);
});

test('what a body has beside its document is parsed, with a placeholder for that', () => {
  const valueOf = (body: string) => parseBody(Buffer.from(body), limited()).value;
  expect(valueOf('{"a": 1, "document": {"b": 1}, "c": 2}')).toEqual({ a: 1, document: {}, c: 2 });
  expect(valueOf('{"document": "text"}')).toEqual({ document: '-' });
  expect(valueOf('{"document": ""}')).toEqual({ document: '' });
});

test.for([
  ['there twice', '{"document": {}, "document": {}}', {}, 'malformed', 'duplicate name'],
  ['not closed', '{"document": {', {}, 'malformed', 'line 1, column 15: unexpected end'],
  ['of an invalid text', '{"document":\n "a\\x"}', {}, 'malformed', 'line 2, column 4: invalid escape'],
  ['of half a pair of surrogates', '{"document": "\\ud83d"}', {}, 'malformed', 'unpaired surrogate'],
  ['too deep', `{"document": ${'{"a":'.repeat(5)}1${'}'.repeat(6)}`, { depth: 4 }, 'malformed', 'deeper than 4'],
  [
    'of too many values',
    `{"document": {"a": [${'"",'.repeat(20)}1]}}`,
    { nodes: 20 },
    'too_large',
    'more than 20 values',
  ],
  [
    'beside too much',
    `{"document": {}, "a": "${'a'.repeat(100)}"}`,
    { rest: 100 },
    'too_large',
    'outside the document',
  ],
] as const)('a document that is %s is refused', async ([, body, given, code, message]) => {
  const refusal = expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as Error;
  expect(() => documentIn(body, given)).toThrow(refusal);
  await expect(parseLarge(new Uint8Array(Buffer.from(body)), limited(given))).rejects.toEqual(refusal);
});

test('a document of two million values is read by a thread, and the event loop turns meanwhile', async () => {
  let turns = 0;
  let tick = setImmediate(function again() {
    turns++;
    tick = setImmediate(again);
  });
  const written = `{"a":[${'1,'.repeat(1_000_000)}1]}`;
  const body = new Uint8Array(Buffer.from(`{"document":${written}}`));
  const { document } = await parseLarge(body, limited({ nodes: 3e6 }));
  clearImmediate(tick);
  expect(document!.length).toBe(written.length);
  expect(turns).toBeGreaterThan(8);
});
