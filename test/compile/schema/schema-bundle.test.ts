import { posix } from 'node:path';
import { Ajv, type AnySchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileJsonSchema } from '../../../src/compile/schema/json-schema.ts';
import { schemaReferencePaths } from '../../../src/compile/schema/schema-index.ts';
import { given } from '../given.ts';

const paths = ['a.json', 'd/b.json', 'd/e/c c.json', 'f.json'];
const pointers = ['', '/definitions/s', '/definitions/t~1u', '/properties/x', '#named'];
const draft07 = 'http://json-schema.org/draft-07/schema#';
const draft2020 = 'https://json-schema.org/draft/2020-12/schema';

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** A schema without references, or a reference to a place of one of the files. */
type Leaf = { type: string } | { const: number } | { file: number; pointer: string };
const leaf: fc.Arbitrary<Leaf> = fc.oneof(
  fc.record({ type: fc.constantFrom('object', 'array', 'integer', 'string') }),
  fc.record({ const: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ file: fc.nat(paths.length - 1), pointer: fc.constantFrom(...pointers) }),
);

/** References stand only where a part of the instance is used up, so that validation ends. */
const node = fc.record({
  type: fc.constantFrom('object', 'array', ['object', 'integer']),
  x: leaf,
  y: leaf,
  items: leaf,
  required: fc.boolean(),
});
const file = fc.record({ root: node, s: node, tu: node, inner: fc.boolean(), id: fc.boolean() });

function write(leafOf: Leaf, from: string): object {
  if (!('file' in leafOf)) return leafOf;
  const to = paths[leafOf.file]!;
  const relative = to === from ? '' : encodeURI(posix.relative(posix.dirname(from), to));
  const fragment = leafOf.pointer.startsWith('#') ? leafOf.pointer : `#${leafOf.pointer}`;
  return { $ref: fragment === '#' && relative !== '' ? relative : relative + fragment };
}

function writeNode({ type, x, y, items, required }: Drawn<typeof node>, from: string): Record<string, unknown> {
  const properties = { x: write(x, from), y: write(y, from) };
  return { type, properties, items: write(items, from), ...(required ? { required: ['x'] } : {}) };
}

function writeFile(
  { root, s, tu, id, inner }: Drawn<typeof file>,
  path: string,
  recent: boolean,
): Record<string, unknown> {
  const definitions = {
    // Not at the root, where ajv finds no anchor.
    s: { ...writeNode(s, path), ...(recent ? { $anchor: 'named' } : { $id: '#named' }) },
    't/u': writeNode(tu, path),
    // A base of its own, which nothing refers to or out of.
    ...(inner ? { own: { $id: `https://inner.example/${encodeURI(path)}`, type: 'object' } } : {}),
  };
  const uri = id ? { $id: `https://ids.example/${encodeURI(path)}` } : {};
  return { $schema: recent ? draft2020 : draft07, ...uri, ...writeNode(root, path), definitions };
}

const instances = fc.array(
  fc.jsonValue({ maxDepth: 4 }).map((value) => ({ x: value, y: [value, { x: { x: 1, y: value } }] })),
  { minLength: 3, maxLength: 8 },
);
const plain = [{}, [], 1, 'a', { x: 1 }, { x: {} }, { x: [] }, [{}], [1], { y: { x: 1 } }, { x: { x: { x: {} } } }];

const options = { strict: false, validateSchema: false, code: { optimize: false } };

function createAjv(recent: boolean): Ajv {
  return recent ? new Ajv2020(options) : new Ajv(options);
}

test.each([
  ['draft-07', false],
  ['2020-12', true],
])('%s: a bundle says of every instance what its files say', async (_, recent) => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 4, maxLength: 4 }), instances, async (drawn, more) => {
      const files = Object.fromEntries(paths.map((path, at) => [path, writeFile(drawn[at]!, path, recent)]));
      const input = given(files, 'schemas');
      const { bundle, problems } = await compileJsonSchema(input);
      fc.pre(problems.every(({ rule }) => rule !== 'ref-circular'));
      expect(problems).toEqual([]);
      compared++;

      const separate = createAjv(recent);
      for (const [path, schema] of Object.entries(files))
        separate.addSchema(
          schema as AnySchemaObject,
          String(schema['$id'] ?? `https://ids.example/${encodeURI(path)}`),
        );
      const byFiles = separate.getSchema('https://ids.example/a.json')!;
      const byBundle = createAjv(recent).compile(bundle as AnySchemaObject);
      for (const instance of [...plain, ...more])
        expect([instance, byBundle(instance)]).toEqual([instance, byFiles(instance)]);
    }),
    { numRuns: 60, seed: 20261121 },
  );
  expect(compared).toBe(60);
});

test('what the collector gathers is all that the bundler asks for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 4, maxLength: 4 }), async (drawn) => {
      const files = Object.fromEntries(paths.map((path, at) => [path, writeFile(drawn[at]!, path, true)]));
      const all = given(files, 'schemas');
      const wanted = new Set(['a.json']);
      for (const path of wanted) {
        const parsed = all.files.get(path)!;
        if ('value' in parsed) for (const next of schemaReferencePaths(parsed)) wanted.add(next);
      }
      const gathered = Object.fromEntries(Object.entries(files).filter(([path]) => wanted.has(path)));
      const whole = await compileJsonSchema(all);
      expect((await compileJsonSchema(given(gathered, 'schemas'))).bundle).toEqual(whole.bundle);
    }),
    { numRuns: 50, seed: 20261121 },
  );
});
