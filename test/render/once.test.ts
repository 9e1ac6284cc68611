import MarkdownIt from 'markdown-it';
import { expect, test, vi } from 'vitest';
import { createDescriptions } from '../../src/render/description.ts';
import { createOnce } from '../../src/render/json-value.ts';
import { namedSchemaHtml } from '../../src/render/schema/named-schema.ts';
import { operationsOf } from '../../src/render/openapi/list-operations.ts';
import { operationHtml } from '../../src/render/openapi/operation-html.ts';
import type { Page } from '../../src/render/page.ts';
import { outlineDocument, renderDocument } from '../../src/render/render.ts';
import { exampleText } from '../../src/render/schema/example.ts';
import { resolveSchema, createSchemas } from '../../src/render/schema/schemas.ts';
import { viewSchema } from '../../src/render/schema/schema-view.ts';

const list = (count: number) => Array.from({ length: count }, (_, n) => n);
const named = <T>(count: number, value: T) => Object.fromEntries(list(count).map((n) => [`n${n}`, value]));
const text = { type: 'string' };

function pageOf(document: Record<string, unknown>): Page {
  return {
    document,
    schemas: createSchemas(document, 'openapi', 0),
    descriptions: createDescriptions({ anchorOf: () => null, imageOf: () => null }),
    inlineRows: 0,
    once: createOnce(),
    security: [],
    anchors: { schemas: new Map(), security: new Map() },
  };
}

/** How many members of schemas are read for each operation. */
function costs(document: Record<string, unknown>): number[] {
  const page = pageOf(document);
  return operationsOf(document).operations.map((operation, at) => {
    const before = page.schemas.left;
    operationHtml(page, operation, `operation/${at}`);
    return before - page.schemas.left;
  });
}

const response = { description: 'a', headers: named(100, { schema: text }) };
const content = { 'application/json': { schema: { type: 'object', properties: named(150, text) } } };
const ref = (to: string) => ({ $ref: `#/components/${to}` });
const operations = (operation: object, components: object) => ({
  openapi: '3.1.0',
  paths: Object.fromEntries(
    list(50)
      .map((n) => [`/p${n}`, { get: operation }])
      .map((one) => structuredClone(one)),
  ),
  components,
});

test.each([
  [
    'a path item',
    {
      openapi: '3.1.0',
      paths: Object.fromEntries(list(50).map((n) => [`/p${n}`, { $ref: '#/x-item', summary: `${n}` }])),
      'x-item': {
        get: {
          parameters: list(300).map((n) => ({ name: `p${n}`, in: 'query', schema: text })),
          responses: { '200': response },
        },
      },
    },
  ],
  ['responses', operations({ responses: named(5, ref('responses/r')) }, { responses: { r: response } })],
  [
    'callbacks that have callbacks',
    operations(
      { callbacks: named(20, ref('callbacks/c')) },
      {
        callbacks: { c: named(20, ref('pathItems/i')) },
        pathItems: { i: { post: { callbacks: named(20, ref('callbacks/c')), responses: { '200': response } } } },
      },
    ),
  ],
])('%s that operations share: rendered once', (_name, document) => {
  const [first, ...others] = costs(document);
  expect(others).toHaveLength(49);
  expect(first).toBeGreaterThan(100);
  expect(first).toBeLessThan(5000);
  expect(Math.max(...others)).toBeLessThan(10);
});

test('a request body that operations share is read for one of them, and for the sample of each', () => {
  const document = operations({ requestBody: ref('requestBodies/b') }, { requestBodies: { b: { content } } });
  const [first, second] = costs(document);
  expect(second).toBeLessThan(first! / 2);
});

test('a response of OpenAPI 2.0 that two operations share has the media types of each', () => {
  const get = (type: string) => ({ get: { produces: [type], responses: { '200': { $ref: '#/responses/r' } } } });
  const document = {
    swagger: '2.0',
    info: { title: 'a', version: '1' },
    paths: { '/a': get('a/one'), '/b': get('b/two') },
    responses: { r: { description: 'a', schema: text } },
  };
  const { html, markdown } = renderDocument({ kind: 'openapi', json: Buffer.from(JSON.stringify(document)) })!;
  for (const output of [html, markdown]) {
    expect(output).toContain('a/one');
    expect(output).toContain('b/two');
  }
});

test('a schema that many places refer to is merged once', () => {
  const parts = list(40).map((part) => ({ type: 'object', properties: named(100, text), title: `${part}` }));
  const schemas = createSchemas({ openapi: '3.1.0', components: { schemas: { s: { allOf: parts } } } }, 'openapi', 0);
  const costOfNext = () => {
    const before = schemas.left;
    resolveSchema(schemas, ref('schemas/s'), new Set(), true);
    return before - schemas.left;
  };
  expect(costOfNext()).toBeGreaterThan(4000);
  expect(costOfNext()).toBe(0);
});

test('a list of parameters that operations share is read once', () => {
  let reads = 0;
  const written = list(300).map((n) => ({ name: `p${n}`, in: 'query', schema: text }));
  const parameters = new Proxy(written, { get: (target, key) => (reads++, Reflect.get(target, key) as unknown) });
  const item = { get: { parameters, responses: {} } };
  const paths = Object.fromEntries(list(50).map((n) => [`/p${n}`, { $ref: '#/x-item', summary: `${n}` }]));
  costs({ openapi: '3.1.0', paths, 'x-item': item });
  expect(reads).toBeGreaterThan(300);
  expect(reads).toBeLessThan(2000);
});

test.each(['the document', 'a path item'])('the servers of %s, which operations share, are read once', (place) => {
  let reads = 0;
  const written = list(300).map((n) => ({ url: `https://s${n}.example` }));
  const servers = new Proxy(written, { get: (target, key) => (reads++, Reflect.get(target, key) as unknown) });
  const isInItem = place !== 'the document';
  const item = { get: { responses: {} }, ...(isInItem && { servers }) };
  const paths = Object.fromEntries(list(50).map((n) => [`/p${n}`, { $ref: '#/x-item', summary: `${n}` }]));
  costs({ openapi: '3.1.0', paths, 'x-item': item, ...(!isInItem && { servers }) });
  expect(reads).toBeGreaterThan(300);
  expect(reads).toBeLessThan(2000);
});

test('what an operation does is read once for each length, however many paths refer to it', () => {
  const parse = vi.spyOn(MarkdownIt.prototype, 'parse');
  const item = { summary: 'Of *many*', get: { description: 'Gives *one*. And more.', responses: {} }, put: {} };
  const paths = Object.fromEntries(list(50).map((n) => [`/p${n}`, { $ref: '#/x-item' }]));
  const json = Buffer.from(JSON.stringify({ openapi: '3.1.0', paths, 'x-item': item }));
  const { html } = renderDocument({ kind: 'openapi', json })!;
  expect(outlineDocument({ kind: 'openapi', json })!.operations[1]!.summary).toBe('Of many');
  expect(html).toContain('>Gives one</a>');
  expect(parse.mock.calls.length).toBeLessThan(30);
  parse.mockRestore();
});

test('names of parameters and tags that operations share make no outline that is longer than 20 million characters', () => {
  const long = list(100).map((n) => `${n} ${'x'.repeat(300)}`);
  const item = { get: { tags: [...long, ...long], parameters: long.map((name) => ({ name, in: 'query' })) } };
  const paths = Object.fromEntries(list(5000).map((n) => [`/p${n}`, { $ref: '#/x-item' }]));
  const json = Buffer.from(JSON.stringify({ openapi: '3.1.0', paths, 'x-item': item }));
  const outline = outlineDocument({ kind: 'openapi', json })!;
  expect(outline.operations[0]!.tags).toHaveLength(100);
  expect(outline.operations).toHaveLength(5000);
  expect(outline.truncated).toBe(true);
  expect(JSON.stringify(outline).length).toBeLessThan(20_000_000);
});

test('a schema under its name is read once', () => {
  const schema = { type: 'object', properties: named(100, text) };
  const page = pageOf({ openapi: '3.1.0', components: { schemas: { s: schema } } });
  const costOf = (work: () => unknown) => {
    const before = page.schemas.left;
    work();
    return before - page.schemas.left;
  };
  const whole = costOf(() => namedSchemaHtml(page, { name: 's', schema, anchor: 'schema/s' }));
  const rows = list(100).reduce((sum) => sum + costOf(() => viewSchema(page.schemas, text)), 0);
  expect(whole).toBe(costOf(() => viewSchema(page.schemas, schema)) + rows);
});

test('how much of schemas is read for a page follows the length of the document', () => {
  const roomFor = (bytes: number) => createSchemas({}, 'openapi', bytes).left;
  // 200 operations with a schema of 40 levels, each with 100 fields: 1.3 million members in 170 KB.
  expect(roomFor(170_000)).toBeLessThan(300_000);
  // GitHub's, the largest that is known, takes 245,000.
  expect(roomFor(13_000_000)).toBeGreaterThan(3 * 245_000);
});

test('an example that many operations share is written once', () => {
  let looks = 0;
  const example = new Proxy({ a: 1 }, { ownKeys: (target) => (looks++, Reflect.ownKeys(target)) });
  const first = exampleText(example);
  const looksOfOne = looks;
  expect(looksOfOne).toBeGreaterThan(0);
  expect(exampleText(example)).toEqual(first);
  expect(looks).toBe(looksOfOne);
});
