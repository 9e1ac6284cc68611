import type { ErrorObject } from 'ajv';
import { typeNameOf } from '../../model/json.ts';
import { countText } from '../../model/problem.ts';
import { maxFindings } from '../kind.ts';
import { followPointer, joinPointer, outwards, parsePointer } from '../../model/pointer.ts';

/** A violation of a schema at a node of a document. */
export interface SchemaFinding {
  pointer: string;
  /** Whether the finding is about the name of the member or its value. */
  on: 'key' | 'value';
  message: string;
  /** Whether it may only be a consequence of another finding deeper in the document. */
  doubtful: boolean;
}

const wrappers = new Set(['oneOf', 'anyOf', 'allOf', 'if', 'not', '$ref', 'dependentSchemas', 'propertyNames']);

/**
 * Makes ajv's errors readable. For a union, ajv reports the errors of every branch; this keeps those
 * of the branch that is meant: the one whose `type` or `in` the document states, else the one with
 * the deepest errors, but not the Reference Object. Explains the first errors of a document that has
 * very many.
 */
export function explainErrors(allErrors: readonly ErrorObject[], document: unknown): SchemaFinding[] {
  const errors = meantErrors(allErrors.slice(0, maxFindings));
  const empty = new Set(
    errors.filter(({ keyword }) => keyword === 'minProperties').map(({ instancePath }) => instancePath),
  );
  const specific = errors.filter(
    (error) =>
      !wrappers.has(error.keyword) &&
      !isReferenceNoise(error) &&
      !(isDefaultNoise(error) && empty.has(error.instancePath)),
  );
  const pointers = Map.groupBy(
    specific.filter(({ keyword }) => keyword !== 'unevaluatedProperties'),
    ({ instancePath }) => instancePath,
  );
  const prefixes = new Set<string>();
  for (const pointer of pointers.keys())
    for (const prefix of outwards(pointer).drop(1)) {
      // Then the prefixes above were added, too.
      if (prefixes.has(prefix)) break;
      prefixes.add(prefix);
    }
  const unions = unionsIn(errors);
  const relevant = specific.filter((error) => {
    const { instancePath, keyword } = error;
    // A member is also unevaluated if the part of the schema that declares it fails.
    if (keyword !== 'unevaluatedProperties') return !unions.has(instancePath) || !prefixes.has(instancePath);
    const { pointer } = findingOf(error, document);
    const schema = parentOf(error.schemaPath);
    const isElsewhere = pointers.get(instancePath)?.some(({ schemaPath }) => !schemaPath.startsWith(schema)) ?? false;
    return !isElsewhere && !pointers.has(pointer) && !prefixes.has(pointer);
  });
  /** Whether a part of the same schema fails that declares the unevaluated member. */
  const isPartBroken = ({ instancePath, params }: ErrorObject) =>
    prefixes.has(instancePath) ||
    (pointers.get(instancePath)?.some(({ parentSchema }) => {
      const declared: unknown = parentSchema?.['properties'];
      const member = String((params as { unevaluatedProperty?: unknown }).unevaluatedProperty);
      return typeof declared === 'object' && declared !== null && Object.hasOwn(declared, member);
    }) ??
      false);
  const chosen = relevant.length > 0 ? relevant : specific.length > 0 ? specific : errors;
  return merge(
    chosen.map((error) => ({
      ...findingOf(error, document),
      union: unions.has(error.instancePath),
      doubtful: error.keyword === 'unevaluatedProperties' && isPartBroken(error),
    })),
  );
}

/** Where no branch of a union fits. */
function unionsIn(errors: readonly ErrorObject[]): Set<string> {
  const failed = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  return new Set(failed.map(({ instancePath }) => instancePath));
}

/** For no response at all, OpenAPI 3.1 asks for `default`, although any status would do. */
function isDefaultNoise({ keyword, schemaPath }: ErrorObject): boolean {
  return keyword === 'required' && schemaPath.endsWith('/then/required');
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** A branch of a union that allows another single value for a member than the document states. */
interface Denied {
  /** Where its errors are in the schema. A branch that ajv compiles separately has the root's path, as others do. */
  path: string;
  member: string;
  /** The schema of the member, if ajv gave it. */
  schema: unknown;
}

/**
 * Drops the errors of branches that are not meant: those that allow a single value for a member,
 * such as `type` or `in`, and the document states another one. If no other branch of the union has
 * an error, all stay.
 */
function meantErrors(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const denied = new Map<string, Denied[]>();
  for (const { keyword, params, instancePath, schemaPath, parentSchema: schema } of errors) {
    const isSingle = keyword === 'const' || (params as { allowedValues?: unknown[] }).allowedValues?.length === 1;
    const [, path, member] = /^(.*\/)properties\/([^/]+)\/(?:const|enum)$/.exec(schemaPath) ?? [];
    if (!isSingle || path === undefined || member === undefined) continue;
    const at = parentOf(instancePath).slice(0, -1);
    denied.getOrInsert(at, []).push({ path, member, schema });
  }
  const unions = unionsIn(errors);
  for (const at of denied.keys()) if (!unions.has(at)) denied.delete(at);
  if (denied.size === 0) return errors;
  const dropped = new Set<ErrorObject>();
  const reportable = errors.filter((error) => !wrappers.has(error.keyword) && !isReferenceNoise(error));
  for (const [at, inside] of groupBelow(reportable, denied)) {
    const branches = denied.get(at)!;
    const out = new Set(inside.filter((error) => branches.some((branch) => isOf(error, at, branch))));
    const isApart = (error: ErrorObject) =>
      error.instancePath !== at && /^#\/(?!definitions\/|\$defs\/)/.test(error.schemaPath);
    if (inside.some((error) => !out.has(error) && !isApart(error))) for (const error of out) dropped.add(error);
  }
  return dropped.size === 0 ? errors : errors.filter((error) => !dropped.has(error));
}

/** The errors at or below each of these places. */
function groupBelow(
  errors: readonly ErrorObject[],
  places: { has(pointer: string): boolean },
): Map<string, ErrorObject[]> {
  const groups = new Map<string, ErrorObject[]>();
  /** The groups that a place belongs to: each place is looked up once, however deep it is. */
  const byPlace = new Map<string, readonly ErrorObject[][]>();

  const groupsOf = (place: string): readonly ErrorObject[][] =>
    byPlace.getOrInsertComputed(place, (at) => {
      const around = at === '' ? [] : groupsOf(parentOf(at).slice(0, -1));
      return places.has(at) ? [...around, groups.getOrInsert(at, [])] : around;
    });

  for (const error of errors) for (const group of groupsOf(error.instancePath)) group.push(error);
  return groups;
}

function isOf({ instancePath, schemaPath, parentSchema }: ErrorObject, at: string, branch: Denied): boolean {
  if (branch.path !== '#/') return schemaPath.startsWith(branch.path);
  if (branch.schema === undefined) return false;
  const owner = parentSchema as { properties?: Record<string, unknown> } | undefined;
  if (instancePath === at) return owner?.properties?.[branch.member] === branch.schema;
  return instancePath === `${at}/${branch.member}` && parentSchema === branch.schema;
}

function isReferenceNoise({ schemaPath, parentSchema, keyword, params }: ErrorObject): boolean {
  if (/\/(?:Reference|reference|jsonReference)\//.test(schemaPath)) return true;
  const required: unknown = parentSchema?.['required'];
  if (Array.isArray(required) && required.length === 1 && required[0] === '$ref') return true;
  return keyword === 'required' && (params as { missingProperty?: string }).missingProperty === '$ref';
}

function findingOf(
  { instancePath, keyword, params, message = 'is not valid', propertyName }: ErrorObject,
  document: unknown,
): Omit<SchemaFinding, 'doubtful'> {
  const given = params as Record<string, unknown>;
  const name = parsePointer(instancePath).at(-1);
  const subject = name === undefined ? 'The document' : /^\d+$/.test(name) ? `Item ${name}` : `"${name}"`;
  const about = (says: string) => ({ pointer: instancePath, on: 'value' as const, message: `${subject} ${says}.` });
  const onKey = (text: string, key?: string) => {
    const pointer = key === undefined ? instancePath : joinPointer(instancePath, key);
    return { pointer, on: 'key' as const, message: text };
  };
  if (keyword === 'required') return onKey(`${subject} is missing the member "${String(given['missingProperty'])}".`);
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const extra = String(given['additionalProperty'] ?? given['unevaluatedProperty']);
    return onKey(`The member "${extra}" is not expected here.`, extra);
  }
  if (propertyName !== undefined) return onKey(`The name "${propertyName}" ${message}.`, propertyName);
  if (keyword === 'type' && name === '$ref' && given['type'] === 'object')
    return onKey(
      `A "$ref" is not allowed here: ${ownerOf(instancePath)} cannot be a reference. Write its members here.`,
    );
  const value = followPointer(document, instancePath);
  if (keyword === 'type') return about(`must be ${[given['type']].flat().join(' or ')}, not ${typeNameOf(value)}`);
  if (keyword === 'enum') {
    const allowed = (given['allowedValues'] as unknown[]).map((each) => JSON.stringify(each)).join(', ');
    return about(`must be one of ${allowed}`);
  }
  if (keyword === 'format' && given['format'] === 'uri-reference') {
    const [raw] = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]/u.exec(String(value)) ?? [];
    if (raw !== undefined && raw.isWellFormed())
      return about(
        `has the character ${JSON.stringify(raw)}, which a URL may not have. Write ${encodeURIComponent(raw)} in its place`,
      );
  }
  if (keyword === 'const') return about(`must be ${JSON.stringify(given['allowedValue'])}`);
  return about(sayLimit(keyword, given) ?? message);
}

/** What a value outside of a limit must be; null for other keywords. */
function sayLimit(keyword: string, { limit }: Record<string, unknown>): string | null {
  if (keyword === 'minimum') return `must be at least ${String(limit)}`;
  if (keyword === 'exclusiveMinimum') return `must be greater than ${String(limit)}`;
  if (keyword === 'minLength' && limit === 1) return 'must not be empty';
  const [, end, what] = /^(min|max)(Properties|Items|Length)$/.exec(keyword) ?? [];
  if (what === undefined) return null;
  const noun = { Properties: 'member', Items: 'item', Length: 'character' }[what]!;
  return `must have at ${end === 'min' ? 'least' : 'most'} ${countText(Number(limit), noun)}`;
}

function ownerOf(pointer: string): string {
  const owner = parsePointer(pointer).at(-2);
  return owner === undefined ? 'the document' : `"${owner}"`;
}

/** Merges findings with the same position and message, and those of union branches for one node. */
function merge(findings: (SchemaFinding & { union: boolean })[]): SchemaFinding[] {
  const merged = new Map<string, SchemaFinding & { messages: string[] }>();
  for (const { union, ...finding } of findings) {
    const key = `${finding.on} ${finding.pointer}${union || isChoice(finding.message) ? '' : ` ${finding.message}`}`;
    const { messages } = merged.getOrInsertComputed(key, () => ({ ...finding, messages: [] }));
    if (!messages.includes(finding.message)) messages.push(finding.message);
  }
  return [...merged.values()].map(({ pointer, on, doubtful, messages }) => ({
    pointer,
    on,
    doubtful,
    message: join(messages),
  }));
}

const choice = / must be one of (.*)\.$/s;

function isChoice(message: string): boolean {
  return choice.test(message);
}

const type = / must be [a-z]+, not [a-z]+\.$/;

/**
 * Joins the messages of union branches into one, and their allowed values into one list. Where values
 * are listed, says nothing of other types.
 */
function join(all: string[]): string {
  const messages = all.some(isChoice) ? all.filter((message) => !type.test(message)) : all;
  const [first] = messages;
  if (first === undefined || messages.length === 1) return first ?? '';
  const lists = messages.map((message) => choice.exec(message)?.[1]);
  if (lists.every((list) => list !== undefined))
    return `${first.slice(0, first.search(choice))} must be one of ${[...new Set(lists.flatMap((list) => list.split(', ')))].join(', ')}.`;
  return `Fix one of these: ${messages.slice(0, 5).join(' ')}`;
}
