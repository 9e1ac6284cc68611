import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatKey, parseKey } from '../../src/model/key.ts';
import { hostileTexts } from './arbitraries.ts';

describe('the text of a key', () => {
  test('is read back as its parts', () => {
    const parts = fc.record({
      id: fc.stringMatching(/^[0-9a-z]{12}$/),
      secret: fc.stringMatching(/^[0-9A-Za-z]{32}$/),
      checksum: fc.stringMatching(/^[0-9A-Za-z]{6}$/),
    });
    fc.assert(
      fc.property(parts, (key) => {
        const text = formatKey(key);
        expect(parseKey(text)).toEqual(key);
        for (const other of [
          ` ${text}`,
          `${text}\n`,
          text.slice(1),
          text.slice(0, -1),
          `${text}0`,
          text.toUpperCase(),
        ]) {
          expect(parseKey(other)).toBeNull();
        }
      }),
    );
  });

  test('nothing else is one', () => {
    fc.assert(
      fc.property(hostileTexts, (text) => {
        expect([parseKey(text), parseKey(`stele_${text}`)]).toEqual([null, null]);
      }),
    );
  });
});
