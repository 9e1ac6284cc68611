import { expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import { digestInTurns, digestWithOtherEndings } from '../../src/store/digest-in-turns.ts';

test('two large objects are hashed at once, and other work goes on after each 4 MB', async () => {
  const [one, two] = [1, 2].map((fill) => Buffer.alloc(9 * 1024 * 1024, fill));
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await Promise.all([one!, two!].map(digestInTurns))).toEqual([digestOf(one!), digestOf(two!)]);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(6);
});

test('small bytes have the digest that any others have', async () => {
  for (const size of [0, 1, 256 * 1024, 256 * 1024 + 1])
    expect(await digestInTurns(Buffer.alloc(size))).toBe(digestOf(Buffer.alloc(size)));
});

test('a text has the digest of its twin with the other line endings, wherever it is divided', async () => {
  for (const before of [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1]) {
    const [lf, crlf] = ['\n', '\r\n'].map((end) =>
      Buffer.from(`${'é'.repeat(before >> 1)}${'x'.repeat(before % 2)}${end}${end}a${end}`),
    );
    expect(await digestWithOtherEndings(crlf!)).toBe(digestOf(lf!));
    expect(await digestWithOtherEndings(lf!)).toBe(digestOf(crlf!));
  }
  expect(await digestWithOtherEndings(Buffer.from('a'))).toBeNull();
});
