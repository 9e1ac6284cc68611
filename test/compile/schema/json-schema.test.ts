import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { compileJsonSchema } from '../../../src/compile/schema/json-schema.ts';
import { schemaReferencePaths } from '../../../src/compile/schema/schema-index.ts';
import { given, lines } from '../given.ts';

const draft04 = 'http://json-schema.org/draft-04/schema#';
const draft07 = 'http://json-schema.org/draft-07/schema#';
const draft2020 = 'https://json-schema.org/draft/2020-12/schema';

async function compile(files: Record<string, unknown>, validation: 'strict' | 'lenient' = 'strict') {
  return compileJsonSchema(given(files, 'schemas', validation));
}

describe('dialects', () => {
  test.each([
    [draft04, 'draft-04'],
    ['https://json-schema.org/draft-04/schema', 'draft-04'],
    ['http://json-schema.org/draft-06/schema#', 'draft-06'],
    [draft07, 'draft-07'],
    ['http://json-schema.org/draft-07/schema', 'draft-07'],
    ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
    ['https://json-schema.org/draft/2020-12/schema#', '2020-12'],
  ])('%s is %s', async (uri, name) => {
    const { specification, problems } = await compile({ 'a.json': { $schema: uri, type: 'object' } });
    expect(specification).toBe(name);
    expect(problems).toEqual([]);
  });

  test('without $schema 2020-12 is assumed, and said', async () => {
    const { specification, problems } = await compile({ 'a.yaml': 'type: object\n' });
    expect(specification).toBe('2020-12');
    expect(lines(problems)).toEqual([
      'a.yaml:1:1 info schema-dialect-assumed: The schema has no "$schema"; 2020-12 is assumed. Add "$schema" to choose a dialect.',
    ]);
  });

  test('an unknown dialect is refused where it is stated', async () => {
    const { bundle, problems } = await compile({ 'a.json': { type: 'object', $schema: 'https://example.com/meta' } });
    expect(bundle).toBeNull();
    expect(problems).toMatchObject([{ rule: 'schema-dialect', pointer: '/$schema', line: 3, column: 14 }]);
    expect(problems[0]!.message).toContain(
      'The dialect "https://example.com/meta" is not supported. Supported are draft-04, ',
    );
  });

  test('a boolean is a schema, a list is not', async () => {
    expect((await compile({ 'a.json': 'true' })).bundle).toBe(true);
    expect(await compile({ 'a.json': '[]' })).toMatchObject({ bundle: null, problems: [{ rule: 'schema' }] });
  });
});

describe('validity', () => {
  test('what the meta-schema refuses is named with its place', async () => {
    const text = `{\n  "$schema": "${draft07}",\n  "properties": { "a": { "type": "strng", "minLength": -1 } }\n}`;
    const { problems } = await compile({ 'a.json': text });
    expect(lines(problems)).toEqual([
      'a.json:3:56 error schema: "minLength" must be at least 0.',
      'a.json:3:34 error schema: "type" must be "array", "boolean", "integer", "null", "number", "object" or "string".',
    ]);
  });

  test('lenient turns it into warnings', async () => {
    const { problems, bundle } = await compile({ 'a.json': { $schema: draft07, type: 'strng' } }, 'lenient');
    expect(problems).toMatchObject([{ severity: 'warning', rule: 'schema', pointer: '/type' }]);
    expect(bundle).not.toBeNull();
  });

  test('patterns are ECMA-262, with the u flag or without', async () => {
    const good = { $schema: draft07, pattern: '^\\-$', patternProperties: { '\\p{L}': {}, '[\\w-.]': {} } };
    expect((await compile({ 'a.json': good })).problems).toEqual([]);
    const bad = { $schema: draft07, properties: { a: { pattern: '(?i)x' } }, patternProperties: { '[': true } };
    expect((await compile({ 'a.json': bad })).problems).toMatchObject([
      { rule: 'schema-pattern', pointer: '/patternProperties/[' },
      { rule: 'schema-pattern', pointer: '/properties/a/pattern' },
    ]);
  });

  test('keywords of ajv and of other drafts are nothing to refuse', async () => {
    const schema = { $schema: draft07, id: 'x', nullable: true, $async: true, format: 'no-such', discriminator: 'a' };
    expect((await compile({ 'a.json': schema })).problems).toEqual([]);
  });

  test('title, description and version are read from the root', async () => {
    const result = await compile({ 'a.yaml': 'title: T\ndescription: D\nx-version: 1.2.0\n' });
    expect(result).toMatchObject({ kind: 'json-schema', title: 'T', description: 'D', version: '1.2.0' });
  });
});

describe('bundling by pointers', () => {
  test('nothing to bring in: the very document', async () => {
    const input = given({ 'a.json': { $schema: draft07, $ref: '#/definitions/b', definitions: { b: {} } } }, 'schemas');
    expect((await compileJsonSchema(input)).bundle).toBe(input.entry.value);
  });

  test('only the parts that are used come along, under free names, without $schema, id and anchors', async () => {
    const { bundle, problems } = await compile({
      'schemas/order.json': {
        $schema: draft07,
        $id: 'https://acme.example/order.json',
        properties: {
          to: { $ref: 'common/types.yaml#/definitions/address' },
          from: { $ref: './common/types.yaml#/definitions/address' },
          price: { $ref: 'common/money.json' },
        },
        definitions: { money: { const: 1 } },
      },
      'schemas/common/types.yaml':
        'definitions:\n  address: {properties: {zip: {$ref: "#/definitions/zip%20code"}}}\n  "zip code": {$id: "#zip", type: string}\n  unused: {}\n',
      'schemas/common/money.json': { $schema: draft07, $id: 'https://acme.example/money', type: 'number' },
    });
    expect(problems).toEqual([]);
    expect(bundle).toEqual({
      $schema: draft07,
      $id: 'https://acme.example/order.json',
      properties: {
        to: { $ref: '#/definitions/address' },
        from: { $ref: '#/definitions/address' },
        price: { $ref: '#/definitions/money-2' },
      },
      definitions: {
        money: { const: 1 },
        address: { properties: { zip: { $ref: '#/definitions/zip-code' } } },
        'zip-code': { type: 'string' },
        'money-2': { type: 'number' },
      },
    });
  });

  test('cycles between files, also through the entry', async () => {
    const { bundle, problems } = await compile({
      'node.json': { $schema: draft2020, type: 'object', properties: { edges: { items: { $ref: 'edge.json' } } } },
      'edge.json': { $anchor: 'edge', properties: { to: { $ref: 'node.json' }, twin: { $ref: '#edge' } } },
    });
    expect(problems).toEqual([]);
    expect(bundle).toMatchObject({
      properties: { edges: { items: { $ref: '#/$defs/edge' } } },
      $defs: { edge: { properties: { to: { $ref: '#' }, twin: { $ref: '#/$defs/edge' } } } },
    });
    const validate = new Ajv2020({ strict: false }).compile(bundle as object);
    expect(validate({ edges: [{ to: { edges: [] } }] })).toBe(true);
    expect(validate({ edges: [{ to: { edges: [{ to: 1 }] } }] })).toBe(false);
  });

  test('what stands in enum, const, default, examples and unknown keywords is data', async () => {
    const data = { $ref: 'https://example.com/nothing' };
    const schema = { $schema: draft07, enum: [data], const: data, default: data, examples: [data], 'x-any': data };
    expect((await compile({ 'a.json': schema })).problems).toEqual([]);
    const properties = {
      $schema: draft07,
      properties: { $ref: { type: 'string' }, enum: { $ref: '#/definitions/a' } },
    };
    const { problems } = await compile({ 'a.json': properties });
    expect(problems).toMatchObject([{ rule: 'ref-unresolved', pointer: '/properties/enum/$ref' }]);
  });

  test('up to draft-07 keywords beside $ref are ignored, later they count', async () => {
    const files = (uri: string) => ({
      'a.json': { $schema: uri, properties: { a: { $ref: 'b.json', not: { $ref: 'missing.json' } } } },
      'b.json': {},
    });
    expect((await compile(files(draft07))).problems).toEqual([]);
    expect((await compile(files(draft2020))).problems).toMatchObject([{ pointer: '/properties/a/not/$ref' }]);
  });

  test('a container of schemas may have members that are named like keywords', async () => {
    const { bundle, problems } = await compile({
      'a.json': {
        $schema: draft04,
        properties: { id: { $ref: 'types.json#/id' }, all: { $ref: 'types.json#/a/list/0' } },
      },
      'types.json': { id: { type: 'integer' }, type: { type: 'string' }, a: { list: [{ type: 'null' }] } },
    });
    expect(problems).toEqual([]);
    expect(bundle).toMatchObject({ definitions: { id: { type: 'integer' }, '0': { type: 'null' } } });
  });

  test('a file refers to itself by its own name', async () => {
    const { bundle } = await compile({
      'd/a.json': {
        $schema: draft07,
        properties: { a: { $ref: 'a.json#/definitions/b' }, c: { $ref: '../d/a.json' } },
        definitions: { b: {} },
      },
    });
    expect(bundle).toMatchObject({ properties: { a: { $ref: '#/definitions/b' }, c: { $ref: '#' } } });
  });

  test('neighbours are found through the URI that a file states', async () => {
    const { bundle, problems } = await compile({
      'x/collection.json': {
        $schema: draft07,
        $id: 'https://json.example.org/collection.json',
        properties: { a: { $ref: 'auth.json' }, b: { $ref: 'https://json.example.org/parts/b.json#/definitions/x' } },
      },
      'x/auth.json': { $id: 'https://json.example.org/auth.json', type: 'string' },
      'x/parts/b.json': { $id: 'https://json.example.org/parts/b.json', definitions: { x: { type: 'null' } } },
    });
    expect(problems).toEqual([]);
    expect(bundle).toMatchObject({ definitions: { auth: { type: 'string' }, x: { type: 'null' } } });
  });
});

describe('bundling by resources', () => {
  test('$dynamicRef keeps its scopes', async () => {
    const { bundle, problems } = await compile({
      'strict.json': {
        $schema: draft2020,
        $id: 'https://acme.example/strict',
        $dynamicAnchor: 'node',
        $ref: 'tree.json',
        unevaluatedProperties: false,
      },
      'tree.json': {
        $dynamicAnchor: 'node',
        type: 'object',
        properties: { data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
      },
    });
    expect(problems).toEqual([]);
    expect(bundle).toMatchObject({
      $id: 'https://acme.example/strict',
      $ref: 'https://stele.invalid/tree.json',
      $defs: { tree: { $id: 'https://stele.invalid/tree.json', $dynamicAnchor: 'node' } },
    });
    const validate = new Ajv2020({ strict: false }).compile(bundle as object);
    expect(validate({ children: [{ data: 1 }] })).toBe(true);
    expect(validate({ children: [{ daat: 1 }] })).toBe(false);
  });

  test('an id below the root moves the base, in the tree too', async () => {
    const files = {
      'root.json': {
        $schema: draft07,
        definitions: { list: { $id: 'folder/', definitions: { one: { items: { $ref: 'integer.json' } } } } },
        allOf: [{ $ref: '#/definitions/list/definitions/one' }],
      },
      'folder/integer.json': { $ref: '#/definitions/i', definitions: { i: { type: 'integer' } } },
    };
    expect(schemaReferencePaths(given(files, 'schemas').entry)).toEqual(['folder/integer.json', 'integer.json']);
    const { bundle, problems } = await compile(files);
    expect(problems).toEqual([]);
    const validate = new Ajv({ strict: false }).compile(bundle as object);
    expect(validate([1])).toBe(true);
    expect(validate(['a'])).toBe(false);
  });

  test('the entry is given a URI only when something refers back to it', async () => {
    const files = (back: object) => ({
      'a.json': {
        $schema: draft2020,
        $defs: { in: { $id: 'in.json', properties: { b: { $ref: 'b.json' } } } },
        $ref: 'in.json',
      },
      'b.json': { type: 'object', ...back },
    });
    expect((await compile(files({}))).bundle).not.toHaveProperty('$id');
    const { bundle, problems } = await compile(files({ properties: { again: { $ref: 'a.json' } } }));
    expect(problems).toEqual([]);
    expect(bundle).toHaveProperty('$id', 'https://stele.invalid/a.json');
    const validate = new Ajv2020({ strict: false }).compile(bundle as object);
    expect(validate({ b: { again: { b: {} } } })).toBe(true);
    expect(validate({ b: { again: { b: 1 } } })).toBe(false);
  });
});

describe('references that are refused', () => {
  test.each([
    ['https://example.com/a.json', 'ref-remote'],
    ['//example.com/a.json', 'ref-remote'],
    ['file:///etc/passwd', 'ref-scheme'],
    ['/etc/passwd', 'ref-outside-tree'],
    ['../a.json', 'ref-outside-tree'],
    ['%2e%2e/a.json', 'ref-syntax'],
    ['missing.json', 'ref-unresolved'],
    ['text.txt#/a', 'ref-unresolved'],
    ['#/definitions/none', 'ref-unresolved'],
    ['#none', 'ref-unresolved'],
  ])('%s: %s', async (reference, rule) => {
    const { bundle, problems } = await compile({ 'a.json': { $schema: draft07, items: { $ref: reference } } });
    expect(bundle).toBeNull();
    expect(problems).toMatchObject([{ rule, file: 'a.json', pointer: '/items/$ref', line: 4, column: 13 }]);
    expect(problems[0]!.message).toContain(JSON.stringify(reference));
  });

  test('references that lead back to themselves are named', async () => {
    const { problems } = await compile({
      'a.json': { $schema: draft2020, properties: { a: { $ref: 'b.json' }, ok: { $ref: '#' } } },
      'b.json': { allOf: [{ type: 'object' }, { $ref: 'a.json#/properties/a' }] },
    });
    expect(problems).toMatchObject([{ rule: 'ref-circular', severity: 'error' }]);
    const recursion = { $schema: draft07, properties: { a: { $ref: '#' } }, anyOf: [{ items: { $ref: '#' } }] };
    expect((await compile({ 'a.json': recursion })).problems).toEqual([]);
  });

  test('the official meta-schemas may be referred to, whole and in part', async () => {
    const allOf = [
      { $ref: draft07 },
      { $ref: 'http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger' },
    ];
    const { problems } = await compile({ 'a.json': { $schema: draft07, allOf } });
    expect(problems).toEqual([]);
  });

  test('a file of another dialect is refused', async () => {
    const { bundle, problems } = await compile({
      'a.json': { $schema: draft2020, items: { $ref: 'b.json' } },
      'b.json': { $schema: draft04, type: 'string' },
    });
    expect(bundle).toBeNull();
    expect(problems).toMatchObject([{ rule: 'schema-dialect', file: 'b.json', pointer: '/$schema', line: 2 }]);
  });

  test('what is wrong in another file is reported there', async () => {
    const { problems } = await compile({
      'a.json': { $schema: draft07, items: { $ref: 'b.json#/definitions/x' } },
      'b.json': {
        definitions: { x: { type: 'strng', items: { $ref: 'https://example.com/' } }, y: { type: 'strng' } },
      },
    });
    expect(problems.map(({ file, pointer, rule }) => [file, pointer, rule])).toEqual([
      ['b.json', '/definitions/x/items/$ref', 'ref-remote'],
      ['b.json', '/definitions/x/type', 'schema'],
    ]);
  });
});
