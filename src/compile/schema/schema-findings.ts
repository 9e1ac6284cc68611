import type { ErrorObject } from 'ajv';
import { mostFindings } from '../kind.ts';
import { parsePointer } from '../text/pointer.ts';

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
 * Makes ajv's errors readable. For a union, ajv reports the errors of every branch; this keeps the
 * deepest ones, which belong to the intended branch, and drops those of the Reference Object
 * branch. Explains the first errors of a document that has very many.
 */
export function explainErrors(allErrors: readonly ErrorObject[], document: unknown): SchemaFinding[] {
  const errors = allErrors.slice(0, mostFindings);
  const told = errors.filter((error) => !wrappers.has(error.keyword) && !isReferenceNoise(error));
  const pointers = Map.groupBy(
    told.filter(({ keyword }) => keyword !== 'unevaluatedProperties'),
    ({ instancePath }) => instancePath,
  );
  const prefixes = new Set<string>();
  for (const pointer of pointers.keys())
    for (let at = pointer.lastIndexOf('/'); at >= 0; at = pointer.lastIndexOf('/', at - 1)) {
      prefixes.add(pointer.slice(0, at));
      if (at === 0) break;
    }
  const unions = new Set(
    errors.filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf').map(({ instancePath }) => instancePath),
  );
  const kept = told.filter((error) => {
    const { instancePath, keyword } = error;
    // A member is also unevaluated if the part of the schema that declares it fails.
    if (keyword !== 'unevaluatedProperties') return !unions.has(instancePath) || !prefixes.has(instancePath);
    const { pointer } = findingOf(error, document);
    const schema = error.schemaPath.slice(0, error.schemaPath.lastIndexOf('/') + 1);
    const isElsewhere = pointers.get(instancePath)?.some(({ schemaPath }) => !schemaPath.startsWith(schema)) ?? false;
    return !isElsewhere && !pointers.has(pointer) && !prefixes.has(pointer);
  });
  const chosen = kept.length > 0 ? kept : told.length > 0 ? told : errors;
  return merge(
    chosen.map((error) => ({
      ...findingOf(error, document),
      union: unions.has(error.instancePath),
      doubtful: error.keyword === 'unevaluatedProperties' && prefixes.has(error.instancePath),
    })),
  );
}

/** Whether an error comes from the Reference Object branch of a union. */
function isReferenceNoise({ keyword, params, schemaPath }: ErrorObject): boolean {
  if (/\/(?:Reference|reference|jsonReference)\//.test(schemaPath)) return true;
  return keyword === 'required' && (params as { missingProperty?: string }).missingProperty === '$ref';
}

function findingOf(
  { instancePath, keyword, params, message = 'is not valid', propertyName }: ErrorObject,
  document: unknown,
): Omit<SchemaFinding, 'doubtful'> {
  const at = (name: string) => `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const given = params as Record<string, unknown>;
  const name = parsePointer(instancePath).at(-1);
  const subject = name === undefined ? 'The document' : /^\d+$/.test(name) ? `Item ${name}` : `"${name}"`;
  if (keyword === 'required')
    return {
      pointer: instancePath,
      on: 'key',
      message: `${subject} is missing the member "${String(given['missingProperty'])}".`,
    };
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const extra = String(given['additionalProperty'] ?? given['unevaluatedProperty']);
    return { pointer: at(extra), on: 'key', message: `The member "${extra}" is not expected here.` };
  }
  if (propertyName !== undefined)
    return { pointer: at(propertyName), on: 'key', message: `The name "${propertyName}" ${message}.` };
  if (keyword === 'type')
    return {
      pointer: instancePath,
      on: 'value',
      message: `${subject} must be ${wordsOf(given['type'])}, not ${typeOf(document, instancePath)}.`,
    };
  if (keyword === 'enum') {
    const allowed = (given['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ');
    return { pointer: instancePath, on: 'value', message: `${subject} must be one of ${allowed}.` };
  }
  if (keyword === 'const')
    return {
      pointer: instancePath,
      on: 'value',
      message: `${subject} must be ${JSON.stringify(given['allowedValue'])}.`,
    };
  return { pointer: instancePath, on: 'value', message: `${subject} ${message}.` };
}

function wordsOf(types: unknown): string {
  return (Array.isArray(types) ? types : [types]).map(String).join(' or ');
}

function typeOf(document: unknown, pointer: string): string {
  let value = document;
  for (const token of parsePointer(pointer)) value = (value as Record<string, unknown>)[token];
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** Merges findings with the same position and message, and those of union branches for one node. */
function merge(findings: (SchemaFinding & { union: boolean })[]): SchemaFinding[] {
  const merged = new Map<string, SchemaFinding & { messages: string[]; union: boolean }>();
  for (const { union, ...finding } of findings) {
    const key = `${finding.on} ${finding.pointer}${union || isChoice(finding.message) ? '' : ` ${finding.message}`}`;
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { ...finding, union, messages: [finding.message] });
    else if (!known.messages.includes(finding.message)) known.messages.push(finding.message);
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

/** Joins the messages of union branches into one, and their allowed values into one list. */
function join(messages: string[]): string {
  const [first] = messages;
  if (first === undefined || messages.length === 1) return first ?? '';
  const lists = messages.map((message) => choice.exec(message)?.[1]);
  if (lists.every((list) => list !== undefined))
    return `${first.slice(0, first.search(choice))} must be one of ${[...new Set(lists.flatMap((list) => list.split(', ')))].join(', ')}.`;
  return `Fix one of these: ${messages.slice(0, 5).join(' ')}`;
}
