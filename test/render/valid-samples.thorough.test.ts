import { type JsonObject, isObject } from '../../src/model/json.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { objectOf } from '../../src/render/json-value.ts';
import { operationsOf } from '../../src/render/openapi/list-operations.ts';
import { isJson, viewOperation } from '../../src/render/openapi/operation-view.ts';
import { sampleOf } from '../../src/render/schema/sample-value.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';
import { sampleOf as someOf } from '../sample.ts';

const folder = '../shared/corpus/openapi';
const isThere = existsSync(folder);

/** The documents of companies and of the directory. */
function documents(): JsonObject[] {
  const files = ['company', 'apis-guru'].flatMap((group) =>
    readdirSync(join(folder, group))
      .filter((file) => /\.(?:json|ya?ml)$/.test(file))
      .map((file) => join(folder, group, file)),
  );
  return someOf(files, 12, 3).flatMap((file) => {
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
