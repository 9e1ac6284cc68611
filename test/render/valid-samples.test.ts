import { type JsonObject, isObject } from '../../src/model/json.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { objectOf } from '../../src/render/json-value.ts';
import { operationsOf } from '../../src/render/openapi/list-operations.ts';
import { isJson } from '../../src/render/openapi/media-view.ts';
import { viewOperation } from '../../src/render/openapi/operation-view.ts';
import { sampleOf } from '../../src/render/schema/sample-value.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';
import { sampleOf as someOf } from '../thorough.ts';

const folder = '../shared/corpus/openapi';
const isThere = existsSync(folder);

/** The documents of companies and of the directory: a twelfth of them in CI and here. */
function documents(): JsonObject[] {
  const files = ['company', 'apis-guru'].flatMap((group) =>
    readdirSync(join(folder, group))
      .filter((file) => /\.(?:json|ya?ml)$/.test(file))
      .map((file) => join(folder, group, file)),
  );
  return someOf(files, 12, 3, 12).flatMap((file) => {
    const document: unknown = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1, logLevel: 'silent' });
    return isObject(document) ? [document] : [];
  });
}

/** Why a sample that was made from a schema does not validate: the keywords that fail, `example` where the author's own value does. */
describe.skipIf(!isThere)(isThere ? 'samples of the corpus' : 'skipped: the corpus is not there', () => {
  it('validate against their schemas, or the reason is one of a few', () => {
    const reasons = new Map<string, number>();
    let valid = 0;
    for (const document of documents())
      for (const { side, schema } of bodiesOf(document)) {
        const reason = whyInvalid(document, schema, side);
        if (reason === null) valid++;
        else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    expect(valid).toBeGreaterThan(100);
    reasons.delete('an example of the document');
    const invalid = [...reasons.values()].reduce((sum, count) => sum + count, 0);
    expect([invalid / valid < 0.01, reasons]).toEqual([true, reasons]);
  });
});

function* bodiesOf(document: JsonObject): Generator<{ side: 'request' | 'response'; schema: unknown }> {
  for (const operation of operationsOf(document).operations) {
    const { body, responses } = viewOperation(document, operation);
    for (const { types, schema } of body?.media ?? [])
      if (types.some(isJson) && schema !== undefined) yield { side: 'request', schema };
    for (const { media } of responses)
      for (const { types, schema } of media)
        if (types.some(isJson) && schema !== undefined) yield { side: 'response', schema };
  }
}

const validators = new WeakMap<JsonObject, Map<string, (value: unknown) => string | null>>();

/** The keyword that a sample fails; null: none. A schema that no validator reads has no reason. */
function whyInvalid(document: JsonObject, schema: unknown, side: 'request' | 'response'): string | null {
  const known = validators.get(document) ?? new Map<string, (value: unknown) => string | null>();
  validators.set(document, known);
  const key = `${side} ${JSON.stringify(schema)}`;
  if (!known.has(key)) known.set(key, validatorOf(document, schema, side));
  const validate = known.get(key)!;
  const reason = validate(sampleOf(createSchemas(document, 'openapi', 1e9), schema, side));
  if (reason === null) return null;
  const bare = withoutExamples(document) as JsonObject;
  const made = sampleOf(createSchemas(bare, 'openapi', 1e9), withoutExamples(schema), side);
  return validate(made) === null ? 'an example of the document' : reason;
}

function validatorOf(document: JsonObject, schema: unknown, side: string): (value: unknown) => string | null {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, allErrors: false });
  formats.default(ajv);
  const hidden = side === 'request' ? 'readOnly' : 'writeOnly';
  const schemas = objectOf(objectOf(document['components'])['schemas'] ?? document['definitions']);
  const whole = modern({ components: { schemas }, definitions: schemas, ...(schema as object) }, hidden);
  try {
    const validate = ajv.compile(whole as object);
    return (value) => {
      if (validate(value)) return null;
      const [error] = validate.errors!;
      return error!.keyword === 'format' ? `format ${(error!.params as { format: string }).format}` : error!.keyword;
    };
  } catch {
    return () => null;
  }
}

/** A schema of OpenAPI 2.0 or 3.0 as one of 2020-12: `nullable`, exclusive limits, and what this side leaves out. */
function modern(value: unknown, hidden: string, depth = 0): unknown {
  if (depth > 60) return true;
  if (Array.isArray(value)) return value.map((one) => modern(one, hidden, depth + 1));
  if (!isObject(value)) return value;
  const made: JsonObject = {};
  for (const [key, one] of Object.entries(value)) {
    if (key === 'example' || key === 'examples' || key === 'discriminator') continue;
    made[key] = ['enum', 'const', 'default'].includes(key) ? one : modern(one, hidden, depth + 1);
  }
  for (const [limit, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const)
    if (made[exclusive] === true) Object.assign(made, { [exclusive]: made[limit] });
    else if (made[exclusive] === false) delete made[exclusive];
  const left = new Set(
    Object.entries(objectOf(value['properties'])).flatMap(([name, one]) =>
      objectOf(one)[hidden] === true ? [name] : [],
    ),
  );
  if (Array.isArray(made['required'])) made['required'] = made['required'].filter((name) => !left.has(name as string));
  if (value['type'] === 'file') delete made['type'];
  return value['nullable'] === true || value['x-nullable'] === true ? { anyOf: [{ type: 'null' }, made] } : made;
}

/** The same without the values that its author wrote, except those that are the only ones. */
function withoutExamples(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExamples);
  if (!isObject(value)) return value;
  const own = ['example', 'examples', 'default'];
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (own.includes(key) ? [] : [[key, withoutExamples(one)]])),
  );
}

const schemasOf = (components: object) => createSchemas({ components: { schemas: components } }, 'openapi', 1e6);

test('a sample has what is required, all the way down', () => {
  const message = {
    type: 'object',
    required: ['role', 'content'],
    properties: { role: { enum: ['user'] }, content: { type: 'string' } },
  };
  const deep = (depth: number): object =>
    depth === 0
      ? { $ref: '#/components/schemas/Message' }
      : { type: 'object', required: ['in'], properties: { in: deep(depth - 1), other: {} } };
  const Chat = {
    type: 'object',
    required: ['messages'],
    properties: {
      messages: { type: 'array', minItems: 2, items: { oneOf: [{ $ref: '#/components/schemas/Message' }] } },
      more: {},
    },
  };
  const schemas = schemasOf({ Message: message, Chat });
  expect(sampleOf(schemas, { $ref: '#/components/schemas/Chat' })).toEqual({
    messages: [
      { role: 'user', content: 'string' },
      { role: 'user', content: 'string' },
    ],
  });
  let value = sampleOf(schemas, deep(9)) as JsonObject;
  for (let depth = 0; depth < 9; depth++) value = value['in'] as JsonObject;
  expect(value).toEqual({ role: 'user', content: 'string' });
});

test('what one part of allOf requires may be described by another', () => {
  const schema = {
    allOf: [
      { type: 'object', properties: { names: { type: 'array' }, id: { type: 'integer' } } },
      { required: ['id'] },
    ],
  };
  expect(sampleOf(schemasOf({}), schema)).toEqual({ id: 1 });
});

test('a request has some of what is optional: what is plain, or the author gave', () => {
  const plain = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${from + at}`, { type: 'boolean' }]));
  const properties = {
    list: { type: 'array', items: { type: 'string' } },
    tags: { type: 'array', items: { type: 'string' }, example: ['red'] },
    old: { type: 'string', deprecated: true },
    code: { type: 'string', pattern: '^(?=a)b' },
    id: { type: 'string', readOnly: true },
    size: { type: 'integer', default: 5 },
    name: { type: 'string' },
    inside: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, ...plain(0, 9) } },
    ...plain(10, 20),
  };
  const schema = { type: 'object', required: ['name', 'inside'], properties };
  const sample = sampleOf(schemasOf({}), schema) as { inside: object };
  expect(Object.keys(sample).slice(0, 5)).toEqual(['tags', 'size', 'name', 'inside', 'f10']);
  expect([Object.keys(sample).length, Object.keys(sample.inside).length]).toEqual([12, 6]);
  // One of two alternatives: what it does not require may be the other's.
  const either = { ...schema, oneOf: [{ required: ['size'] }, { required: ['f10'] }] };
  expect(Object.keys(sampleOf(schemasOf({}), either) as object)).toEqual(['size', 'name', 'inside']);
});

test('a text of a format is one', () => {
  const formatted = (format: string) => sampleOf(schemasOf({}), { type: 'string', format });
  expect(['duration', 'uri-reference', 'date'].map(formatted)).toEqual(['PT15M', '/path', '2026-01-31']);
  expect(sampleOf(schemasOf({}), { type: 'string', minLength: 600 })).toHaveLength(600);
});

test('a body that may be any object is not empty', () => {
  expect(sampleOf(schemasOf({}), { type: 'object' })).toEqual({ key: 'string' });
  expect(sampleOf(schemasOf({}), { type: 'object', additionalProperties: false })).toEqual({});
  expect(sampleOf(schemasOf({}), { type: 'object' }, 'response')).toEqual({});
});

test('a sample is not null where it can be something', () => {
  const schema = {
    type: 'object',
    properties: {
      billing: {
        anyOf: [
          { type: 'null' },
          { type: 'object', required: ['plan'], properties: { plan: { enum: [null, 'pro'] } } },
        ],
        default: null,
      },
    },
  };
  expect(sampleOf(schemasOf({}), schema)).toEqual({ billing: { plan: 'pro' } });
});

test('a sample names the alternative that it is', () => {
  const Card = {
    type: 'object',
    required: ['kind', 'number'],
    properties: { kind: { type: 'string' }, number: { type: 'string' } },
  };
  const mapping = { card: '#/components/schemas/Card' };
  const schema = { oneOf: [{ $ref: '#/components/schemas/Card' }], discriminator: { propertyName: 'kind', mapping } };
  expect(sampleOf(schemasOf({ Card }), schema)).toEqual({ kind: 'card', number: 'string' });
});
