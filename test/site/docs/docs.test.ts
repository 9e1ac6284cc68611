import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readDocLink, readDocs } from '../../../src/site/docs/docs.ts';
import { renderDoc } from '../../../src/site/docs/docs-page.ts';
import { table } from '../../../scripts/reference.ts';

describe('pages of a folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-docs-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);

  test('are in the order that they say, whatever their names and line ends', async () => {
    await write('b.md', '---\ntitle: First\ndescription: One.\norder: 1\ngroup: Start\n---\n\nText.\n');
    await write('a.md', '---\r\ntitle: Second\r\ndescription: Two.\r\norder: 2\r\n---\r\n\r\n## More\r\n');
    await write('notes.txt', 'no page');
    expect(readDocs(folder)).toEqual([
      { name: 'b', title: 'First', description: 'One.', group: 'Start', markdown: 'Text.\n', isReference: false },
      { name: 'a', title: 'Second', description: 'Two.', group: null, markdown: '## More\n', isReference: false },
    ]);
  });

  test('say a reference of the program where they have its mark; a mark that stands for nothing is an error', async () => {
    const page = (mark: string) => `---\ntitle: A\ndescription: One.\norder: 1\n---\n\na\n\n<!-- stele: ${mark} -->\n`;
    await write('page.md', page('problems'));
    const [read] = readDocs(folder);
    expect(read).toMatchObject({
      isReference: true,
      markdown: expect.stringMatching(/^a\n\n### malformed\n/) as unknown,
    });
    await write('page.md', page('constructor'));
    expect(() => readDocs(folder)).toThrow('constructor.md');
  });

  test.each([
    ['none', '# Title\n'],
    ['a title that is missing', '---\ndescription: One.\norder: 1\n---\n'],
    ['an order that is no number', '---\ntitle: A\ndescription: One.\norder: first\n---\n'],
    ['code', '---js\n{ title: (globalThis.ran = true) && "A", description: "One.", order: 1 }\n---\n'],
  ])('with front matter of %s are refused', async (_what, text) => {
    await write('page.md', text);
    expect(() => readDocs(folder)).toThrow('page.md needs front matter');
    expect(globalThis).not.toHaveProperty('ran');
  });
});

test('headings have the ids that GitHub gives, each its own; links go where they are sent', () => {
  const { html, headings } = renderDoc('## A `b` c?\n\n## A b c\n\n[x](other.md#y)\n', (href) => `/docs/${href}`);
  expect(headings.map(({ id, level }) => [id, level])).toEqual([
    ['a-b-c', 2],
    ['a-b-c-1', 2],
  ]);
  expect(html).toContain('<h2 id="a-b-c"><a href="#a-b-c">A <code>b</code> c?</a></h2>');
  expect(html).toContain('<a href="/docs/other.md#y">x</a>');
});

test('no HTML and no style comes through', () => {
  const { html } = renderDoc('<b onclick="x()">y</b>\n\n| a |\n| -: |\n| `<i>` |\n', (href) => href);
  expect(html).not.toMatch(/<b|style=|<i>/);
  expect(html).toContain('&lt;b onclick');
});

test('only files are links between pages', () => {
  expect(readDocLink('urls.md#views')).toEqual({ name: 'urls', hash: '#views' });
  for (const href of ['https://a.test/urls.md', '../urls.md', '/urls.md', '#views', 'urls'])
    expect(readDocLink(href)).toBeNull();
});

test('cells of a table keep their bars', () => {
  expect(table(['a'], [['x | y'], ['two\nlines']])).toBe('| a |\n| --- |\n| x \\| y |\n| two lines |');
});
