import { expect, test } from 'vitest';
import { createDescriptions } from '../../src/render/description.ts';
import { formatHtml } from '../../src/render/html.ts';

const descriptions = createDescriptions({ anchorOf: () => null });

test.each([
  ['## Two\n\n#### Four\n\n## Two', ['h3', 'h4', 'h3']],
  ['### Three\n\n# One\n\n###### Six', ['h3', 'h3', 'h4']],
  ['<h1>One</h1>\n\n<h4>Four</h4>', ['h3', 'h3']],
])('headings leave no level out, whatever the author wrote: %j', (text, levels) => {
  const html = formatHtml(descriptions.block(text, 3));
  expect([...html.matchAll(/<(h\d)/g)].map(([, level]) => level)).toEqual(levels);
});

test('a heading in a list item is a paragraph', () => {
  expect(formatHtml(descriptions.brief('# Note\n\nMind it.'))).toBe('<p>Note</p>\n<p>Mind it.</p>\n');
});

test('an empty cell heads no column', () => {
  const html = formatHtml(descriptions.block('|   | a |\n|---|---|\n| 1 | 2 |', 3));
  expect(html).toMatch(/<td><\/td>\s*<th scope="col">a<\/th>/);
});
