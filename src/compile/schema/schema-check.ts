import ajv04 from 'ajv-draft-04';
import { Ajv, type AnySchema, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import { findTwinsByText } from './ajv-unique-items.ts';
import { errorsOf } from './ajv-errors.ts';
import { dialects, isObject, type Dialect, type DialectName } from './schema-dialect.ts';

findTwinsByText();

/**
 * Nothing but the specification, in an instance of its own for each schema, so that none sees another's ids: no strict mode, no formats (they are annotations of the schemas that are checked here), patterns read as
 * ECMA-262 with the u flag where that is possible and without it where not (JSON Schema 2020-12 §6.4 asks for u; schemas in use predate it).
 */
const options: Options = {
  strict: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
  messages: true,
  code: { optimize: false, regExp: Object.assign(readPattern, { code: 'readPattern' }) },
};

/** The pattern as a regular expression, or a `SyntaxError` when it is none with the u flag and none without. */
export function readPattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}

function createAjv({ name, refStandsAlone }: Dialect, extra: Options = {}): Ajv {
  const all = { ...options, ...extra, ...(refStandsAlone ? { ignoreKeywordsWithRef: true } : {}) };
  if (name === 'draft-04') return new ajv04.default(all);
  if (name === '2019-09') return new Ajv2019(all);
  if (name === '2020-12') return new Ajv2020(all);
  const ajv = new Ajv(all);
  if (name === 'draft-06') ajv.addMetaSchema(draft06);
  // ajv throws at an `id` beside `$id`'s drafts, where it is a keyword like any unknown one.
  return ajv.removeKeyword('id');
}

/** Checks a value against the official meta-schema of a dialect: all errors. */
export type CheckMeta = (dialect: Dialect, schema: unknown) => ErrorObject[];

/** Meta-schemas are compiled on first use and kept: they are the same for every document. */
export function createCheckMeta(): CheckMeta {
  const compiled = new Map<DialectName, ValidateFunction>();
  return (dialect, schema) => {
    const known = compiled.get(dialect.name);
    const validate = known ?? createAjv(dialect, { allErrors: true }).getSchema(dialect.uri)!;
    compiled.set(dialect.name, validate);
    return errorsOf(validate, schema);
  };
}

/** Why ajv cannot compile a schema. `limit`: the schema is right, and ajv does not do what it asks for. */
export interface CompileFailure {
  message: string;
  limit: boolean;
}

/**
 * Compiles a schema that its meta-schema accepts and that holds every schema that it refers to; null when ajv can. That ajv fails to find what
 * has been found before, or to follow a `$dynamicRef` out of a resource, is its limit and not the schema's fault.
 */
export function checkCompiles(dialect: Dialect, schema: unknown): CompileFailure | null {
  if (!isObject(schema) && typeof schema !== 'boolean') return null;
  try {
    // Inlined, a schema is copied to every place that refers to it.
    createAjv(dialect, { messages: false, inlineRefs: false }).compile(withoutExtensions(schema) as AnySchema);
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const limit = error instanceof Ajv.MissingRefError || /only supports hash fragment/.test(error.message);
    return { message: error.message, limit };
  }
}

/** Members that mean something to ajv and nothing to JSON Schema, which would refuse schemas for them. */
const extensions = new Set(['nullable', '$async']);

function withoutExtensions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExtensions);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([key, child]) => !(extensions.has(key) && typeof child === 'boolean'));
  return Object.fromEntries(members.map(([key, child]) => [key, withoutExtensions(child)]));
}

/** The dialect that is taken where a schema states none. */
export const assumedDialect = dialects['2020-12'];
