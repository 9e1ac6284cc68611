import { describe, expect, test } from 'vitest';
import { api, compare, giving, only, taking, told, type Json } from './given.ts';

const pet: Json = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', maxLength: 50 },
    kind: { enum: ['cat', 'dog'] },
    owner: { $ref: '#/components/schemas/Owner' },
  },
};
const owner: Json = {
  type: 'object',
  properties: { city: { type: 'string' }, pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } },
};

function petstore(changed: { pet?: Json; owner?: Json } = {}): Json {
  const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } };
  const response = { 200: { description: 'A pet.', ...body } };
  return {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    paths: {
      '/pets': { post: { requestBody: body, responses: response } },
      '/pets/{id}': {
        parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
        get: { responses: response },
      },
      '/health': { get: { responses: { 204: { description: 'Well.' } } } },
    },
    components: { schemas: { Pet: { ...pet, ...changed.pet }, Owner: { ...owner, ...changed.owner } } },
  };
}

describe('what real APIs change', () => {
  const alone = { type: 'object', properties: { a: { type: 'string' } } };
  const wrapped = { oneOf: [alone, { type: 'integer' }] };
  const scalars = [{ type: 'string' }, { type: 'integer' }];

  test('a schema that becomes one of several keeps its properties', () => {
    expect(told(compare(taking(alone), taking(wrapped)))).toEqual(['safe request-body-one-of-added']);
    expect(told(compare(giving(alone), giving(wrapped)))).toEqual(['breaking response-body-one-of-added']);
    expect(told(compare(taking(wrapped), taking(alone)))).toEqual(['breaking request-body-one-of-removed']);
    expect(told(compare(giving(wrapped), giving(alone)))).toEqual(['safe response-body-one-of-removed']);
  });

  test('what else changed in a schema that becomes one of several is reported', () => {
    const stricter = { oneOf: [{ ...alone, required: ['a'] }, { type: 'integer' }] };
    expect(told(compare(taking(alone), taking(stricter)))).toEqual([
      'breaking request-property-became-required',
      'safe request-body-one-of-added',
    ]);
  });

  test('a change behind a reference in a restriction is not passed over', () => {
    for (const restriction of ['not', 'contains', 'contentSchema']) {
      const schema = { [restriction]: { $ref: '#/components/schemas/A' } };
      const given = (A: Json) => taking(schema, { components: { schemas: { A } } });
      const { changes } = compare(given({ type: 'string' }), given({ type: 'integer' }));
      const code = restriction === 'not' ? 'request-body-not-changed' : 'request-schema-type-changed';
      expect(changes.map((change) => `${change.verdict} ${change.code}`)).toContain(`breaking ${code}`);
    }
  });

  test('long texts are shown from where they differ', () => {
    const long = 'This API finds train trips in all of Europe, and it books them for you. '.repeat(9);
    const given = (end: string) => taking({ description: long + end });
    expect(only(compare(given('Soon.'), given('Now.')))).toMatchObject({
      message:
        'The request body has another description: …books them for you. Now." instead of …books them for you. Soon.".',
      before: '…books them for you. Soon."',
      after: '…books them for you. Now."',
    });
  });

  test('each condition and dependency is judged by itself', () => {
    const given = (...names: string[]) => taking({ type: 'object', dependentRequired: { a: names } });
    expect(only(compare(given('b'), given('b', 'c')))).toMatchObject({
      verdict: 'breaking',
      message: 'The request body requires "c" where "a" is present.',
      pointers: { after: expect.stringMatching(/dependentRequired\/a$/) as string },
    });
    expect(only(compare(given('b', 'c'), given('b')))).toMatchObject({
      verdict: 'safe',
      message: 'The request body no longer requires "c" where "a" is present.',
    });
  });

  test('anyOf allows all that oneOf allows', () => {
    const overlapping = [
      { type: 'string', maxLength: 3 },
      { type: 'string', pattern: '^a' },
    ];
    const [one, any] = [{ oneOf: overlapping }, { anyOf: overlapping }];
    expect(told(compare(taking(one), taking(any)))).toEqual(['safe request-body-union-kind-changed']);
    expect(told(compare(giving(any), giving(one)))).toEqual(['safe response-body-union-kind-changed']);
    expect(told(compare(giving(one), giving(any)))).toEqual(['unknown response-body-union-kind-changed']);
    expect(told(compare(taking(any), taking(one)))).toEqual(['unknown request-body-union-kind-changed']);
    // Where no value matches two alternatives, they are the same.
    expect(told(compare(giving({ oneOf: scalars }), giving({ anyOf: scalars })))).toEqual([
      'safe response-body-union-kind-changed',
    ]);
  });

  test('a file of OpenAPI 2.0 is binary in 3.0', () => {
    const info = { title: 'Files', version: '1' };
    const responses = { 204: { description: 'Kept.' } };
    const field = { in: 'formData', name: 'f', type: 'file', required: true };
    const old = { consumes: ['multipart/form-data'], parameters: [field], responses };
    const schema = { type: 'object', required: ['f'], properties: { f: { type: 'string', format: 'binary' } } };
    const now = { requestBody: { required: true, content: { 'multipart/form-data': { schema } } }, responses };
    const before = { swagger: '2.0', info, paths: { '/f': { post: old } } };
    const after = { openapi: '3.0.3', info, paths: { '/f': { post: now } } };
    expect(told(compare(before, after))).toEqual(['docs specification-changed']);
  });
});

describe('a comparison', () => {
  test('of a document with itself is empty', () => {
    expect(compare(petstore(), petstore())).toEqual({
      verdict: 'none',
      counts: { breaking: 0, unknown: 0, risky: 0, safe: 0, docs: 0 },
      changes: [],
      truncated: false,
      reason: null,
    });
  });

  test('does not depend on the order of members', () => {
    const shuffle = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffle);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffle(member)]),
      );
    };
    const after = petstore({
      owner: { properties: { city: { type: 'string', minLength: 1 }, street: { type: 'string' } } },
    });
    expect(compare(petstore(), shuffle(petstore()) as Json).changes).toEqual([]);
    expect(told(compare(petstore(), shuffle(after) as Json))).toEqual(told(compare(petstore(), after)));
  });

  test('tells what the first operations have before what only later ones reach', () => {
    const two = (parameters: Json[], thing: Json): Json => {
      const content = { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } };
      return {
        openapi: '3.1.0',
        info: { title: 'Things', version: '1' },
        paths: {
          '/a': { get: { parameters, responses: { 204: { description: 'Done.' } } } },
          '/b': { get: { responses: { 200: { description: 'A thing.', content } } } },
        },
        components: { schemas: { Thing: thing } },
      };
    };
    const page = { in: 'query', name: 'page', schema: { type: 'string' } };
    const after = two([{ ...page, required: true }], { type: 'string' });
    const { changes } = compare(two([page], { type: 'integer' }), after);
    expect(changes.map(({ operations }) => operations)).toEqual([['GET /a'], ['GET /b']]);
    expect(changes.map(({ verdict }) => verdict)).toEqual(['breaking', 'breaking']);
  });

  test('has the place in both documents, and the values', () => {
    const after = petstore({
      pet: { properties: { ...(pet['properties'] as Json), name: { type: 'string', maxLength: 20 } } },
    });
    const pointer = '/components/schemas/Pet/properties/name/maxLength';
    const { changes } = compare(petstore(), after);
    expect(changes).toHaveLength(2);
    expect(changes[0]).toEqual({
      verdict: 'breaking',
      code: 'request-property-max-length-decreased',
      message: 'Property "name" of schema "Pet" in requests has maxLength 20 instead of 50.',
      before: '50',
      after: '20',
      pointers: { before: pointer, after: pointer },
      operations: ['POST /pets'],
      reach: 1,
      direction: 'request',
    });
    expect(changes[1]).toMatchObject({
      verdict: 'safe',
      operations: ['POST /pets', 'GET /pets/{id}'],
      direction: 'response',
    });
  });

  test('reports a change of a shared schema once, with every operation that it reaches', () => {
    const after = petstore({
      owner: { properties: { ...(owner['properties'] as Json), city: { type: 'string', enum: ['Oslo'] } } },
    });
    const { changes } = compare(petstore(), after);
    expect(changes.map(({ verdict, code, operations, reach }) => [verdict, code, operations, reach])).toEqual([
      ['breaking', 'request-property-became-enum', ['POST /pets'], 1],
      ['safe', 'response-property-became-enum', ['POST /pets', 'GET /pets/{id}'], 2],
    ]);
  });

  test('judges a narrower request and a wider response as breaking, and the reverse as safe', () => {
    const [wide, narrow] = [{ type: 'string' }, { type: 'string', maxLength: 5 }];
    expect(only(compare(taking(wide), taking(narrow))).verdict).toBe('breaking');
    expect(only(compare(taking(narrow), taking(wide))).verdict).toBe('safe');
    expect(only(compare(giving(narrow), giving(wide))).verdict).toBe('breaking');
    expect(only(compare(giving(wide), giving(narrow))).verdict).toBe('safe');
  });

  test('misses the statuses that clients act on', () => {
    const answering = (...statuses: number[]) =>
      api({ responses: Object.fromEntries(statuses.map((status) => [status, { description: 'It is so.' }])) });
    for (const status of [204, 302]) expect(compare(answering(200, status), answering(200)).verdict).toBe('breaking');
    expect(compare(answering(200, 404), answering(200)).verdict).toBe('safe');
  });

  test('calls servers replaced where none of several is left', () => {
    const at = (...urls: string[]) => api({}, urls.length === 0 ? {} : { servers: urls.map((url) => ({ url })) });
    expect(told(compare(at('/a'), at('/b')))).toEqual(['breaking servers-replaced']);
    expect(told(compare(at('/a'), at()))).toEqual(['risky server-removed']);
    expect(told(compare(at(), at('/a')))).toEqual(['safe server-added']);
  });

  test('shows a typo as a change of texts only', () => {
    const before = api({ summary: 'Adds a thign' });
    const after = api({ summary: 'Adds a thing' });
    expect(told(compare(before, after))).toEqual(['docs operation-summary-changed']);
    expect(compare(before, after).verdict).toBe('docs');
  });

  test('never counts what it cannot judge as safe', () => {
    const of = (pattern: string) => taking({ type: 'string', pattern });
    expect(told(compare(of('^[a-z]+$'), of('^[a-z]*$')))).toEqual(['unknown request-body-pattern-changed']);
    expect(told(compare(taking({ 'my-keyword': 1 }), taking({ 'my-keyword': 2 })))).toEqual([
      'unknown request-body-my-keyword-changed',
    ]);
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    const conditional = (limit: number) => taking({ if: { maxLength: limit }, then: { minLength: limit } });
    expect(told(compare(conditional(1), conditional(2)))).toEqual(['unknown request-body-condition-changed']);
  });

  test('turns directions around for webhooks and callbacks', () => {
    const webhook = (schema: Json): Json => ({
      ...api(),
      webhooks: { added: { post: { requestBody: { content: { 'application/json': { schema } } }, responses: {} } } },
    });
    const callback = (schema: Json): Json =>
      api({
        callbacks: {
          done: {
            '{$request.body#/url}': {
              post: { requestBody: { content: { 'application/json': { schema } } }, responses: {} },
            },
          },
        },
      });
    for (const sent of [webhook, callback]) {
      expect(only(compare(sent({ type: 'string' }), sent({ type: 'string', maxLength: 5 }))).verdict).toBe('safe');
      expect(only(compare(sent({ type: 'string', maxLength: 5 }), sent({ type: 'string' }))).verdict).toBe('breaking');
    }
  });

  test('matches paths whatever their parameters are called', () => {
    const of = (name: string): Json => ({
      ...api(),
      paths: {
        [`/things/{${name}}`]: {
          get: { parameters: [{ in: 'path', name, required: true, schema: { type: 'string' } }], responses: {} },
        },
      },
    });
    expect(told(compare(of('id'), of('thingId')))).toEqual(['safe path-parameter-renamed']);
  });

  test('merges allOf, so that moving a property into a shared schema changes nothing', () => {
    const flat = taking({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'integer' } },
    });
    const split = taking(
      { allOf: [{ $ref: '#/components/schemas/A' }, { type: 'object', properties: { b: { type: 'integer' } } }] },
      { components: { schemas: { A: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } } } },
    );
    expect(told(compare(flat, split))).toEqual(['safe schema-added']);
  });

  test('follows schemas that contain themselves', () => {
    const tree = (limit: number): Json =>
      giving(
        { $ref: '#/components/schemas/Tree' },
        {
          components: {
            schemas: {
              Tree: {
                type: 'object',
                properties: {
                  name: { type: 'string', maxLength: limit },
                  children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
                },
              },
            },
          },
        },
      );
    expect(only(compare(tree(5), tree(9))).message).toBe(
      'Property "name" of schema "Tree" in responses has maxLength 9 instead of 5.',
    );
  });

  test('follows a chain of two thousand references', () => {
    const chain = (type: string): Json => {
      const schemas = Object.fromEntries(
        Array.from({ length: 2000 }, (_, at): [string, Json] => [
          `S${at}`,
          { type: 'object', properties: { next: { $ref: `#/components/schemas/S${at + 1}` } } },
        ]),
      );
      return giving({ $ref: '#/components/schemas/S0' }, { components: { schemas: { ...schemas, S2000: { type } } } });
    };
    expect(told(compare(chain('string'), chain('integer')))).toEqual(['breaking response-schema-type-changed']);
  });

  test('says why where a document is too large for it', () => {
    const wide = (type: string): Json => {
      const names = Array.from({ length: 2001 }, (_, at) => `P${at}`);
      const schemas = Object.fromEntries(names.map((name) => [name, { title: name }]));
      return taking(
        { type, allOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) },
        { components: { schemas } },
      );
    };
    const { verdict, reason, changes } = compare(wide('string'), wide('object'));
    expect([verdict, reason, changes]).toEqual(['unknown', 'A schema combines more than 2000 others.', []]);
  });

  test('keeps the worst thousand changes, and counts all', () => {
    const many = (limit: number): Json =>
      taking({
        properties: Object.fromEntries(
          Array.from({ length: 1200 }, (_, at) => [
            `p${at}`,
            { type: 'string', description: `${limit}`, maxLength: limit },
          ]),
        ),
      });
    const { counts, changes, truncated } = compare(many(2), many(1));
    expect(counts).toMatchObject({ breaking: 1200, docs: 1200 });
    expect([changes.length, truncated, changes.at(-1)!.verdict]).toEqual([1000, true, 'breaking']);
  });
});

describe('JSON Schemas', () => {
  const of = (schema: Json) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema });
  const compared = (before: Json, after: Json) => told(compare(of(before), of(after), 'json-schema'));

  test('break where valid data is refused, and are risky where new data is valid', () => {
    expect(compared({ type: 'string' }, { type: 'string', maxLength: 3 })).toEqual(['breaking schema-max-length-set']);
    expect(compared({ enum: ['a'] }, { enum: ['a', 'b'] })).toEqual(['risky schema-enum-value-added']);
    expect(compared({ properties: {} }, { properties: { a: { type: 'string' } } })).toEqual(['safe property-added']);
    expect(compared({ properties: { a: true } }, { properties: { a: true }, required: ['a'] })).toEqual([
      'breaking property-became-required',
    ]);
  });

  test('compare each definition once, on its own', () => {
    const defs = (limit: number) => ({ $ref: '#/$defs/a', $defs: { a: { type: 'string', maxLength: limit } } });
    expect(compared(defs(5), defs(4))).toEqual(['breaking schema-max-length-decreased']);
    expect(compared({ $defs: { a: {} } }, { $defs: { b: {} } })).toEqual([
      'risky definition-removed',
      'safe definition-added',
    ]);
  });

  test('compare what a definition holds that is no schema itself', () => {
    const steps = (limit: number, more: Json = {}) => ({
      $ref: '#/$defs/steps/run/short',
      $defs: { steps: { run: { short: { type: 'string', maxLength: limit }, ...more } } },
    });
    expect(compared(steps(5), steps(4))).toEqual(['breaking schema-max-length-decreased']);
    expect(compared(steps(5), steps(5, { long: { type: 'string' } }))).toEqual(['safe definition-added']);
    expect(compared(steps(5, { long: {} }), steps(5))).toEqual(['risky definition-removed']);
  });

  test('follow references within an embedded schema that has an $id from there', () => {
    const inner = (type: string, $ref: string) => {
      const x = { $id: 'x', $defs: { y: { $anchor: 'y', type } }, properties: { z: { $ref } } };
      const y = { $anchor: 'y', type: 'string' };
      return { $id: 'https://e.example/r', properties: { a: { $ref: '#/$defs/x' } }, $defs: { y, x } };
    };
    for (const $ref of ['#/$defs/y', '#y', 'x#/$defs/y', './x#y', 'https://e.example/x#/$defs/y', '/x#y'])
      expect(told(compare(inner('string', $ref), inner('integer', $ref), 'json-schema'))).toEqual(['breaking schema-type-changed']); // prettier-ignore
  });

  test('follow references by address, from the document and between embedded schemas', () => {
    const document = (type: string, $ref: string) => ({
      $id: 'https://e.example/a/r',
      properties: { p: { $ref } },
      $defs: {
        x: { $id: 'x', $defs: { y: { $anchor: 'y', type } } },
        z: { $id: '/b/z', $defs: { w: { $ref: '../a/x#y' } } },
      },
    });
    const refs = [
      'x#/$defs/y',
      'x#y',
      'https://e.example/a/x#y',
      '/a/x#/$defs/y',
      '../b/z#/$defs/w',
      'r#/$defs/x/$defs/y',
    ];
    for (const $ref of refs)
      expect(told(compare(document('string', $ref), document('integer', $ref), 'json-schema')), $ref).toEqual([
        'breaking schema-type-changed',
      ]);
  });

  test('read each draft by its own rules', () => {
    const four = (schema: Json) => ({ $schema: 'http://json-schema.org/draft-04/schema#', ...schema });
    const result = compare(four({ minimum: 1, exclusiveMinimum: true }), four({ minimum: 1 }), 'json-schema');
    expect(told(result)).toEqual(['risky schema-minimum-decreased']);
    expect(only(result).message).toBe('The schema has minimum 1 instead of exclusiveMinimum 1.');
    const seven = { $schema: 'http://json-schema.org/draft-07/schema#' };
    expect(
      told(
        compare(
          { ...seven, items: [{ type: 'string' }] },
          { ...seven, items: [{ type: 'string' }], additionalItems: false },
          'json-schema',
        ),
      ),
    ).toEqual(['breaking schema-additional-items-forbidden']);
    const tuple = (last: string) =>
      taking({ items: [{ type: 'string' }, { type: last }] }, { jsonSchemaDialect: seven.$schema });
    expect(told(compare(tuple('integer'), tuple('string')))).toEqual(['breaking request-body-type-changed']);
  });
});

describe('rulesets', () => {
  test('that contain others are compared with the rules of those', () => {
    const within = (rules: object, which?: string) => {
      const base = { 'x-stele-file': 'base.yaml', rules };
      return { extends: [which === undefined ? base : [base, which]], rules: { own: 'warn', held: 'error' } };
    };
    // oxlint-disable-next-line unicorn/no-thenable
    const rule = (severity: string) => ({ given: '$', then: { function: 'truthy' }, severity });
    const before = within({ a: rule('warn'), held: rule('warn') });
    const after = within({ a: rule('error'), held: rule('hint') });
    expect(compare(before, after, 'spectral-ruleset').changes.map(({ message }) => message)).toEqual([
      'The rule "a" has severity error instead of warn.',
    ]);
    expect(told(compare(after, within({ a: rule('error'), held: rule('hint') }, 'off'), 'spectral-ruleset'))).toEqual([
      'safe rule-severity-changed',
      'unknown setting-changed',
    ]);
  });

  test('are compared by their rules', () => {
    const before = { rules: { a: 'error', b: 'warn', c: 'warn', gone: 'error' } };
    const after = { rules: { a: 'warn', b: 'error', c: 'warn', fresh: 'error' } };
    expect(
      compare(before, after, 'redocly-ruleset').changes.map(({ verdict, message }) => `${verdict}: ${message}`),
    ).toEqual([
      'breaking: The rule "fresh" was added with severity error.',
      'breaking: The rule "b" has severity error instead of warn.',
      'safe: The rule "gone" was removed; its severity was error.',
      'safe: The rule "a" has severity warn instead of error.',
    ]);
  });

  test('of which only the code changed are compared by it', () => {
    const withCode = (text: string) => ({ rules: { a: 'error' }, 'x-stele-modules': { 'f.js': text } });
    const { changes } = compare(withCode('1'), withCode('2'), 'spectral-ruleset');
    expect(changes).toMatchObject([{ verdict: 'unknown', code: 'code-changed', before: null, after: null }]);
  });
});

test('fingerprints tell changes without a place apart, and changes of another side', () => {
  const prints = (from: Json, to: Json, kind?: 'redocly-ruleset') =>
    compare(from, to, kind, { enums: 'risky', fingerprints: true }).changes.map(({ fingerprint }) => fingerprint);
  const ruleset = (one: string, other: string) => ({ rules: { a: { subject: one }, b: { subject: other } } });
  const [a] = prints(ruleset('Info', 'Info'), ruleset('Tag', 'Info'), 'redocly-ruleset');
  const [b] = prints(ruleset('Info', 'Info'), ruleset('Info', 'Tag'), 'redocly-ruleset');
  expect(a).toMatch(/^sha256:/);
  expect(a).not.toBe(b);
  const named = (text: string) => giving({ type: 'object', properties: { name: { type: text } } });
  const renamed = (text: string) => ({ ...named(text), info: { title: 'Other', version: '2' } });
  expect(prints(named('string'), named('integer'))).toEqual(
    prints(named('string'), renamed('integer')).filter(Boolean),
  );
  expect(prints(named('string'), named('integer'))).not.toEqual(prints(named('string'), named('boolean')));
  expect(prints(named('string'), named('integer'))).not.toEqual(prints(named('number'), named('integer')));
});

// oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
const when = (condition: unknown, then: Json): Json => ({ if: condition, then });

describe('a fingerprint takes in what decides when a change counts', () => {
  const object: Json = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };
  const refersTo = (X: unknown) => ({ components: { schemas: { X } } });
  const secured = (h: Json) => api({ security: [{ h: [] }] }, { components: { securitySchemes: { h } } });
  const cases: Record<string, readonly [from: Json, approved: Json, other: Json]> = {
    'if that is added': [
      taking(object),
      taking({ ...object, ...when({ properties: { a: { const: 'rare' } } }, { required: ['b'] }) }),
      taking({ ...object, ...when(true, { required: ['b'] }) }),
    ],
    'if that changes': [
      taking({ ...object, ...when({ required: ['a'] }, { required: ['b'] }) }),
      taking({ ...object, ...when({ required: ['b'] }, { required: ['b'] }) }),
      taking({ ...object, ...when({}, { required: ['b'] }) }),
    ],
    'the second of several demands': [
      taking(object),
      taking({ ...object, dependentRequired: { a: ['b'], x: ['y'] } }),
      taking({ ...object, dependentRequired: { a: ['b'], x: ['z'] } }),
    ],
    'another part of allOf': [
      taking({ allOf: [{ enum: ['a', 'b', 'c'] }, { enum: ['a', 'b', 'c'] }] }),
      taking({ allOf: [{ enum: ['a', 'b'] }, { enum: ['a', 'c'] }] }),
      taking({ allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }),
    ],
    'contains beside its count': [
      taking({ type: 'array', contains: { type: 'string' }, maxContains: 3 }),
      taking({ type: 'array', contains: { type: 'string' }, maxContains: 1 }),
      taking({ type: 'array', contains: {}, maxContains: 1 }),
    ],
    'the properties beside those that are refused': [
      taking(object),
      taking({ ...object, properties: { ...(object['properties'] as Json), c: {} }, additionalProperties: false }),
      taking({ ...object, additionalProperties: false }),
    ],
    'a pattern in two places': [
      taking({ allOf: [object, object] }),
      taking({ allOf: [object, { ...object, patternProperties: { '^x': { type: 'string' } } }] }),
      taking({
        allOf: [
          { ...object, patternProperties: { '^x': { minLength: 9 } } },
          { ...object, patternProperties: { '^x': { type: 'string' } } },
        ],
      }),
    ],
    'a schema that something new refers to': [
      taking(object),
      taking(
        { ...object, dependentSchemas: { a: { $ref: '#/components/schemas/X' } } },
        refersTo({ minProperties: 1 }),
      ),
      taking(
        { ...object, dependentSchemas: { a: { $ref: '#/components/schemas/X' } } },
        refersTo({ minProperties: 9 }),
      ),
    ],
    'a definition that an anchor leads to': [
      taking(object),
      taking({ ...object, dependentSchemas: { a: { $ref: '#D' } }, $defs: { D: { $anchor: 'D', minProperties: 1 } } }),
      taking({ ...object, dependentSchemas: { a: { $ref: '#D' } }, $defs: { D: { $anchor: 'D', minProperties: 9 } } }),
    ],
    'a schema that a mapping names': [
      giving({ oneOf: [{ type: 'string' }] }),
      giving(
        { oneOf: [{ type: 'string' }, { discriminator: { propertyName: 'k', mapping: { x: 'X' } } }] },
        refersTo({ required: ['k'] }),
      ),
      giving(
        { oneOf: [{ type: 'string' }, { discriminator: { propertyName: 'k', mapping: { x: 'X' } } }] },
        refersTo({ required: ['z'] }),
      ),
    ],
    'the scheme that is needed': [
      api(),
      secured({ type: 'apiKey', in: 'header', name: 'H' }),
      secured({ type: 'mutualTLS' }),
    ],
  };

  test.each(Object.entries(cases))('%s', (_, [from, approved, other]) => {
    const prints = (to: Json) =>
      compare(from, to, 'openapi', { enums: 'risky', fingerprints: true }).changes.flatMap(
        ({ fingerprint = [] }) => fingerprint,
      );
    const known = new Set(prints(approved));
    expect(known.size).toBeGreaterThan(0);
    expect(prints(other).filter((print) => known.has(print))).toEqual([]);
    expect(prints(approved)).toEqual([...known]);
  });

  test('and not the texts beside it, nor what is compared on its own', () => {
    const schema = (description: string, b: Json) => ({
      ...object,
      description,
      properties: { a: { type: 'integer' }, b },
    });
    const prints = (to: Json) =>
      compare(taking(object), taking(to), 'openapi', { enums: 'risky', fingerprints: true }).changes.flatMap(
        ({ fingerprint = [] }) => fingerprint,
      );
    const [one] = prints({ ...schema('x', { type: 'string' }), minProperties: 1 });
    expect(prints({ ...schema('y', { type: 'string', title: 'B' }), minProperties: 1 })).toContain(one);
    const $defs = { D: { description: 'Nothing refers to it.' } };
    expect(prints({ ...schema('x', { type: 'string' }), minProperties: 1, $defs })).toContain(one);
  });
});
