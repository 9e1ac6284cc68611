import { describe, expect, test } from 'vitest';
import { renderPages } from '../../../src/sites/render/render-pages.ts';
import { hasCode } from '../../../src/sites/render/has-code.ts';

function render(text: string | Uint8Array, path = 'guide/intro.md') {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const [made] = renderPages([{ path, bytes }], null);
  const html = made!.page?.content.html.join('|') ?? '';
  return { ...made!, html, facts: made!.page?.facts, rules: made!.problems.map(({ rule }) => rule) };
}

describe('a page', () => {
  test('has the title of its front matter, else its first heading, else its file', () => {
    expect(render('---\ntitle: Pay\norder: 2\n---\nText').facts).toMatchObject({ title: 'Pay', order: 2 });
    expect(render('# Pay *now*\n\nText')).toMatchObject({
      facts: { title: 'Pay now', headings: [] },
      html: '<p>Text</p>\n',
    });
    expect(render('Text').facts!.title).toBe('Intro');
    expect(render('Text', 'guide/index.md').facts!.title).toBe('Guide');
  });

  test('has tables, tasks, footnotes, boxes and headings with links', () => {
    const { html, facts } = render(
      '## One\n\n## One\n\n|a|b|\n|-|-:|\n|1|2|\n\n- [x] done\n- [ ] to do\n\nText[^1]\n\n[^1]: Note\n\n:::warning Mind\nthe gap\n:::\n\n> [!NOTE]\n> As on GitHub\n',
    );
    expect(facts!.headings).toEqual([
      { id: 'one', text: 'One', level: 2 },
      { id: 'one-1', text: 'One', level: 2 },
    ]);
    expect(html).toContain('<h2 id="one-1"><a href="#one-1">One</a></h2>');
    expect(html).toContain('<td class="right">2</td>');
    expect(html).toContain('<input type="checkbox" disabled checked aria-label="done"> done');
    expect(html).toContain('class="footnotes"');
    expect(html).toContain('<div class="box warning" role="note"><p class="box-title">Mind</p>');
    expect(html).toContain(
      '<div class="box note" role="note"><p class="box-title">Note</p>\n<p>As on GitHub</p>\n</div>',
    );
    expect(html).not.toContain('style=');
  });

  test('links to pages and files of its site, whatever the base', () => {
    const { html, facts } = render(
      '[a](other.md#x) [b](/index.md) [c](../start) ![d](../logo.png) [e](#here) [f](https://example.com/)',
    );
    expect(html).toContain('<a href="other#x">a</a> <a href="../">b</a> <a href="../start">c</a>');
    expect(html).toContain('<img src="../logo.png" alt="d" loading="lazy">');
    expect(html).toContain('<a href="https://example.com/" rel="nofollow noopener noreferrer">f</a>');
    expect(facts!.links.map(({ to, anchor }) => [to, anchor])).toEqual([
      ['guide/other.md', 'x'],
      ['index.md', ''],
      ['start.md', ''],
      ['logo.png', ''],
      ['guide/intro.md', 'here'],
    ]);
  });

  test('is split where it embeds a reference', () => {
    const { page, facts } = render(
      'Before\n\n::reference @acme/apis/pay@^1\n\nAfter\n\n::operation @acme/apis/pay GET /pay/{id}\n',
    );
    expect(facts!.embeds).toEqual([
      { coordinate: '@acme/apis/pay@^1', operation: null, line: 3 },
      { coordinate: '@acme/apis/pay', operation: 'GET /pay/{id}', line: 7 },
    ]);
    expect(page!.content.html).toEqual(['<p>Before</p>\n', '<p>After</p>\n', '']);
    expect(page!.content.markdown.join('').trim().split(/\n+/)).toEqual(['Before', 'After']);
    const whole = render('---\ntitle: API\napi: "@acme/apis/pay"\n---\nText');
    expect(whole.facts!.embeds).toEqual([{ coordinate: '@acme/apis/pay', operation: null, line: 1 }]);
    expect(whole.page!.content.html).toEqual(['<p>Text</p>\n', '']);
  });

  test('says where search finds what', () => {
    const { page } = render('Intro\n\n## Refunds\n\nMoney *back*.\n');
    expect(page!.content.sections).toEqual([
      { id: '', text: 'Intro\n' },
      { id: 'refunds', text: 'Money back.\n' },
    ]);
  });
});

describe('a hostile page', () => {
  test.each([
    ['<script>alert(1)</script>'],
    ['<img src=x onerror=alert(1)>'],
    ['[a](javascript:alert(1))'],
    ['[a](JaVaScRiPt:alert(1))'],
    ['[a](./javascript:alert(1))'],
    ['[a](&#106;avascript:alert(1))'],
    ['[a](data:text/html,<script>alert(1)</script>)'],
    ['[a](vbscript:x)'],
    ['[a](//evil.example/)'],
    ['[a](/\\evil.example)'],
    ['![a](data:image/svg+xml,<svg/onload=alert(1)>)'],
    ['![a](https://evil.example/pixel.png)'],
    [':::note <img src=x onerror=alert(1)>\n:::'],
    ['::reference @acme/apis/"><script>alert(1)</script>'],
    ['```"><script>alert(1)</script>\ncode\n```'],
    ['## "><script>alert(1)</script>'],
    ['[x]: javascript:alert(1)\n\n[a][x]'],
    ['<javascript:alert(1)>'],
    ['|a|\n|-|\n|<script>alert(1)</script>|'],
    ['---\ntitle: "<script>alert(1)</script>"\n---\ntext'],
  ])('stays text: %s', (text) => {
    const { html } = render(text);
    expect(html).not.toMatch(/<script|<img|<svg|<iframe/i);
    expect(html).not.toMatch(/(?:href|src)="(?!#|https:|mailto:|[\w./-]*(?:#|"))/i);
    expect(html.replaceAll('&quot;', '')).not.toMatch(/<[^>]*\son\w+=/i);
  });

  test('has no front matter but YAML', () => {
    expect(render('---js\n{ title: process.exit() }\n---\nText').html).toContain('process.exit()');
    expect(render('---\ntitle: !!js/function "x"\n---\n').facts!.title).not.toBe('x()');
    expect(render('---\na: &a [1,1]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n').rules).toEqual(['site-front-matter']);
    expect(render('---\ntitle: [\n---\n').rules).toEqual(['site-front-matter']);
    expect(render('---\n__proto__: { hidden: true }\n---\n').facts!.hidden).toBe(false);
    expect(render('import X from "x"\n\n<X />\n\n{process.env}').html).toContain('{process.env}');
    expect(render('<!--#include virtual="/etc/passwd" -->').html).toBe('');
  });

  test('is refused if it is not UTF-8', () => {
    expect(render(new Uint8Array([0x23, 0xff, 0xfe])).rules).toEqual(['encoding']);
  });

  test('names what cannot be a link, with its line', () => {
    const { problems } = render('---\ntitle: A\n---\nText\n\n[a](javascript:x)');
    expect(problems).toMatchObject([{ rule: 'site-link-unsafe', line: 6, severity: 'warning' }]);
  });

  test.each(['::reference payments', '> ::reference @a/apis/b', 'As in\n::operation @a/apis/b'])(
    'says that a line embeds nothing: %j',
    (text) => {
      const { problems } = render(`---\ntitle: A\n---\n${text}\n`);
      expect(problems).toMatchObject([
        { rule: 'site-embed-unclear', line: 3 + text.split('\n').length, severity: 'warning' },
      ]);
    },
  );

  test('embeds one whole reference at most', () => {
    expect(render('::reference @a/apis/b\n\n::reference @a/apis/c\n').rules).toEqual(['site-reference-twice']);
  });

  test.each([
    ['headings', '# a\n\n', 2000],
    ['links', '[a](b.md)\n\n', 10_000],
    ['embeds', '::operation @a/apis/b GET /c\n\n', 50],
  ])('a page has not too many %s', (_what, text, most) => {
    expect(render(text.repeat(most - 1)).rules).toEqual([]);
    expect(render(text.repeat(most + 2)).rules).toEqual(['site-page-limit']);
  });

  test('has the titles of boxes as Docusaurus writes them', () => {
    const { html, rules } = render(':::tip[Another tip]\n\nRead it.\n\n:::\n');
    expect(rules).toEqual([]);
    expect(html).toContain('<div class="box tip" role="note"><p class="box-title">Another tip</p>\n<p>Read it.</p>');
  });

  test('has the tabs and folds of VitePress', () => {
    const group = '::: code-group\n\n```js [a.js]\n1;\n```\n\n```sh\nls\n```\n\n:::\n\n```js [b.js]\n2;\n```\n';
    const { html, rules } = render(`:::details Why *so*\nBecause.\n:::\n\n${group}`);
    expect(rules).toEqual([]);
    expect(html).toContain('<details class="box"><summary>Why *so*</summary>\n<p>Because.</p>\n</details>');
    const tabs = [...html.matchAll(/<details class="answer" name="([^"]+)"( open)?><summary>([^<]+)/g)];
    expect(tabs.map(([, , open, title]) => [title, open])).toEqual([
      ['a.js', ' open'],
      ['sh', undefined],
    ]);
    expect(new Set(tabs.map(([, name]) => name)).size).toBe(1);
  });

  test('has everyday HTML as Markdown, and of nothing else but its text, with the line in the report', () => {
    const { html, problems } = render(
      [
        '<details>',
        '<summary>More <b>here</b></summary>',
        '',
        'Inside **it**, <kbd>Ctrl</kbd><br>K.',
        '',
        '</details>',
        '',
        'See <ScrimbaLink href="x">the film</ScrimbaLink> and `<Foo>`.',
        '',
        '<script setup>',
        'alert(1)',
        '</script>',
        '',
        '<p align="center" onclick="x()">Middle</p>',
        '',
        '::: cards',
        'One',
        ':::',
      ].join('\n'),
    );
    expect(html).toContain(
      '<details><summary>More <strong>here</strong></summary><p>Inside <strong>it</strong>, Ctrl<br>',
    );
    expect(html).toContain('<p>See the film and <code>&lt;Foo&gt;</code>.</p>');
    expect(html).toContain('<p>Middle</p>');
    expect(html).not.toMatch(/alert|onclick|Scrimba|<script/);
    expect(problems.map(({ rule, line, message }) => [rule, line, message.split(' ')[0]])).toEqual([
      ['site-markup-unknown', 10, '<script>'],
      ['site-markup-unknown', 8, '<ScrimbaLink>'],
      ['site-markup-unknown', 16, ':::cards'],
    ]);
  });

  test('has the anchors that its author names, and no second list of its contents', () => {
    const { html, facts } = render('# T\n\n[[toc]]\n\n## How it starts {#start}\n\nText.\n');
    expect(html).toBe('<h2 id="start"><a href="#start">How it starts</a></h2>\n<p>Text.</p>\n');
    expect(facts!.headings).toEqual([{ id: 'start', text: 'How it starts', level: 2 }]);
  });

  test('has one link in a heading that has one', () => {
    expect(render('# T\n\n## The [API](api.md)\n').html).toBe('<h2 id="the-api">The <a href="api">API</a></h2>\n');
  });

  test.each(['<!-- ', '<script>', '<div a ', '<Foo>', '<details>\n\n', '<table><tr><td>', '<summary>', '</b>'])(
    'with much of %j ends soon, and has none of it',
    (text) => {
      const { html } = render(`${text.repeat(2000)}\n\nend`);
      expect(html).not.toMatch(/<(?:script|Foo|b>)|<!--/);
    },
  );

  test('of very deep nesting loses nothing, and says so', () => {
    const quotes = render(`---\ntitle: Q\n---\n\n${'> '.repeat(5_000)}secret\n\nAfter`);
    expect(quotes.problems).toMatchObject([{ rule: 'site-nesting', line: 5, severity: 'warning' }]);
    expect(quotes.html).toContain('secret');
    expect(quotes.html).toContain('<p>After</p>');
    const lists = Array.from({ length: 30 }, (_, depth) => `${'  '.repeat(depth)}- item ${depth}`).join('\n');
    const deep = render(`${lists}\n- last\n\nAfter`);
    expect(deep.rules).toEqual(['site-nesting']);
    for (const text of ['item 19', 'item 20', 'item 29', '<li>last</li>', '<p>After</p>'])
      expect(deep.html).toContain(text);
    expect(render(`${'> '.repeat(39)}x`).rules).toEqual([]);
  });

  test('with very deep nesting or many brackets ends soon', () => {
    expect(render(`${'> '.repeat(5_000)}x`).page).not.toBeNull();
    expect(render(`${'['.repeat(5_000)}x`).page).not.toBeNull();
  });
});

test('only code in a language needs the highlighter', () => {
  expect(hasCode(Buffer.from('Text\n\n```json\n{}\n```\n'))).toBe(true);
  expect(hasCode(Buffer.from('- item\n  ~~~ sh\n  ls\n  ~~~\n'))).toBe(true);
  expect(hasCode(Buffer.from('Text\n\n```\nplain\n```\n'))).toBe(false);
});
