import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { outlineDocument, renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

const folder = new URL('../fixtures/render/', import.meta.url).pathname;
const read = (name: string): unknown => parse(readFileSync(`${folder}${name}.yaml`, 'utf8'));

it.each(['2.0', '3.0', '3.1', '3.2', 'schema', 'redocly', 'spectral'])(
  '%s: page, Markdown and outline',
  async (name) => {
    const document = published(read(name));
    const rendered = renderDocument(document)!;
    expect(checkPage(rendered)).toEqual([]);
    expect(rendered.truncated).toBe(false);
    const page = `${rendered.navigation}\n${rendered.html}`.replace(
      /(?!^)<(?:section|h[2-6]|li|details|dt|tr|ul|div)\b/gm,
      '\n$&',
    );
    await expect(`${page}\n`).toMatchFileSnapshot(`${folder}${name}.html`);
    await expect(rendered.markdown).toMatchFileSnapshot(`${folder}${name}.md`);
    await expect(`${JSON.stringify(outlineDocument(document), null, 2)}\n`).toMatchFileSnapshot(
      `${folder}${name}.json`,
    );
  },
);

it('the same document gives the same bytes', () => {
  for (const name of ['3.0', 'schema', 'spectral']) {
    const document = published(read(name));
    expect(renderDocument(document)).toEqual(renderDocument(document));
  }
});

it.each(['', '[]', 'null', '1', '"x"', '{', '\u{fffd}'])('%j is not a document', (json) => {
  for (const kind of ['openapi', 'json-schema', 'redocly-ruleset', 'spectral-ruleset'] as const) {
    const document = { kind, json: Buffer.from(json) } as const;
    expect([renderDocument(document), outlineDocument(document)]).toEqual([null, null]);
  }
});

it('an operation and its outline change together, and with nothing else', () => {
  const text = readFileSync(`${folder}2.0.yaml`, 'utf8');
  const digests = (from: string, to: string) => {
    expect(text).toContain(from);
    return outlineDocument(published(parse(text.replace(from, to))))!.operations.map(({ digest }) => digest);
  };
  const before = digests('', '');
  const isSame = (after: string[]) => after.map((digest, at) => digest === before[at]);
  expect(isSame(digests('in: header, type: string', 'in: header, type: integer'))).toEqual([false, false, true, true]);
  expect(isSame(digests('description: Kept', 'description: Stored'))).toEqual([true, true, false, true]);
  expect(isSame(digests('title: Pets', 'title: Animals'))).toEqual([true, true, true, true]);
});

it('members in another order are the same operation', () => {
  const digest = (operation: unknown) =>
    outlineDocument(published({ openapi: '3.1.0', paths: { '/a': { get: operation } } }))!.operations[0]!.digest;
  expect(digest({ summary: 'a', x: { b: [1, 'é'], a: null } })).toBe(
    digest({ x: { a: null, b: [1, 'é'] }, summary: 'a' }),
  );
  expect(digest({ x: [1, 2] })).not.toBe(digest({ x: [2, 1] }));
});

it('the page of a partial ruleset says what it does not check, and rules link to their documentation', () => {
  const rule = { given: '$', documentationUrl: 'https://acme.example/why' };
  const bad = { ...rule, documentationUrl: 'javascript:alert(1)' };
  const { html, markdown } = renderDocument(
    published({ rules: { kept: rule, bad }, 'x-stele-left-out': ['functions', 'own<b>'] }),
  )!;
  expect(html).toContain('It does not check:</strong> <code>functions</code> <code>own&lt;b&gt;</code>');
  expect(html).toContain('<a href="https://acme.example/why" rel="nofollow noopener noreferrer">Documentation</a>');
  expect(html).not.toContain('alert(1)"');
  expect(markdown).toContain('It does not check:** `functions`');
});
