import { isObject } from '../../model/json.ts';
import ajv04 from 'ajv-draft-04';
import { Ajv, type AnySchema, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft07 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import { appendErrors } from './ajv-append-errors.ts';
import { findTwinsByText } from './ajv-unique-items.ts';
import { errorsOf } from './ajv-errors.ts';
import { dialects, type Dialect, type DialectName } from './schema-dialect.ts';

findTwinsByText();

/**
 * Checks the specification only: no strict mode and no formats, which are annotations. Patterns are
 * ECMA-262 with the u flag if possible, otherwise without (JSON Schema 2020-12 §6.4 requires u, but
 * existing schemas predate it). Each schema gets its own instance, so that ids do not collide.
 */
const options: Options = {
  strict: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
  messages: true,
  code: { optimize: false, regExp: Object.assign(readPattern, { code: 'readPattern' }) },
};

/** Compiles a pattern. Throws a `SyntaxError` if it is invalid with and without the u flag. */
export function readPattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}

/**
 * The official meta-schema allows an empty `enum` (draft-07 validation §6.1.2). The copy in ajv does
 * not.
 */
const officialDraft07 = {
  ...draft07,
  properties: { ...draft07.properties, enum: { type: 'array', items: true } },
};

function createAjv({ name, refStandsAlone }: Dialect, extra: Options = {}): Ajv {
  const all = { ...options, ...extra, ...(refStandsAlone ? { ignoreKeywordsWithRef: true } : {}) };
  if (name === 'draft-04') return new ajv04.default(all);
  if (name === '2019-09') return new Ajv2019(all);
  if (name === '2020-12') return new Ajv2020(all);
  const ajv = new Ajv({ ...all, ...(name === 'draft-07' && { meta: false }) });
  if (name === 'draft-06') ajv.addMetaSchema(draft06);
  if (name === 'draft-07') ajv.addMetaSchema(officialDraft07);
  // ajv throws at `id` in drafts with `$id`, where it is an unknown keyword.
  return ajv.removeKeyword('id');
}

/** Validates a value against the official meta-schema of a dialect. Returns all errors. */
export type CheckMeta = (dialect: Dialect, schema: unknown) => ErrorObject[];

/** Compiles each meta-schema on first use and caches it for all documents. */
export function createCheckMeta(): CheckMeta {
  const compiled = new Map<DialectName, ValidateFunction>();
  return (dialect, schema) => {
    const validator = compiled.get(dialect.name);
    const validate =
      validator ??
      createAjv(dialect, { allErrors: true, code: { ...options.code, process: appendErrors } }).getSchema(dialect.uri)!;
    compiled.set(dialect.name, validate);
    return errorsOf(validate, schema);
  };
}

/** Validates values against a meta-schema that somebody wrote in a dialect. Null: ajv cannot compile it. */
export function createCheckBy(
  dialect: Dialect,
  meta: Record<string, unknown>,
): ((schema: unknown) => ErrorObject[]) | null {
  try {
    const ajv = createAjv(dialect, { allErrors: true, code: { ...options.code, process: appendErrors } });
    const validate = ajv.compile(forAjv(meta) as AnySchema);
    return (schema) => errorsOf(validate, schema);
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Why ajv cannot compile a schema. `limit`: the schema is valid, but ajv does not support it. */
export interface CompileFailure {
  message: string;
  limit: boolean;
}

/**
 * Keywords whose values the meta-schema has checked, so that they always compile. Their code would
 * be most of what ajv makes, and is never run.
 */
const simpleAssertions = [
  'type',
  'format',
  'const',
  'required',
  'multipleOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];

/**
 * Compiles a valid, bundled schema with ajv. Returns null if that succeeds. These are limits of ajv:
 * a reference that resolved before but not in ajv, a `$dynamicRef` out of a resource, the id of a
 * meta-schema, and some hundred schemas that reference one another in a row.
 */
export function checkCompiles(dialect: Dialect, schema: unknown): CompileFailure | null {
  if (!isObject(schema) && typeof schema !== 'boolean') return null;
  try {
    // Inlining would copy a schema to every place that references it.
    const ajv = createAjv(dialect, { messages: false, inlineRefs: false });
    for (const keyword of simpleAssertions) ajv.removeKeyword(keyword);
    ajv.compile(forAjv(schema) as AnySchema);
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof RangeError && error.message.includes('call stack'))
      return { message: 'too many schemas reference one another in a row', limit: true };
    const limit =
      error instanceof Ajv.MissingRefError ||
      /only supports hash fragment|^schema with key or id .* already exists/.test(error.message);
    return { message: error.message, limit };
  }
}

/** Keywords of ajv that are not in JSON Schema. */
const extensions = new Set(['nullable', '$async']);

/**
 * The schema without what ajv rejects in valid schemas: its own keywords, and an empty `enum`. Parts
 * without any are not copied.
 */
function forAjv(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(forAjv);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const changes = new Map<string, unknown>();
  for (const key in value) {
    const child = (value as Record<string, unknown>)[key];
    const isForeign =
      (extensions.has(key) && typeof child === 'boolean') ||
      (key === 'enum' && Array.isArray(child) && child.length === 0);
    const edited = isForeign ? undefined : forAjv(child);
    if (edited !== child) changes.set(key, edited);
  }
  if (changes.size === 0) return value;
  const members = Object.entries(value).map(([key, child]) => [key, changes.has(key) ? changes.get(key) : child]);
  return Object.fromEntries(members.filter(([, child]) => child !== undefined));
}

/** The dialect of a schema without `$schema`. */
export const assumedDialect = dialects['2020-12'];
