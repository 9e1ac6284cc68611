import { expect, test } from 'vitest';
import { firstParagraph } from '../../src/render/markdown.ts';

test('a description in a list is its first paragraph of text, without pictures and HTML', () => {
  const text = '# Payments\n\n![logo](logo.png) [![build](b.svg)](ci)\n\nTakes <b>money</b>,\n*safely*.\n';
  expect(firstParagraph(text, 100)).toBe('Takes money, safely.');
  expect(firstParagraph('<p align="center">\n  <img src="a.png">\n</p>\n\nTakes money.', 100)).toBe('Takes money.');
  expect(firstParagraph('<details><summary>More</summary>\n\nHidden.\n\n</details>', 100)).toBe('Hidden.');
});

test('a text with headings only is described by the first of them', () => {
  expect(firstParagraph('# Payments\n\n![logo](logo.png)\n\n## Use', 100)).toBe('Payments');
});
