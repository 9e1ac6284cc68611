import { isObject } from '../../model/json.ts';
import { readFileSync } from 'node:fs';
import { type ErrorObject, type ValidateFunction, _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { getSchemaTypes } from 'ajv/dist/compile/validate/dataType.js';
import uniqueItems from 'ajv/dist/vocabularies/validation/uniqueItems.js';

/** Names that ajv calls as methods on the user's objects when it compares values. */
const called = new Set(['constructor', 'toString', 'valueOf']);
/** Of characters that names of components may have. */
const mark = '.__called_as_a_method__';

/**
 * Validates plain data and returns the errors, empty if it is valid. Members that ajv would call as
 * methods (`toString`, …) are renamed during validation; the errors have their real names.
 */
export function errorsOf(validate: ValidateFunction, data: unknown): ErrorObject[] {
  const renamed = hasCalled(data);
  if (validate(renamed ? rename(data) : data)) return [];
  const errors = validate.errors ?? [];
  if (!renamed) return errors;
  const large = new Set(['data', 'schema', 'parentSchema']);
  const text = JSON.stringify(errors, (key, value: unknown) => (large.has(key) ? undefined : value));
  return JSON.parse(text.replaceAll(mark, '')) as ErrorObject[];
}

/**
 * Reads a schema of `content/schemas/`, and returns what validates by it. It is compiled at its first use: many
 * sandboxes never need it.
 */
export function readValidator(name: string, options: Options = {}): (data: unknown) => ErrorObject[] {
  findTwinsByText();
  const url = new URL(`../../../content/schemas/${name}.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(url, 'utf8')) as object;
  const all = { allErrors: true, strict: false, meta: false, validateSchema: false, ...options };
  let validate: ValidateFunction | null = null;
  return (data) => errorsOf((validate ??= new Ajv2020(all).compile(schema)), data);
}

function hasCalled(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasCalled);
  for (const key in value) if (called.has(key) || hasCalled((value as Record<string, unknown>)[key])) return true;
  return false;
}

function rename(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rename);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [called.has(key) ? key + mark : key, rename(child)]),
  );
}

const joining = /vErrors === null \? ([\w.]+)\.errors : vErrors\.concat\(\1\.errors\)/g;

const append = `
const append = (all, more) => {
  if (all === null) return more;
  for (const error of more) all.push(error);
  return all;
};
`;

/**
 * For ajv's option `code.process`: makes the generated code append the errors of a reference to the
 * existing list. By default it copies the list for each reference, which takes minutes for a
 * document with 50,000 wrong members. Use it only for Stele's own schemas.
 */
export function appendErrors(generated: string): string {
  return append + generated.replaceAll(joining, 'append(vErrors, $1.errors)');
}

/**
 * Replaces ajv's `uniqueItems`, which compares all pairs and takes minutes for an enum of 200,000
 * values, by a check in linear time. Call it before creating an instance: each instance copies the
 * definition, those in libraries too.
 */
export function findTwinsByText(): void {
  // Vitest resolves the default export of a CommonJS module one step further than Node.
  const { default: definition = uniqueItems as unknown as CodeKeywordDefinition }: { default?: CodeKeywordDefinition } =
    uniqueItems;
  definition.$data = false;
  definition.code = code;
}

function code(cxt: KeywordCxt): void {
  const { gen, data, schema, parentSchema } = cxt;
  if (schema !== true) return;
  const items: unknown = parentSchema['items'];
  const types = items ? getSchemaTypes(items as object) : [];
  const isScalar = types.length > 0 && !types.some((type) => type === 'object' || type === 'array');
  const find = gen.scopeValue('func', { ref: isScalar ? findScalarTwins : findTwins });
  const twins = gen.const('twins', _`${find}(${data})`);
  cxt.setParams({ i: _`${twins}.i`, j: _`${twins}.j` });
  cxt.fail(_`${twins} !== null`);
}

type Twins = { i: number; j: number } | null;

/**
 * The last item that equals an earlier one, and the nearest such one: the pair that ajv reports.
 */
function findTwins(items: readonly unknown[]): Twins {
  const scalars = new Map<unknown, number>();
  const objects = new Map<unknown, number>();
  let twins: Twins = null;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const isContainer = typeof item === 'object' && item !== null;
    const last = isContainer ? objects : scalars;
    const key = isContainer ? JSON.stringify(item, sorted) : item;
    const j = last.get(key);
    if (j !== undefined) twins = { i, j };
    last.set(key, i);
  }
  return twins;
}

/** For scalar items ajv searches from the end and reports the pair in reverse order. */
function findScalarTwins(items: readonly unknown[]): Twins {
  const next = new Map<unknown, number>();
  for (let i = items.length - 1; i >= 0; i--) {
    const j = next.get(items[i]);
    if (j !== undefined) return { i, j };
    next.set(items[i], i);
  }
  return null;
}

/** For `JSON.stringify`: gives equal objects the same text. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  return entries.length < 2 ? value : Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
