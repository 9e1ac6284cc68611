import { execFileSync } from 'node:child_process';
import MarkdownIt from 'markdown-it';
import { expect, it } from 'vitest';
import { curlOf } from '../../src/render/openapi/sample-request.ts';
import { outlineDocument, renderDocument } from '../../src/render/render.ts';
import { fullDocuments } from './full-documents.ts';
import { payloads } from './payloads.ts';
import { published } from './published.ts';
import { sampleOf } from '../sample.ts';
import { checkHtml, checkPage } from './strict-html.ts';

it('there are more than 300 payloads', () => {
  expect(payloads.length).toBeGreaterThan(300);
});

it('the strict reader finds what it is there to find', () => {
  const bad = [
    '<script>alert(1)</script>',
    '<p onclick="x">y</p>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="java&#115;cript:x">x</a>',
    '<p class="stolen">x</p>',
    '<p>a<ul><li>x</li></ul></p>',
    '<a href="#a"></a>',
    '<a href="#a"><a href="#b">x</a></a>',
    '<p>x',
    '<p>&nbsp;</p>',
    '<img src="x">',
    '<p>x</p',
    '<p class=url>x</p>',
    '<p id="x">y</p>',
    '<details>x</details>',
  ];
  expect(bad.filter((html) => checkHtml(html).problems.length === 0)).toEqual([]);
  expect(checkHtml('<p class="url"><b class="method get">GET</b> <code>/a &amp; b</code></p>').problems).toEqual([]);
});

it.each(Object.keys(fullDocuments('')).map((name, at) => [name, at] as const))(
  'no payload in any text of %s makes an element or attribute that is not ours, or looks like a part of the Markdown around it',
  (name, at) => {
    const usual = structureOf(renderDocument(published(fullDocuments('x')[name]))!.markdown).headings;
    // Every fourth payload in each document.
    for (const payload of ['', 'x', ...sampleOf(payloads, 4, at)]) {
      const document = published(fullDocuments(payload)[name]);
      const rendered = renderDocument(document)!;
      expect([payload, checkPage(rendered)]).toEqual([payload, []]);
      const { headings, strange } = structureOf(rendered.markdown);
      expect([payload, strange]).toEqual([payload, []]);
      expect([payload, headings <= usual]).toEqual([payload, true]);
      expect(outlineDocument(document)).not.toBeNull();
    }
  },
);

const trusting = new MarkdownIt('commonmark', { html: true });
trusting.validateLink = () => true;

/** What a Markdown reader that believes everything sees: the number of headings; HTML, images, and links to anywhere but the web. */
function structureOf(text: string): { headings: number; strange: string[] } {
  const tokens = trusting.parse(text, {}).flatMap((token) => [token, ...(token.children ?? [])]);
  const strange = tokens.filter(({ type, attrs }) => {
    const href = new Map(attrs).get('href');
    return /^html|^image/.test(type) || (href !== undefined && !/^(?:https?:\/\/|mailto:)/i.test(String(href)));
  });
  return {
    headings: tokens.filter(({ type }) => type === 'heading_open').length,
    strange: strange.map(({ type, content, attrs }) => `${type} ${content || JSON.stringify(attrs)}`),
  };
}

it('a curl command is text for a shell whatever the document says', () => {
  // One shell for all: it prints the arguments that curl would be given, a NUL after each.
  const commands = payloads.map((payload) =>
    curlOf({ method: 'GET', url: payload, headers: [{ name: 'x', value: payload, secret: 'TOKEN' }], body: null }),
  );
  const script = `curl() { printf '%s\\0' "$#" "$@"; }\n${commands.join('\n')}\n`;
  const printed = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { TOKEN: 'secret' } });
  const expected = payloads.flatMap((payload) => {
    const clean = payload.replace(/(?!\n)\p{Cc}/gu, '').toWellFormed();
    const header = `x: ${payload
      .replace(/\s+/g, ' ')
      .replace(/\p{Cc}/gu, '')
      .toWellFormed()}secret`;
    const globoff = /[{[]/.test(payload) ? ['--globoff'] : [];
    const all = [...globoff, clean, '-H', header];
    return [String(all.length), ...all];
  });
  expect(printed.split('\0').slice(0, -1)).toEqual(expected);
});
