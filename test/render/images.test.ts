import { expect, test } from 'vitest';
import type { Images } from '../../src/model/image.ts';
import { renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

const name = '0123456789abcdef.png';
const flow = { path: 'docs/img/flow.png', name, width: 640, height: 480 };

function described(description: string, images: Images = { documents: ['docs/api.yaml'], images: [flow] }): string {
  const document = published({ openapi: '3.1.0', info: { title: 'x', version: '1', description }, paths: {} });
  const rendered = renderDocument({ ...document, images })!;
  expect(checkPage(rendered)).toEqual([]);
  return rendered.html;
}

const shown = `<img src="image:${name}" alt="A &lt;flow&gt;" width="640" height="480" loading="lazy">`;

test.for([
  '![A <flow>](img/flow.png)',
  '![A <flow>](./img/flow.png "a title")',
  '![A <flow>](/docs/img/flow.png)',
  '![A <flow>](docs/img/flow.png)',
  '![A <flow>](img/flow.png?raw=true)',
  '[![A <flow>](img/flow.png)](https://x.example)',
])('an image of the repository is shown with its size: %s', (text) => {
  expect(described(text)).toContain(shown);
});

test.for(['../secret.png', '../../docs/img/flow.png', 'img/other.png', 'file:///docs/img/flow.png', 'img\\flow.png'])(
  'an image that is not part of the version is its words: %s',
  (address) => {
    const html = described(`see ![the words](${address})`);
    expect(html).toContain('see the words');
    expect(html).not.toContain('<img');
  },
);

test('an address that two files mean differently is not guessed', () => {
  const images = [
    { path: 'a/x.png', name, width: 1, height: 1 },
    { path: 'b/x.png', name: 'fedcba9876543210.png', width: 1, height: 1 },
  ];
  expect(described('![words](x.png)', { documents: ['a/api.yaml', 'b/more.yaml'], images })).not.toContain('<img');
  expect(described('![words](x.png)', { documents: ['a/api.yaml'], images })).toContain(`image:${name}`);
});

test('an image of another host is a link that the page may make an image', () => {
  expect(described('![w](https://cdn.example/a.png)')).toContain(
    '<a href="https://cdn.example/a.png" class="image" rel="nofollow noopener noreferrer">w</a>',
  );
  expect(described('[![w](https://cdn.example/a.png?a=1&b=2)](https://x.example)')).toContain(
    '<span class="image" title="https://cdn.example/a.png?a=1&amp;b=2">w</span>',
  );
});

test('details fold what is in them, with their summary', () => {
  const text = '<details open onclick="x()"><summary>More <b>here</b></summary>\n\n- one\n- two\n\n</details>\n\nafter';
  expect(described(text)).toMatch(
    /<details><summary>More <strong>here<\/strong><\/summary><ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>\s*<\/details><p>after<\/p>/,
  );
});

test.for([
  ['<details>x', '<details><summary>Details</summary><p>x</p>'],
  ['x\n\n</details>\n\ny', '<p>x</p>\n<p>y</p>'],
  ['<summary>alone</summary>', '<p>alone</p>'],
  ['<details>'.repeat(50), '<details><summary>Details</summary>'.repeat(8)],
  ['\uE001\n\nx', '<p>x</p>'],
  ['- a\n\n  <details>\n\n- b', '<li>'],
])('details that are not whole leave nothing open: %s', ([text, found]) => {
  expect(described(text!).replaceAll('</p><p>', '</p>\n<p>')).toContain(found);
});
