import { expect, test } from 'vitest';
import { renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { checkHtml } from './strict-html.ts';

/** An API whose operations have so many characters of description, in three tags and without one. */
function api(operations: number, characters: number): unknown {
  const tags = ['Issues', 'issues', 'Whole', null];
  const description = 'Many *words* in a row. '.repeat(Math.ceil(characters / 23));
  const paths = Object.fromEntries(
    Array.from({ length: operations }, (_, at) => {
      const tag = tags[at % tags.length]!;
      return [`/p${at}`, { get: { summary: `Get ${at}`, description, ...(tag && { tags: [tag] }), responses: {} } }];
    }),
  );
  const schemas = { Pet: { type: 'object', properties: { name: { type: 'string' } } } };
  return { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, components: { schemas } };
}

test('a long reference is an overview and parts that are the whole together', () => {
  const { html, pages } = renderDocument(published(api(60, 50_000)))!;
  const parts = pages!.parts;
  expect(parts.map(({ name }) => name)).toEqual([
    'issues',
    'issues-2',
    'issues-3',
    'issues-4',
    'whole-2',
    'whole-3',
    'other-operations',
    'other-operations-2',
    'schemas',
  ]);
  expect(parts.slice(0, 2).map(({ title }) => title)).toEqual(['Issues', 'Issues (2)']);
  expect(parts.slice(1).map(({ from }) => from)).toEqual(parts.slice(0, -1).map(({ to }) => to));
  expect(html.slice(parts.at(-1)!.to)).toBe('</div>');
  for (const { from, to, anchors } of parts) {
    const { problems, ids } = checkHtml(html.slice(from, to));
    expect(problems).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(anchors));
  }
  const anchors = parts.flatMap((part) => part.anchors);
  expect(new Set(anchors).size).toBe(anchors.length);
});

test('the overview has a line for each operation and schema, under the anchors of the whole', () => {
  const { html, pages } = renderDocument(published(api(60, 50_000)))!;
  const { problems, ids } = checkHtml(pages!.overview);
  expect(problems).toEqual([]);
  expect(ids.toSorted()).toEqual(checkHtml(html).ids.toSorted());
  expect(pages!.overview).toContain('<code>/p59</code></a> Get 59');
  expect(pages!.overview.length).toBeLessThan(20_000);
});

test('a reference that is not long is one page, and so is a long one with one part', () => {
  expect(renderDocument(published(api(20, 5_000)))!.pages).toBeNull();
  const tall = { $defs: {}, description: 'word '.repeat(1_000_000) };
  expect(renderDocument(published(tall))!.pages).toBeNull();
});
