import { describe, expect, it } from 'vitest';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { limits } from '../compile/limits.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

// In the sandbox, whose limits of seconds and memory are the bound: what it could not do in time would be null.
const compiler = shareCompiler();

/** How much of what is large: a quarter, past the same walls. */
const size = 0.25;

const many = (count: number, make: (at: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, make(at)]));

function api(parts: Record<string, unknown>): unknown {
  return { openapi: '3.1.0', info: { title: 'x', version: '1' }, ...parts };
}

function nested(depth: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let at = 0; at < depth; at++) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

const deepKeys = ['items', 'not', 'example', 'default', 'allOf', 'additionalProperties', 'properties', 'x'];

/** One value inside the other, by its text: what makes JSON must not be what gives up. */
function chain(key: string, depth: number): unknown {
  const [open, close] = key === 'allOf' ? ['{"allOf":[', ']}'] : [`{"${key}":`, '}'];
  return JSON.parse(`${open.repeat(depth)}{}${close.repeat(depth)}`);
}

const tree = { type: 'object', properties: { left: { $ref: '#/x/tree' }, right: { $ref: '#/x/tree' } } };
const wide = { type: 'object', properties: many(50_000, () => ({ type: 'string' })), enum: Array(50_000).fill('x') };
const operation = {
  responses: { 200: { description: 'x', content: { 'application/json': { schema: { $ref: '#/x/wide' } } } } },
};
const paths = (count: number, make: (at: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`/p${at}`, { get: make(at) }]));

const documents: [name: string, document: () => unknown, truncated: boolean][] = [
  ['schemas nested 200 deep', () => api({ components: { schemas: { a: nested(100) } } }), false],
  ['a JSON Schema nested 5,000 deep', () => nested(2500), false],
  ['everything nested 50,000 deep', () => Object.fromEntries(deepKeys.map((key) => [key, chain(key, 50_000)])), false],
  ['a schema that is its own member', () => ({ $ref: '#', properties: { a: { $ref: '#' } } }), false],
  ['a reference to itself', () => ({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }), false],
  [
    'a tree that has itself twice in each node',
    () =>
      api({
        x: { tree },
        paths: paths(2000 * size, () => ({ responses: { 200: { content: { 'a/b': { schema: tree } } } } })),
      }),
    false,
  ],
  [
    '20 references, each to two of the next',
    () =>
      api({
        x: many(21, (at) => ({ properties: { a: { $ref: `#/x/n${at + 1}` }, b: { $ref: `#/x/n${at + 1}` } } })),
        components: { schemas: { a: { $ref: '#/x/n0' } } },
      }),
    false,
  ],
  [
    'references in a long chain',
    () => ({ $ref: '#/x/y/n0', x: { y: many(100_000, (at) => ({ $ref: `#/x/y/n${at + 1}` })) } }),
    false,
  ],
  [
    'references in a long chain of definitions',
    () => ({ $ref: '#/x/n0', x: many(100_000 * size, (at) => ({ $ref: `#/x/n${at + 1}` })) }),
    true,
  ],
  [
    '20 MB in one description',
    () => api({ info: { title: 'x', version: '1', description: 'Text. '.repeat(3_400_000) } }),
    false,
  ],
  ['20 MB in one enum', () => ({ enum: Array.from({ length: 1_700_000 * size }, (_, at) => `value-${at}`) }), false],
  ['20 MB in one example', () => ({ example: many(800_000, (at) => ({ at })) }), false],
  ['20 MB of properties of one schema', () => ({ properties: many(500_000, () => ({ type: 'string' })) }), false],
  ['20 MB of operations', () => api({ paths: paths(250_000, () => ({ summary: 'Get it', tags: ['x'] })) }), true],
  ['20 MB of schemas', () => api({ components: { schemas: many(400_000, () => ({ type: 'string' })) } }), true],
  ['100,000 rules', () => ({ rules: many(100_000 * size, () => 'error') }), true],
  [
    '5,000 operations that refer to one schema of 50,000 members',
    () => api({ x: { wide }, paths: paths(5_000, () => operation) }),
    true,
  ],
  [
    '20,000 paths that refer to one path of 20,000 operations',
    () =>
      api({
        x: { additionalOperations: many(20_000 * size, () => operation) },
        paths: many(20_000 * size, () => ({ $ref: '#/x' })),
      }),
    true,
  ],
  [
    '20,000 operations with one description of 60,000 characters',
    () =>
      api({
        x: { get: { description: '[a]: https://a.example\n'.repeat(2600) } },
        paths: many(20_000, () => ({ $ref: '#/x' })),
      }),
    false,
  ],
  [
    'descriptions that are hard to read',
    () =>
      api({
        paths: paths(hard.length, (at) => ({
          description: hard[at % hard.length]!.repeat(longest / hard[at % hard.length]!.length),
        })),
      }),
    false,
  ],
];

/** What Markdown readers have been slow at. */
const hard = ['[', '![', '*a _b', '`', '``a`', '<', '<a href="', '[a](', '[a](<b', '- ', '> ', '1. ', '|a', '\\', '&', '&amp', '**x* ', '[x]: ', '~~~', '# ', '<!--', '_a*', '![[]()', '](', '\n', '    ', '\t', '<b>', '<p ', '~', '<pre>', '<table>', '<tr><td>', '<ul><li>', '<br>\n    ']; // prettier-ignore

/** Characters of a description of these. */
const longest = 10_000;

describe('documents that are too much', () => {
  it.each(documents)('%s', async (_, make, truncated) => {
    const document = published(make());
    const [outline, rendered] = await Promise.all([
      compiler.outline(document, limits),
      compiler.render(document, limits),
    ]);
    expect(outline).not.toBeNull();
    expect(rendered).not.toBeNull();
    const { html, navigation, markdown } = rendered!;
    expect([html, navigation, markdown].map(({ length }) => length < 20 * 1024 * 1024)).toEqual([true, true, true]);
    expect(checkPage(rendered!)).toEqual([]);
    expect(rendered!.truncated).toBe(truncated);
  });

  it('has as large a page as it says', async () => {
    const { html, markdown } = (await compiler.render(
      published(
        api({
          info: { title: 'x', version: '1', description: 'Pets' },
          paths: paths(2, () => ({ summary: 'Get it' })),
        }),
      ),
      limits,
    ))!;
    // At a glance, and where it stands.
    expect(html.match(/Get it/g)).toHaveLength(4);
    expect(markdown.match(/Get it/g)).toHaveLength(2);
  });
});
