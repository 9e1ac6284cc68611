import { expect, test } from 'vitest';
import { outlineDocument, renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

function pageOf(document: unknown): string {
  const rendered = renderDocument(published(document))!;
  expect(checkPage(rendered)).toEqual([]);
  return rendered.html;
}

const described = (description: string) =>
  pageOf({ openapi: '3.1.0', info: { title: 'x', version: '1', description } });

test.for(['128pxx32px', '100x50', '100x', 'x50', '50%'])(
  'an image with a size, as many renderers have it, is a link like any other: %s',
  (size) => {
    const html = described(`before ![logo](https://x.example/a.png =${size}) after`);
    expect(html).toMatch(/before <a href="https:\/\/x\.example\/a\.png"[^>]*>logo<\/a> after/);
  },
);

test('an image in HTML is a link, or its words', () => {
  const html = described(
    'see <img width="1" src="https://x.example/a.png" alt="logo"> and <img src="/a.png" alt="ours"/>',
  );
  expect(html).toMatch(/see <a href="https:\/\/x\.example\/a\.png"[^>]*>logo<\/a> and ours/);
  expect(html).not.toContain('&lt;img');
});

test('what stands in an aside is a paragraph', () => {
  expect(described('One.\n\n<aside>Two `start_url`.</aside>')).toMatch(/<p>Two <code>start_url<\/code>\.<\/p>/);
});

test('a server stands before the path, and again only where there are others', () => {
  const at = (servers: object[]) =>
    pageOf({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/a': { servers, get: {} } } });
  expect(at([{ url: 'https://a.example' }])).not.toContain('<p>At');
  expect(at([{ url: 'https://a.example' }, { url: 'https://b.example' }])).toContain(
    '<code>https://b.example</code></p>',
  );
});

test('a note of a git host is a note', () => {
  const html = described('> [!NOTE]\n> Mind this.');
  expect(html).toMatch(/<blockquote>\s*<p><strong>Note<\/strong><br>\s*Mind this\./);
});

test('the variables of a server are shown, with their values', () => {
  const env = { default: 'prod', enum: ['prod', 'test'], description: 'Which *one*' };
  const html = pageOf({
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    servers: [{ url: 'https://{env}.example.com:{port}', variables: { env, port: { default: '443' } } }, { url: '/b' }],
  });
  expect(html).toMatch(
    /<code>env<\/code>.*default <code>prod<\/code>.*Which <em>one<\/em>.*<code>prod<\/code>.*<code>test<\/code>/s,
  );
  expect(html).toMatch(/<code>port<\/code>.*default <code>443<\/code>/s);
});

test('what a response says on its line is Markdown without links; below it stands what the line leaves out', () => {
  const responses = {
    200: { description: 'The `id` of *one* order' },
    400: { description: 'See [the `code`](https://x.example/codes) <script>' },
    500: { description: `Wrong:\n\n- \`first\`\n- second` },
  };
  const paths = { '/orders': { get: { responses } } };
  const html = pageOf({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths });
  expect(html).toContain('>200</b> The <code>id</code> of <em>one</em> order</p>');
  expect(html).toMatch(
    /400<\/b> See the <code>code<\/code> &lt;script&gt;<\/summary>.*<a href="https:\/\/x\.example\/codes"/s,
  );
  expect(html).toMatch(/500<\/b> Wrong:<\/summary>.*<li><code>first<\/code><\/li>/s);
});

test('a tree that is too large is cut in its depth: what stands first does not use up what all may have', () => {
  const wide = (depth: number): object =>
    depth === 0
      ? { type: 'string' }
      : {
          type: 'object',
          properties: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`p${at}`, wide(depth - 1)])),
        };
  const names = ['first', 'second', 'third', 'last'];
  const html = pageOf({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, wide(4)])),
    allOf: [{ title: 'beside', properties: { also: {} } }],
  });
  for (const name of [...names, 'also']) expect(html).toContain(`<code>${name}</code>`);
  const rows = html.split('<li>').length;
  expect(rows).toBeGreaterThan(1000);
  expect(rows).toBeLessThan(1600);
});

test('a built-in rule is said to be one, and leads to where its linter explains it', () => {
  const html = pageOf({
    rules: { 'operation-summary': 'error', 'no-such-rule': 'warn' },
    oas3_1Rules: { struct: 'error' },
  });
  const link =
    '<a href="https://redocly.com/docs/cli/rules/built-in-rules" rel="nofollow noopener noreferrer">Built-in rule</a>';
  expect(html.split(link).length).toBe(4);
});

test('definitions are found where references lead, also under a name of their own', () => {
  const document = {
    $schema: 'http://json-schema.org/draft-04/schema#',
    properties: { a: { items: { $ref: '#/defs/thing' } }, b: { $ref: '#/other/not/properties/deep' } },
    defs: { thing: { type: 'object', properties: { inside: { $ref: '#/defs/thing' } } } },
    other: { not: { properties: { deep: { type: 'string' } } } },
  };
  const html = pageOf(document);
  expect(html).toContain('<section class="schema" id="schema/thing">');
  expect(html).toContain('array of <a href="#schema/thing">thing</a>');
  expect(html).not.toContain('id="schema/not"');
  expect(outlineDocument(published(document))!.schemas.map(({ name }) => name)).toEqual(['', 'thing']);
});

test('the headings of the description are in the table of contents, and links between them work', () => {
  const description =
    '# Getting started\n\nRead [keys](#section/Getting-started/API-keys), [again](#api-keys), [none](#nothing).\n\n' +
    '## API `keys`\n\n> # quoted\n\n# Getting started\n';
  const rendered = renderDocument(published({ openapi: '3.1.0', info: { title: 'x', version: '1', description } }))!;
  expect(checkPage(rendered)).toEqual([]);
  expect(rendered.html).toContain('<h2 id="section/Getting-started">Getting started</h2>');
  expect(rendered.html).toContain('<h3 id="section/API-keys">API <code>keys</code></h3>');
  expect(rendered.html).toContain('<h2 id="section/Getting-started-2">');
  expect(rendered.html).toContain('<a href="#section/API-keys">keys</a>, <a href="#section/API-keys">again</a>, none.');
  expect(rendered.navigation).toContain(
    '<li><a href="#section/Getting-started">Getting started</a><ul><li><a href="#section/API-keys">API keys</a></li></ul></li>',
  );
});

test('a deprecated operation is struck through', () => {
  const paths = { '/a': { get: { summary: 'Old', deprecated: true, responses: {} } } };
  const rendered = renderDocument(published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths }))!;
  expect(rendered.html).toContain('<a href="#operation/get-a"><s>Old</s></a>');
  expect(rendered.navigation).toContain('<s>Old</s>');
});

test.for([
  [
    'of all lines',
    '    First line.\n\n    Second *paragraph*.\n',
    '<p>First line.</p>\n<p>Second <em>paragraph</em>.</p>',
  ],
  [
    'of all lines but the first, as a comment has it',
    'First line,\n        more.\n\n        Last.\n        ',
    '<p>First line,\nmore.</p>\n<p>Last.</p>',
  ],
  [
    'in a list of HTML',
    'Filters.\n        <ul>\n            <li>\n                <b>a</b>: one\n            </li>\n            <li>two</li>\n        </ul>\n        Last.',
    '<p>Filters.</p>\n<ul>\n<li><strong>a</strong>: one</li>\n<li>two</li>\n</ul>\n<p>Last.</p>',
  ],
  [
    'after a line break',
    'Values:<br/><br/>\n        <b>one</b>, two\n',
    '<p>Values:</p>\n<p><strong>one</strong>, two</p>',
  ],
])('indentation is not code where it is an accident: %s', ([, text, html]) => {
  expect(described(text!)).toContain(html);
});

test.for([
  ['after a blank line', 'Example:\n\n    curl x\n\nor', '<p>Example:</p>\n<pre><code>curl x\n</code></pre>'],
  ['of more than the others', '  a\n\n      code\n\n  b', '<p>a</p>\n<pre><code>code\n</code></pre>'],
  [
    'after HTML that a blank line ended',
    '<p>Example</p>\n\n    curl x\n',
    '<p>Example</p>\n<pre><code>curl x\n</code></pre>',
  ],
  ['in a list', '- one\n\n      code\n', '<li>\n<p>one</p>\n<pre><code>code\n</code></pre>\n</li>'],
])('what is indented to be code stays code: %s', ([, text, html]) => {
  expect(described(text!)).toContain(html);
});

test('an item of a list keeps its paragraphs', () => {
  expect(described('1.  one\n    goes on\n\n    second\n')).toMatch(
    /<li>\s*<p>one\s+goes on<\/p>\s*<p>second<\/p>\s*<\/li>/,
  );
});

test('lists of HTML are nested and numbered', () => {
  const html = described(
    '<ol>\n  <li>one\n    <ul><li>inner</li>\n    <li>more</li></ul>\n  </li>\n  <li>two</li>\n</ol>after',
  );
  expect(html).toMatch(
    /<ol>\s*<li>one\s*<ul>\s*<li>inner<\/li>\s*<li>more<\/li>\s*<\/ul>\s*<\/li>\s*<li>two<\/li>\s*<\/ol>\s*<p>after<\/p>/,
  );
});

test('a table of HTML is a table', () => {
  const html = described(
    'Keys:\n<table>\n  <thead>\n    <tr>\n      <th>Key</th>\n      <th>Meaning</th></tr>\n  </thead>\n  <tr>\n    <td><b>a</b> | b</td>\n    <td>one<br>two</td>\n  </tr>\n</table>',
  );
  expect(html).toMatch(/<th scope="col">Key<\/th>\s*<th scope="col">Meaning<\/th>/);
  expect(html).toMatch(/<td><strong>a<\/strong> \| b<\/td>\s*<td>one two<\/td>/);
});

test('a table is in a box that scrolls, also with the keyboard: on a narrow screen its words are not broken', () => {
  expect(described('| a | b |\n|--|--|\n| 1 | 2 |\n')).toMatch(
    /<div class="table" tabindex="0"><table>.*?<\/table><\/div>/s,
  );
});

test('code of HTML is code as it is', () => {
  const html = described('x <pre><code class="y">a &lt;b&gt;\n\n  ```c\n</code></pre> after <pre>open');
  expect(html).toContain('<pre><code>a &lt;b&gt;\n\n  ```c\n</code></pre>');
  expect(html).toContain('<p>after &lt;pre&gt;open</p>');
});

test('what is nested too deeply to be shown as a list is text, and so is what follows it', () => {
  const lists = Array.from({ length: 15 }, (_, depth) => `${'  '.repeat(depth)}- item ${depth}`).join('\n');
  const html = described(`${lists}\n\nAfter the list.`);
  for (const text of ['item 9', 'item 14', '<p>After the list.</p>']) expect(html).toContain(text);
});

test('a document without a server has none before its paths', () => {
  const of = (more: object) =>
    pageOf({ swagger: '2.0', info: { title: 'x', version: '1' }, paths: { '/a': { get: {} } }, ...more });
  expect(of({})).toContain('</b> <code>/a</code></p>');
  expect(of({ basePath: '/v1' })).toContain('<code><span class="base">/v1</span>/a</code></p>');
});

test('the highest headings of an introduction follow the title, whatever they begin with', () => {
  expect(described('### Start\n\n#### Then')).toMatch(/<h2 id="section\/Start">.*<h3 id="section\/Then">/s);
  expect(described('# Start\n\n## Then')).toMatch(/<h2 id="section\/Start">.*<h3 id="section\/Then">/s);
});

test('a schema has one example', () => {
  const html = pageOf({
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: {},
    components: { schemas: { A: { type: 'object', properties: { a: { type: 'string' } }, examples: [{ a: 'b' }] } } },
  });
  expect(html.match(/<summary>Example/g)).toHaveLength(1);
});

test('the page for requests may reach where tokens come from', () => {
  const flows = { clientCredentials: { tokenUrl: 'https://login.example/token' }, implicit: {} };
  const securitySchemes = { account: { type: 'oauth2', flows } };
  const info = { title: 'x', version: '1' };
  const now = { openapi: '3.1.0', info, servers: [{ url: '/v1' }], components: { securitySchemes } };
  expect(outlineDocument(published(now))!.servers).toEqual(['/v1', 'https://login.example/token']);
  const old = {
    swagger: '2.0',
    info,
    securityDefinitions: { a: { type: 'oauth2', flow: 'application', tokenUrl: '/t' } },
  };
  expect(outlineDocument(published(old))!.servers).toEqual(['/t']);
});
