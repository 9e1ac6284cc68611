import { isObject, type JsonObject } from '../../model/json.ts';
import { objectOf } from '../../render/json-value.ts';
import ajv04 from 'ajv-draft-04';
import { Ajv, type AnySchema, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft07 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import { messageThrown } from '../../model/errors.ts';
import { appendErrors, mendComparisons, errorsOf } from './ajv.ts';
import { dialects, type Dialect, type DialectName } from './schema-dialect.ts';
import type { Problem } from '../../model/problem.ts';
import { isStackFull, maxFindings, problemAt } from '../kind.ts';
import { adviseQuotes, type ParsedFile } from '../text/parse.ts';
import { followPointer, joinPointer, outwards } from '../../model/pointer.ts';
import { explainErrors } from '../../model/schema-errors.ts';
import type { Linked, Link } from './schema-link.ts';
import { chainProblem, longestChain } from '../reference-chains.ts';

mendComparisons();

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
function readPattern(pattern: string): RegExp {
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
const officialDraft07 = { ...draft07, properties: { ...draft07.properties, enum: { type: 'array', items: true } } };

function createAjv({ name, refStandsAlone }: Dialect, extra: Options): Ajv {
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

/** Reports all errors of a meta-schema that Stele chose, also if they are very many. */
function createMetaAjv(dialect: Dialect): Ajv {
  return createAjv(dialect, { allErrors: true, code: { ...options.code, process: appendErrors } });
}

/** Meta-schemas, each compiled at its first use. */
const official = new Map<DialectName, ValidateFunction>();

/** Validates a value against the official meta-schema of a dialect. Returns all errors. */
export function checkMeta(dialect: Dialect, schema: unknown): ErrorObject[] {
  const compile = () => createMetaAjv(dialect).getSchema(dialect.uri)!;
  return errorsOf(official.getOrInsertComputed(dialect.name, compile), schema);
}

/** Validates values against a meta-schema that somebody wrote in a dialect. Null: ajv cannot compile it. */
export function createCheckBy(dialect: Dialect, meta: JsonObject): ((schema: unknown) => ErrorObject[]) | null {
  try {
    const validate = createMetaAjv(dialect).compile(forAjv(meta) as AnySchema);
    return (schema) => errorsOf(validate, schema);
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

/**
 * Keywords whose values the meta-schema has checked, so that they always compile. Their code would
 * be most of what ajv makes, and is never run.
 */
const simpleAssertions = [
  'type format const required multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength',
  'minItems maxItems uniqueItems minProperties maxProperties',
].flatMap((line) => line.split(' '));

/**
 * Compiles a valid, bundled schema with ajv. Returns null if that succeeds, or else why not. `limit`: the schema is valid,
 * but ajv does not support it. These are limits of ajv:
 * a reference that resolved before but not in ajv, a `$dynamicRef` out of a resource, the id of a
 * meta-schema, and some hundred schemas that reference one another in a row.
 */
export function checkCompiles(dialect: Dialect, schema: unknown): { message: string; limit: boolean } | null {
  if (!isObject(schema) && typeof schema !== 'boolean') return null;
  try {
    // Inlining would copy a schema to every place that references it.
    const ajv = createAjv(dialect, { messages: false, inlineRefs: false });
    for (const keyword of simpleAssertions) ajv.removeKeyword(keyword);
    ajv.compile(forAjv(schema) as AnySchema);
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (isStackFull(error)) return { message: 'too many schemas reference one another in a row', limit: true };
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
    const child = (value as JsonObject)[key];
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

/** Checks the entry and everything that it references against the meta-schema and ECMA-262. */
export function checkSchemas(entry: ParsedFile, dialect: Dialect, linked: Linked): Problem[] {
  const { links, reached } = linked;
  const roots = new Map<ParsedFile, Set<string>>([[entry, new Set([''])]]);
  for (const { target } of links) {
    if (target === null) continue;
    roots.getOrInsertComputed(target.file, () => new Set<string>()).add(target.pointer);
  }
  const problems = findEndlessReferences(dialect, linked);
  // A document over this limit is rejected anyway. The rest costs as much as the document is large.
  if (problems.some(({ rule }) => rule === 'limit-references')) return problems;
  for (const [file, pointers] of roots) {
    for (const pointer of pointers) {
      if (hasAncestor(pointer, pointers)) continue;
      const schema = followPointer(file.value, pointer);
      if (schema !== undefined) problems.push(...schemaProblems(file, pointer, schema, checkMeta(dialect, schema)));
    }
  }
  const wrong = reached
    .entries()
    .flatMap(([file, schemas]) => schemas.entries().flatMap((each) => checkPatterns(file, ...each)));
  return [...problems, ...wrong.take(maxFindings)];
}

/** Whether one of the pointers leads to a node around the one at `pointer`. */
export function hasAncestor(pointer: string, pointers: ReadonlySet<string>): boolean {
  return outwards(pointer)
    .drop(1)
    .some((at) => pointers.has(at));
}

/**
 * Turns validation errors into problems, one per position. `pointer`: the validated value in the
 * file.
 */
export function schemaProblems(
  file: ParsedFile,
  pointer: string,
  value: unknown,
  errors: readonly ErrorObject[],
): Problem[] {
  return explainErrors(errors, value).map(({ pointer: inside, on, message }) => {
    const at = pointer + inside;
    return problemAt(file, at, 'schema', adviseQuotes(file, at, message), { on });
  });
}

function checkPatterns(file: ParsedFile, pointer: string, schema: unknown): Problem[] {
  if (!isObject(schema)) return [];
  const { pattern, patternProperties } = schema;
  const check = (text: string, keys: string[], on: 'key' | 'value'): Problem[] => {
    const failure = patternFailure(text);
    if (failure === null) return [];
    const message = `This pattern is not a valid ECMA-262 regular expression: ${failure}.`;
    return [problemAt(file, joinPointer(pointer, ...keys), 'schema-pattern', message, { on })];
  };
  return [
    ...(typeof pattern === 'string' ? check(pattern, ['pattern'], 'value') : []),
    ...Object.keys(objectOf(patternProperties)).flatMap((name) => check(name, ['patternProperties', name], 'key')),
  ];
}

/** Why a pattern is invalid, or null. */
export function patternFailure(pattern: string): string | null {
  return messageThrown(() => readPattern(pattern), SyntaxError);
}

interface Step {
  to: string;
  /** The reference that was followed. Null for a step into `allOf`. */
  link: Link | null;
}

/**
 * Finds references that go through too many others, and cycles of only `$ref` and `allOf`, which
 * never descend into the instance, so that validation never ends (JSON Schema 2020-12 §9.4.1).
 */
function findEndlessReferences(dialect: Dialect, { links, reached }: Linked): Problem[] {
  const steps = new Map<string, Step[]>();
  const add = (from: string, step: Step) => steps.getOrInsert(from, []).push(step);
  for (const link of links)
    if (link.target !== null && link.keyword === '$ref')
      add(keyOf(link.file, link.pointer), { to: keyOf(link.target.file, link.target.pointer), link });
  for (const [file, schemas] of reached) {
    for (const [pointer, schema] of schemas) {
      if (!isObject(schema) || !Array.isArray(schema['allOf'])) continue;
      if (dialect.refStandsAlone && typeof schema['$ref'] === 'string') continue;
      for (const at of schema['allOf'].keys())
        add(keyOf(file, pointer), { to: keyOf(file, joinPointer(pointer, 'allOf', at)), link: null });
    }
  }

  const problems: Problem[] = [];
  /** The number of references on the longest path from each schema. */
  const done = new Map<string, number>();
  let isLong = false;
  for (const start of steps.keys()) {
    // Depth first without recursion: a chain may be as long as the document has schemas.
    const way: { key: string; left: Step[]; references: Link[] }[] = [];
    const onWay = new Set<string>();
    const enter = (key: string, references: Link[]) => {
      way.push({ key, left: [...(steps.get(key) ?? [])], references });
      onWay.add(key);
    };
    if (!done.has(start)) enter(start, []);
    for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
      const step = last.left.pop();
      if (step === undefined) {
        onWay.delete(last.key);
        way.pop();
        let longest = 0;
        for (const { to, link } of steps.get(last.key) ?? []) {
          const length = (done.get(to) ?? 0) + (link === null ? 0 : 1);
          if (length > longestChain && link !== null && !isLong) problems.push(tooLong(link));
          isLong ||= length > longestChain;
          longest = Math.max(longest, length);
        }
        done.set(last.key, longest);
      } else if (onWay.has(step.to)) problems.push(...endless(step.link));
      else if (steps.has(step.to) && !done.has(step.to)) {
        const references = step.link === null ? last.references : [...last.references, step.link];
        // One chain that is too long is enough: the rest is not followed.
        if (references.length > longestChain) return [...problems, tooLong(references[0]!)];
        enter(step.to, references);
      }
    }
  }
  return problems;
}

function keyOf(file: ParsedFile, pointer: string): string {
  return `${file.path}#${pointer}`;
}

function tooLong(link: Link): Problem {
  return chainProblem(link.file, joinPointer(link.pointer, link.keyword), link.text);
}

function endless(link: Link | null): Problem[] {
  if (link === null) return [];
  const message = `The reference ${JSON.stringify(link.text.slice(0, 200))} points back to itself, so validation would never end. Remove the cycle.`;
  return [problemAt(link.file, joinPointer(link.pointer, link.keyword), 'ref-circular', message)];
}
