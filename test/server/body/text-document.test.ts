import { expect, test } from 'vitest';
import { decodeText } from '../../../src/server/body/read-body.ts';

const decode = async (literal: string) => (await decodeText(Buffer.from(literal), '{"document":')).toString();

test.for([
  ['plain characters', 'abcdefg'],
  ['escapes', '\\n\\"\\\\'],
  ['escaped characters', '\\u00e9\\u0041'],
  ['escaped surrogates', '\\ud83d\\ude00'],
  ['characters of two to four bytes', 'é€😀'],
] as const)('a large text is decoded wherever it is cut: %s', async ([, unit]) => {
  const many = unit.repeat(Math.ceil(300_000 / unit.length));
  for (let shift = 0; shift < 13; shift++) {
    const literal = `"${'x'.repeat(shift)}${many}"`;
    // Compared as a whole: a difference of texts this long takes long to print.
    expect((await decode(literal)) === JSON.parse(literal)).toBe(true);
  }
});

test('the event loop turns while a large text is decoded', async () => {
  let turns = 0;
  let tick = setImmediate(function again() {
    turns++;
    tick = setImmediate(again);
  });
  await decode(JSON.stringify('line\n'.repeat(2_000_000)));
  clearImmediate(tick);
  expect(turns).toBeGreaterThan(8);
});

test.for([
  ['"a\\x"', 'line 1, column 15: invalid escape'],
  ['"a\u0001"', 'line 1, column 15: control characters'],
  ['"\\ud83d"', 'line 1, column 13: unpaired surrogate'],
  [`"${'x'.repeat(600_000)}\\x"`, 'line 1, column 600014: invalid escape'],
] as const)('a text that is wrong is refused with its place: %#', async ([literal, message]) => {
  await expect(decode(literal)).rejects.toThrow(message);
});
