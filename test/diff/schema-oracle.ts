// What a validator says of schemas, in documents of several dialects.
import { Validator } from '@cfworker/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Direction } from '../../src/model/comparison.ts';
import { compare, giving, taking, type Json } from './given.ts';
import type { Pair, Schema, Side } from './schema-pairs.ts';

/** How documents write schemas. */
export type Dialect = '3.0' | '3.1' | '2020-12' | 'draft-07';

/** A schema as another dialect writes it. Null: it cannot say that. */
export function written(schema: Schema, dialect: Dialect): Schema | null {
  try {
    return rewrite(schema, dialect);
  } catch (error) {
    if (error === cannotSay) return null;
    throw error;
  }
}

const cannotSay = new Error('This dialect cannot say that.');

function rewrite(schema: Schema, dialect: Dialect): Schema {
  const is30 = dialect === '3.0';
  if (typeof schema === 'boolean') return !is30 ? schema : schema ? {} : { not: {} };
  const result: Json = {};
  const demand: Json[] = [];
  const each = (all: unknown) =>
    Object.fromEntries(Object.entries(all as object).map(([name, one]) => [name, rewrite(one as Schema, dialect)]));
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$ref') result[key] = referenceIn(String(value), dialect);
    else if (['anyOf', 'oneOf', 'allOf'].includes(key))
      result[key] = (value as Schema[]).map((one) => rewrite(one, dialect));
    else if (key === 'properties') result[key] = each(value);
    else if (['not', 'contains', 'propertyNames', 'if', 'then', 'else'].includes(key) && !(is30 && key !== 'not'))
      result[key] = rewrite(value as Schema, dialect);
    else if (key === 'additionalProperties')
      result[key] = typeof value === 'boolean' ? value : rewrite(value as Schema, dialect);
    else if (key === 'items' && dialect === 'draft-07' && schema['prefixItems'] !== undefined)
      result['additionalItems'] = rewrite(value as Schema, dialect);
    else if (key === 'items') result[key] = rewrite(value as Schema, dialect);
    else if (/^(?:unevaluated|m..Contains$)/.test(key)) {
      if (is30 || dialect === 'draft-07') throw cannotSay;
      result[key] = typeof value === 'number' ? value : rewrite(value as Schema, dialect);
    } else if (!is30 && key === 'dependentSchemas') result[dialect === 'draft-07' ? 'dependencies' : key] = each(value);
    else if (!is30 && key === 'patternProperties') result[key] = each(value);
    else if (key === 'prefixItems' && !is30)
      result[dialect === 'draft-07' ? 'items' : key] = (value as Schema[]).map((one) => rewrite(one, dialect));
    else if (key === 'dependentRequired' && dialect === 'draft-07') result['dependencies'] = value;
    else if (
      is30 &&
      'contains propertyNames patternProperties prefixItems dependentRequired dependentSchemas if then else'
        .split(' ')
        .includes(key)
    )
      throw cannotSay;
    else if (is30 && key === 'const') demand.push({ enum: [value] });
    else if (is30 && key === 'type' && (value === 'null' || Array.isArray(value))) {
      const names = [value].flat().filter((name) => name !== 'null') as string[];
      const isNullable = names.length < [value].flat().length;
      // Whether `nullable` adds null to what stands beside it is read in two ways.
      const values = (schema['enum'] ?? [schema['const']]) as unknown[];
      if (isNullable && (schema['enum'] ?? schema['const']) !== undefined && !values.includes(null)) throw cannotSay;
      if (isNullable && ['anyOf', 'oneOf', 'allOf', 'not'].some((name) => schema[name] !== undefined)) throw cannotSay;
      if (names.length === 1) Object.assign(result, { type: names[0], nullable: isNullable });
      else if (names.length === 0) demand.push({ enum: [null] });
      else demand.push({ anyOf: [...names.map((type) => ({ type })), ...(isNullable ? [{ enum: [null] }] : [])] });
    } else if (is30 && key.startsWith('exclusiveM')) {
      const plain = key === 'exclusiveMinimum' ? 'minimum' : 'maximum';
      demand.push({ [plain]: value, [key]: true });
    } else result[key] = value;
  }
  const parts =
    result['$ref'] !== undefined && Object.keys(result).length > 1 && dialect !== '2020-12' && dialect !== '3.1';
  if (parts) {
    const { $ref, ...rest } = result;
    return { allOf: [{ $ref }, rest, ...demand] };
  }
  if (demand.length === 0) return result;
  if (demand.length === 1 && Object.keys(result).length === 0) return demand[0]!;
  return { allOf: [result, ...demand] };
}

function referenceIn(reference: string, dialect: Dialect): string {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  if (dialect === '2020-12') return `#/$defs/${name}`;
  return dialect === 'draft-07' ? `#/definitions/${name}` : `#/components/schemas/${name}`;
}

/** Compares a pair in a direction, as documents of two dialects. Null: one of them cannot say that. */
export function judged({ before, after }: Pair, direction: Direction, dialects: readonly [Dialect, Dialect]) {
  const write = ({ root, defs }: Side, dialect: Dialect): Json | null => {
    const schema = written(root, dialect);
    const used: [string, Schema][] = [];
    for (const [name, one] of Object.entries(defs)) {
      if (!JSON.stringify(root).includes(`#/$defs/${name}"`)) continue;
      const text = written(one, dialect);
      if (text === null) return null;
      used.push([name, text]);
    }
    if (schema === null) return null;
    const definitions = Object.fromEntries(used);
    if (dialect === '2020-12' || dialect === 'draft-07') {
      if (typeof schema === 'boolean') return null;
      const $schema =
        dialect === 'draft-07'
          ? 'http://json-schema.org/draft-07/schema#'
          : 'https://json-schema.org/draft/2020-12/schema';
      const folder = used.length === 0 ? {} : { [dialect === 'draft-07' ? 'definitions' : '$defs']: definitions };
      return { $schema, ...schema, ...folder };
    }
    const rest = { components: { schemas: definitions } };
    const document = direction === 'request' ? taking(schema, rest) : giving(schema, rest);
    return { ...document, openapi: dialect === '3.0' ? '3.0.3' : '3.1.0' };
  };
  const [old, current] = [write(before, dialects[0]), write(after, dialects[1])];
  if (old === null || current === null) return null;
  return compare(old, current, direction === 'both' ? 'json-schema' : 'openapi');
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** What a validator accepts, and what a schema describes: valid, and without members that it does not name. */
export interface Oracle {
  accepts(instance: unknown): boolean;
  describes(instance: unknown): boolean;
}

export function oracleOf({ root, defs }: Side): Oracle {
  const compile = (schema: Schema, $defs: Record<string, Schema>) => {
    const whole = { $defs, allOf: [schema] };
    const byOther = (instance: unknown) => new Validator(whole as object, '2020-12').validate(instance).valid;
    // ajv takes all items for evaluated by `contains`, and accepts an empty list where it stands beside `prefixItems`.
    if (/"contains".*"(?:prefix|unevaluated)Items"|Items".*"contains"/.test(JSON.stringify(whole))) return byOther;
    const validate = ajv.compile(whole);
    ajv.removeSchema(whole);
    return (instance: unknown) => {
      try {
        return validate(instance) === true;
      } catch {
        return byOther(instance); // what it makes of some unions does not run
      }
    };
  };
  const accepts = compile(root, defs);
  const opened = Object.fromEntries(Object.entries(defs).map(([name, schema]) => [name, closeBelow(schema)]));
  // Seldom asked.
  let describes: typeof accepts | undefined;
  const close = () => compile({ allOf: [closeBelow(root)], unevaluatedProperties: false }, opened);
  return { accepts, describes: (instance) => accepts(instance) && (describes ??= close())(instance) };
}

/** Closes all objects further below. A schema that is closed itself would hide what stands beside it. */
function closeBelow(schema: Schema): Schema {
  if (typeof schema === 'boolean') return schema;
  const closed = (one: unknown): Schema =>
    typeof one === 'boolean' ? one : { allOf: [closeBelow(one as Schema)], unevaluatedProperties: false };
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
      if (key === 'additionalProperties')
        return value === true || isEmpty(value) ? [] : [[key, value === false ? value : closed(value)]];
      if (key === 'unevaluatedProperties')
        return value === true ? [] : [[key, value === false ? value : closed(value)]];
      if (['items', 'contains', 'unevaluatedItems'].includes(key)) return [[key, closed(value)]];
      if (key === 'prefixItems') return [[key, (value as unknown[]).map(closed)]];
      if (['anyOf', 'oneOf', 'allOf'].includes(key)) return [[key, (value as Schema[]).map(closeBelow)]];
      // It asks about a property, and describes none.
      if (key === 'if') return [[key, { not: { not: value } }]];
      if (key === 'then' || key === 'else') return [[key, closeBelow(value as Schema)]];
      if (key === 'dependentSchemas')
        return [
          [
            key,
            Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, closeBelow(one as Schema)])),
          ],
        ];
      if (key === 'properties' || key === 'patternProperties')
        return [[key, Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, closed(one)]))]];
      return [[key, value]];
    }),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
