import { expect, test } from 'vitest';
import { visible } from '../../src/model/escape.ts';

test('control characters and reordering marks are written out; text stays', () => {
  expect(visible('Zahlungen ✓ 支払い 👍\ta')).toBe('Zahlungen ✓ 支払い 👍\ta');
  expect(visible('\u001b[2Ja\r\u0007\u009b1m')).toBe('\\u{1b}[2Ja\\u{d}\\u{7}\\u{9b}1m');
  expect(visible('a\u202eb\u2066c\u2028d')).toBe('a\\u{202e}b\\u{2066}c\\u{2028}d');
});

test('a line break is kept only where there may be lines', () => {
  expect(visible('a\nb')).toBe('a\\u{a}b');
  expect(visible('a\nb', { lines: true })).toBe('a\nb');
});
