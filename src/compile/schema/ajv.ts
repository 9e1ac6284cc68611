import { isNameOfJavaScript, isObject, type JsonObject } from '../../model/json.ts';
import { readFileSync } from 'node:fs';
import { type ErrorObject, type ValidateFunction, _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { getSchemaTypes } from 'ajv/dist/compile/validate/dataType.js';
import constant from 'ajv/dist/vocabularies/validation/const.js';
import enumeration from 'ajv/dist/vocabularies/validation/enum.js';
import uniqueItems from 'ajv/dist/vocabularies/validation/uniqueItems.js';

/** Of characters that names of components may have. */
const mark = '.__not_of_javascript__';

/**
 * Validates plain data and returns the errors, empty if it is valid. Members with the name of one that every object has
 * (`toString`, …) are renamed during validation, since ajv takes them for members that the schema knows
 * (`unevaluatedProperties`); the errors have their real names.
 */
export function errorsOf(validate: ValidateFunction, data: unknown): ErrorObject[] {
  const renamed = hasInherited(data);
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
  mendComparisons();
  const url = new URL(`../../../content/schemas/${name}.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(url, 'utf8')) as object;
  const all = { allErrors: true, strict: false, meta: false, validateSchema: false, ...options };
  let validate: ValidateFunction | null = null;
  return (data) => errorsOf((validate ??= new Ajv2020(all).compile(schema)), data);
}

function hasInherited(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasInherited);
  for (const key in value) if (isNameOfJavaScript(key) || hasInherited((value as JsonObject)[key])) return true;
  return false;
}

function rename(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rename);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [isNameOfJavaScript(key) ? key + mark : key, rename(child)]),
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
 * Replaces how ajv compares values. It calls methods of users' objects, so that one with a member `valueOf` throws and
 * one with `constructor` differs from its copy; and its `uniqueItems` compares all pairs, which takes minutes for an
 * enum of 200,000 values. Call it before creating an instance: each instance copies the definitions, those in
 * libraries too.
 */
export function mendComparisons(): void {
  mend(constant, checkConstant);
  mend(enumeration, checkEnumeration);
  mend(uniqueItems, checkUnique);
}

function mend(keyword: object, code: CodeKeywordDefinition['code']): void {
  // Vitest resolves the default export of a CommonJS module one step further than Node.
  const { default: definition = keyword as CodeKeywordDefinition }: { default?: CodeKeywordDefinition } = keyword;
  definition.$data = false;
  definition.code = code;
}

function checkConstant(cxt: KeywordCxt): void {
  const isSame = cxt.gen.scopeValue('func', { ref: areEqual });
  cxt.fail(_`!${isSame}(${cxt.data}, ${cxt.schemaCode})`);
}

function checkEnumeration(cxt: KeywordCxt): void {
  const { gen, data, schemaCode } = cxt;
  if ((cxt.schema as unknown[]).length === 0) throw new Error('enum must have non-empty array');
  cxt.pass(_`${gen.scopeValue('func', { ref: isOneOf })}(${data}, ${schemaCode})`);
}

function isOneOf(value: unknown, allowed: readonly unknown[]): boolean {
  return allowed.includes(value) || (isContainer(value) && allowed.some((one) => areEqual(value, one)));
}

/** Takes as long as the smaller of two values is large, also where the other one contains itself. */
function areEqual(a: unknown, b: unknown): boolean {
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return a === b;
  const keys = Object.keys(a);
  const isSame = (key: string) => Object.hasOwn(b, key) && areEqual((a as JsonObject)[key], (b as JsonObject)[key]);
  return keys.length === Object.keys(b).length && keys.every(isSame);
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function checkUnique(cxt: KeywordCxt): void {
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
    const last = isContainer(item) ? objects : scalars;
    const key = isContainer(item) ? textOf(item) : item;
    const j = last.get(key);
    if (j !== undefined) twins = { i, j };
    last.set(key, i);
  }
  return twins;
}

/** The same for equal objects. One that contains itself, or shares too many parts, has no text and equals none but itself. */
function textOf(item: object): unknown {
  try {
    return JSON.stringify(item, sorted);
  } catch {
    return item;
  }
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
