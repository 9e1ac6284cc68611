import { closest } from './errors.ts';
import { cut } from './escape.ts';
import { typeNameOf } from './json.ts';
import { followPointer, joinPointer, outwards, parsePointer } from './pointer.ts';
import { countText } from './problem.ts';
import { asSentence, listChoices, listOut } from './states.ts';

/** What is read of an error of ajv (`ErrorObject`, with `verbose`). */
export interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Readonly<Record<string, unknown>>;
  message?: string;
  propertyName?: string;
  parentSchema?: unknown;
}

/** A violation of a schema at a node of a document. */
export interface SchemaFinding {
  /** The node, or a member of it that should not be there. */
  pointer: string;
  /** Whether the finding is about the name of the member or its value. */
  on: 'key' | 'value';
  /** What is wrong. It follows the name of the node, without a full stop: `must be a string, not null`. */
  says: string;
  /** The same as a sentence: `"title" must be a string, not null.` */
  message: string;
  /** The one member that is missing, if that is what is wrong. */
  missing: string | null;
  /** Whether it may only be a consequence of another finding deeper in the document. */
  doubtful: boolean;
}

/** Errors that are explained of a document that has very many. */
const maxErrors = 10_000;
/** Keywords that may declare members in other schemas. */
const composed = ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];
const wrappers = new Set('oneOf anyOf allOf if not $ref dependentSchemas propertyNames discriminator'.split(' '));

/**
 * Makes ajv's errors readable. For a union, ajv reports the errors of every branch; this keeps those
 * of the branch that is meant: the one whose `type` or `in` the document states, else the one with
 * the deepest errors, but not the Reference Object. Explains the first errors of a document that has
 * very many.
 */
export function explainErrors(allErrors: readonly SchemaError[], document: unknown): SchemaFinding[] {
  const errors = closestErrors(meantErrors(allErrors.slice(0, maxErrors)));
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
    const { pointer } = partOf(error, document);
    const schema = parentOf(error.schemaPath);
    const isElsewhere = pointers.get(instancePath)?.some(({ schemaPath }) => !schemaPath.startsWith(schema)) ?? false;
    return !isElsewhere && !pointers.has(pointer) && !prefixes.has(pointer);
  });
  /** Whether a part of the same schema fails that may declare the unevaluated member. */
  const isPartBroken = (error: SchemaError) => {
    const schema = schemaOf(error);
    const name = String(error.params['unevaluatedProperty']);
    const mayDeclare = (one: ParentSchema) => Object.hasOwn(one.properties ?? {}, name);
    if (prefixes.has(error.instancePath))
      return mayDeclare(schema) || composed.some((part) => Object.hasOwn(schema, part));
    return pointers.get(error.instancePath)?.some((other) => mayDeclare(schemaOf(other))) ?? false;
  };
  const chosen = relevant.length > 0 ? relevant : specific.length > 0 ? specific : errors;
  const said = ofUnions(chosen, unions).map(({ error, isChoice }) => ({
    ...partOf(error, document),
    isChoice,
    doubtful: error.keyword === 'unevaluatedProperties' && isPartBroken(error),
  }));
  return merge(said, document);
}

function schemaOf({ parentSchema }: SchemaError): ParentSchema {
  return Object(parentSchema) as ParentSchema;
}

/**
 * Of the errors at a node that no branch of a union fits, those that most branches have; `isChoice`: one of them is to be
 * mended. That some branches want another type says nothing if one wants this type.
 */
function ofUnions(errors: readonly SchemaError[], unions: ReadonlySet<string>) {
  return [...Map.groupBy(errors, ({ instancePath }) => instancePath)].flatMap(([at, here]) => {
    if (!unions.has(at)) return here.map((error) => ({ error, isChoice: false }));
    const others = here.filter(({ keyword }) => keyword !== 'type');
    const same = Map.groupBy(others.length > 0 ? others : here, ({ keyword, params }) =>
      JSON.stringify([keyword, params]),
    );
    const most = Math.max(...[...same.values()].map(({ length }) => length));
    return [...same.values()].flatMap((group) =>
      group.length === most ? [{ error: group[0]!, isChoice: most === 1 }] : [],
    );
  });
}

/** Where no branch of a union fits. */
function unionsIn(errors: readonly SchemaError[]): Set<string> {
  const failed = errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  return new Set(failed.map(({ instancePath }) => instancePath));
}

/** For no response at all, OpenAPI 3.1 asks for `default`, although any status would do. */
function isDefaultNoise({ keyword, schemaPath }: SchemaError): boolean {
  return keyword === 'required' && schemaPath.endsWith('/then/required');
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** A branch of a union that allows one or two values for a member, and not the one that the document states. */
interface Denied {
  /** Where its errors are in the schema. A branch that ajv compiles separately has the root's path, as others do. */
  path: string;
  member: string;
  /** The schema of the member, if ajv gave it. */
  schema: unknown;
  error: SchemaError;
}

/**
 * Drops the errors of branches that are not meant: those that allow one or two values for a member,
 * such as `type` or `in`, and the document states another one. If all of them state others for
 * one member, only that stays.
 */
function meantErrors(errors: readonly SchemaError[]): readonly SchemaError[] {
  const denied = new Map<string, Denied[]>();
  for (const error of errors) {
    const { keyword, params, instancePath, schemaPath, parentSchema: schema } = error;
    const isTag = keyword === 'const' || (keyword === 'enum' && (params['allowedValues'] as unknown[]).length <= 2);
    const [, path, member] = /^(.*\/)properties\/([^/]+)\/(?:const|enum)$/.exec(schemaPath) ?? [];
    if (!isTag || path === undefined || member === undefined) continue;
    const at = parentOf(instancePath).slice(0, -1);
    denied.getOrInsert(at, []).push({ path, member, schema, error });
  }
  const unions = unionsIn(errors);
  for (const at of denied.keys()) if (!unions.has(at)) denied.delete(at);
  if (denied.size === 0) return errors;
  const dropped = new Set<SchemaError>();
  const reportable = errors.filter((error) => !wrappers.has(error.keyword) && !isReferenceNoise(error));
  for (const [at, inside] of groupBelow(reportable, denied)) {
    const branches = denied.get(at)!;
    const out = new Set(inside.filter((error) => branches.some((branch) => isOf(error, at, branch))));
    const isApart = (error: SchemaError) =>
      error.instancePath !== at && /^#\/(?!definitions\/|\$defs\/|components\/)/.test(error.schemaPath);
    const isMeant = inside.some((error) => !out.has(error) && !isApart(error));
    const tags = new Set(branches.map(({ error }) => error));
    const isOneTag = new Set(branches.map(({ member }) => member)).size === 1;
    for (const error of out) if (isMeant || (isOneTag && !tags.has(error))) dropped.add(error);
  }
  return dropped.size === 0 ? errors : errors.filter((error) => !dropped.has(error));
}

/** Of a union whose branches stand in it, drops the errors of branches that have more of them than another one. */
function closestErrors(errors: readonly SchemaError[]): readonly SchemaError[] {
  const dropped = new Set<SchemaError>();
  for (const [at, inside] of groupBelow(errors, unionsIn(errors))) {
    for (const { keyword, schemaPath: union, instancePath } of inside) {
      if (instancePath !== at || (keyword !== 'oneOf' && keyword !== 'anyOf')) continue;
      const own = inside.filter(({ schemaPath }) => schemaPath.startsWith(`${union}/`));
      const branches = [...Map.groupBy(own, ({ schemaPath }) => schemaPath.slice(union.length).split('/')[1]).values()];
      const fewest = Math.min(...branches.map(({ length }) => length));
      for (const branch of branches) if (branch.length > fewest) for (const error of branch) dropped.add(error);
    }
  }
  return dropped.size === 0 ? errors : errors.filter((error) => !dropped.has(error));
}

/** The errors at or below each of these places. */
function groupBelow(
  errors: readonly SchemaError[],
  places: { has(pointer: string): boolean },
): Map<string, SchemaError[]> {
  const groups = new Map<string, SchemaError[]>();
  /** The groups that a place belongs to: each place is looked up once, however deep it is. */
  const byPlace = new Map<string, readonly SchemaError[][]>();

  const groupsOf = (place: string): readonly SchemaError[][] =>
    byPlace.getOrInsertComputed(place, (at) => {
      const around = at === '' ? [] : groupsOf(parentOf(at).slice(0, -1));
      return places.has(at) ? [...around, groups.getOrInsert(at, [])] : around;
    });

  for (const error of errors) for (const group of groupsOf(error.instancePath)) group.push(error);
  return groups;
}

function isOf(error: SchemaError, at: string, branch: Denied): boolean {
  const { instancePath, schemaPath, parentSchema } = error;
  if (branch.path !== '#/') return schemaPath.startsWith(branch.path);
  if (branch.schema === undefined) return false;
  if (instancePath === at) return schemaOf(error).properties?.[branch.member] === branch.schema;
  return instancePath === `${at}/${branch.member}` && parentSchema === branch.schema;
}

function isReferenceNoise(error: SchemaError): boolean {
  const { schemaPath, keyword, params } = error;
  if (/\/(?:Reference|reference|jsonReference)\//.test(schemaPath)) return true;
  const { required } = schemaOf(error);
  if (Array.isArray(required) && required.length === 1 && required[0] === '$ref') return true;
  return keyword === 'required' && params['missingProperty'] === '$ref';
}

/** What is read of the schema that an error is about. */
interface ParentSchema {
  properties?: Record<string, unknown>;
  required?: unknown;
  examples?: unknown[];
}

/** What one error says; that of a union is made of several. */
interface Part {
  pointer: string;
  on: 'key' | 'value';
  missing?: string;
  allowed?: readonly unknown[];
  types?: readonly string[];
  /** It should not be there: the names that are known in its place. */
  known?: readonly string[];
  /** What says it all, if none of these does. */
  text?: string;
}

function partOf(error: SchemaError, document: unknown): Part {
  const { instancePath: pointer, keyword, params, message = 'is not valid', propertyName } = error;
  const schema = schemaOf(error);
  if (keyword === 'required') return { pointer, on: 'key', missing: String(params['missingProperty']) };
  if (/^(?:additional|unevaluated)Properties$/.test(keyword)) {
    const name = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
    return { pointer: joinPointer(pointer, name), on: 'key', known: Object.keys(schema.properties ?? {}) };
  }
  if (keyword === 'false schema') return { pointer, on: 'key', known: [] };
  const example = keyword === 'pattern' ? schema.examples?.[0] : undefined;
  const limit = example === undefined ? sayLimit(keyword, params) : `must be written like ${JSON.stringify(example)}`;
  if (propertyName !== undefined) {
    const text = `is not a possible name: it ${limit ?? message}`;
    return { pointer: joinPointer(pointer, propertyName), on: 'key', text };
  }
  if (keyword === 'type' && pointer.endsWith('/$ref') && params['type'] === 'object') {
    const owner = parsePointer(pointer).at(-2);
    const holder = owner === undefined ? 'the document' : `"${owner}"`;
    return { pointer, on: 'key', text: `is not allowed here: ${holder} cannot be a reference. Write its members here` };
  }
  const about = { pointer, on: 'value' } as const;
  if (keyword === 'type') return { ...about, types: [params['type']].flat() as string[] };
  if (keyword === 'enum') return { ...about, allowed: params['allowedValues'] as unknown[] };
  if (keyword === 'const') return { ...about, allowed: [params['allowedValue']] };
  if (keyword === 'format' && params['format'] === 'uri-reference') {
    const [raw] = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]/u.exec(String(followPointer(document, pointer))) ?? [];
    if (raw !== undefined && raw.isWellFormed()) {
      const text = `has the character ${JSON.stringify(raw)}, which a URL may not have. Write ${encodeURIComponent(raw)} in its place`;
      return { ...about, text };
    }
  }
  return { ...about, text: limit ?? message };
}

const limits: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'greater than',
  exclusiveMaximum: 'less than',
};

/** What a value outside of a limit must be; null for other keywords. */
function sayLimit(keyword: string, { limit }: Readonly<Record<string, unknown>>): string | null {
  if (Object.hasOwn(limits, keyword)) return `must be ${limits[keyword]} ${String(limit)}`;
  if (keyword === 'minLength' && limit === 1) return 'must not be empty';
  const [, end, what] = /^(min|max)(Properties|Items|Length)$/.exec(keyword) ?? [];
  if (what === undefined) return null;
  const noun = { Properties: 'member', Items: 'item', Length: 'character' }[what]!;
  return `must have at ${end === 'min' ? 'least' : 'most'} ${countText(Number(limit), noun)}`;
}

/** One finding for the parts at a node that say one thing, and for those of a union. */
function merge(
  parts: readonly (Part & { isChoice: boolean; doubtful: boolean })[],
  document: unknown,
): SchemaFinding[] {
  // Where values are listed, nothing is said of other types.
  const listed = new Set(parts.flatMap(({ pointer, allowed }) => (allowed ? [pointer] : [])));
  const told = parts.filter(({ pointer, types }) => !types || !listed.has(pointer));
  const groups = Map.groupBy(told, ({ pointer, on, isChoice, allowed, missing, text }) =>
    JSON.stringify([pointer, on, ...(isChoice || allowed ? [] : [missing, text])]),
  );
  return [...groups.values()].map((group) => {
    const { pointer, on, doubtful } = group[0]!;
    const missing = [...new Set(group.flatMap((part) => part.missing ?? []))];
    const says = sayParts(group, missing, document);
    const message = asSentence(`${nameAt(pointer, document)} ${says}`);
    return { pointer, on, says, message, missing: missing.length === 1 ? missing[0]! : null, doubtful };
  });
}

function sayParts(group: readonly Part[], missing: readonly string[], document: unknown): string {
  const { pointer } = group[0]!;
  const all = <T>(read: (part: Part) => readonly T[] | undefined): T[] => group.flatMap((part) => read(part) ?? []);
  const allowed = all((part) => part.allowed);
  const types = all((part) => part.types);
  const ways: string[] = [];
  if (allowed.length > 0) ways.push(`must be ${listChoices(allowed)}`);
  if (types.length > 0) {
    const value = followPointer(document, pointer);
    const given = typeof value === 'boolean' ? String(value) : sayTypes([typeNameOf(value)]);
    ways.push(`must be ${sayTypes(types)}, not ${given}`);
  }
  if (missing.length > 0) ways.push(`is missing the member ${listChoices(missing)}`);
  if (group.some((part) => part.known)) {
    const name = parsePointer(pointer).at(-1)!.slice(0, 100);
    const names = all((part) => part.known).filter((known) => known !== name);
    ways.push(`is not expected here${closest(name, names).replace(/^./, '. ')}`);
  }
  ways.push(...new Set(all((part) => (part.text === undefined ? [] : [part.text]))));
  return ways.slice(0, 5).join(', or ');
}

/** The node at a pointer, at the start of a sentence. */
function nameAt(pointer: string, document: unknown): string {
  const last = parsePointer(pointer).at(-1);
  if (last === undefined) return 'The document';
  const name = cut(last, 200);
  return Array.isArray(followPointer(document, parentOf(pointer).slice(0, -1))) ? `Item ${name}` : `"${name}"`;
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function sayTypes(types: readonly string[]): string {
  return listOut(new Set(types.map((type) => typeNames[type] ?? type)), 'disjunction');
}
