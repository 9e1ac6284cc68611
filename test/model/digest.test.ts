import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf, formatReprDigest, hexOf, isDigest } from '../../src/model/digest.ts';

describe('digests', () => {
  test('of nothing and of a text are the known ones', () => {
    expect(digestOf('')).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(digestOf('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    // RFC 9530 §B.1, its content and its digest.
    expect(formatReprDigest(digestOf('{"hello": "world"}\n'))).toBe(
      'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:',
    );
  });

  test('of a text is of its UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(digestOf(text)).toBe(digestOf(new TextEncoder().encode(text)));
      }),
    );
  });

  test('are in their one spelling, and lead back to the hash', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const digest = digestOf(bytes);
        expect(isDigest(digest)).toBe(true);
        expect(hexOf(digest)).toBe(createHash('sha256').update(bytes).digest('hex'));
        expect(isDigest(digest.toUpperCase())).toBe(false);
        expect(formatReprDigest(digest)).toBe(`sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`);
      }),
    );
  });

  const hex = 'a'.repeat(64);
  test.each([
    '',
    hex,
    `sha256:${hex}0`,
    `sha256:${hex.slice(1)}`,
    `sha256:${hex}\n`,
    `sha256-${hex}`,
    `sha512:${hex}`,
    `sha256:${'g'.repeat(64)}`,
  ])('%j is none', (text) => expect(isDigest(text)).toBe(false));
});
