import type { ErrorObject } from 'ajv/dist/2020.js';
import { closest } from '../../model/errors.ts';
import { resolveReference, type Schema } from './api-description.ts';
import { formats } from './string-formats.ts';

/** One deviation from the description (an extension member, RFC 9457 §3). */
export interface Fault {
  /** JSON Pointer into the body. */
  pointer?: string;
  /** Name of a parameter. */
  parameter?: string;
  /** Follows the place: "is missing", "must be …". */
  detail: string;
}

/** Access to the branches of `oneOf` and `anyOf`. */
export interface Alternatives {
  document: Schema;
  /**
   * Validates the value against one branch: the one at `index` in the `oneOf` or `anyOf` of this
   * schema.
   */
  validate(parent: Schema, keyword: string, index: number, value: unknown): readonly ErrorObject[];
}

/**
 * Explains the errors of ajv (with `verbose`). Of `oneOf` and `anyOf` it explains only the branch
 * that the client meant: the one with the value's type and fixed members (`state: deprecated`).
 * `base`: the pointer of the value.
 */
export function explainErrors(errors: readonly ErrorObject[], alternatives: Alternatives, base = ''): Fault[] {
  const faults: Fault[] = [];
  for (const error of errors) {
    const pointer = base + error.instancePath;
    if (error.keyword !== 'oneOf' && error.keyword !== 'anyOf') {
      faults.push(explainError(error, pointer));
      continue;
    }
    // Leave out ajv's earlier errors of each branch.
    const others = faults.filter((fault) => fault.pointer !== pointer && !fault.pointer?.startsWith(`${pointer}/`));
    faults.splice(0, Infinity, ...others, ...explainAlternatives(error, alternatives, pointer));
  }
  const unique = new Map(faults.map((fault) => [JSON.stringify(fault), fault]));
  return [...unique.values()];
}

function explainAlternatives(error: ErrorObject, alternatives: Alternatives, pointer: string): Fault[] {
  const { document } = alternatives;
  const branches = (error.schema as Schema[]).map((branch) => resolveReference(document, branch) as Schema);
  const meant = branches.flatMap((branch, index) => (isOfBranch(branch, error.data) ? [index] : []));
  const explained = meant.map((index) => {
    const fault = alternatives.validate(error.parentSchema as Schema, error.keyword, index, error.data);
    return explainErrors(fault, alternatives, pointer);
  });
  const [fewest] = explained.toSorted((a, b) => a.length - b.length);
  if (fewest !== undefined && fewest.length > 0) return fewest;
  return [
    explainTag(branches, error.data, pointer) ?? { pointer, detail: `must be ${anyOf(branches.flatMap(typesOf))}` },
  ];
}

/** Whether the value has the branch's type and fixed members. */
function isOfBranch(branch: Schema, value: unknown): boolean {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isOfType = branch['type'] === undefined || [branch['type']].flat().includes(type);
  return isOfType && tagsOf(branch).every(([name, allowed]) => allowed.includes((value as Schema)[name]));
}

/** The members of an object with a fixed set of values. */
function tagsOf({ properties = {} }: Schema): [string, unknown[]][] {
  return Object.entries(properties as Record<string, Schema>).flatMap(([name, schema]): [string, unknown[]][] => {
    const allowed = 'const' in schema ? [schema['const']] : (schema['enum'] as unknown[] | undefined);
    return allowed === undefined ? [] : [[name, allowed]];
  });
}

/**
 * Explains the member that distinguishes the branches; null if there is none, or no value of it
 * would be valid.
 */
function explainTag(branches: readonly Schema[], value: unknown, pointer: string): Fault | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const [first, ...others] = branches.map(tagsOf);
  const tag = first?.find(([name]) => others.every((tags) => tags.some(([other]) => other === name)))?.[0];
  if (tag === undefined) return null;
  const allowed = [first!, ...others].flatMap((tags) => tags.find(([name]) => name === tag)![1]);
  const detail = `must be ${anyOf(allowed.map((each) => JSON.stringify(each)))}`;
  return at(pointer, tag, Object.hasOwn(value, tag) ? detail : `is missing; it ${detail}`);
}

const types: Record<string, string> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function typesOf({ type }: Schema): string[] {
  return [type].flat().map((name) => types[name as string]!);
}

function explainError({ keyword, params, message, parentSchema, data }: ErrorObject, pointer: string): Fault {
  const { format, properties } = parentSchema as { format?: string; properties?: object };
  const names =
    typeof data === 'string' && format !== undefined && Object.hasOwn(formats, format) ? formats[format]! : null;
  if (names !== null) return { pointer, detail: names.explain(data as string) };
  if (keyword === 'type') return { pointer, detail: `must be ${anyOf(typesOf(parentSchema as Schema))}` };
  if (keyword === 'required') return at(pointer, params['missingProperty'] as string, 'is missing');
  if (keyword === 'additionalProperties') {
    const name = params['additionalProperty'] as string;
    const hint = closest(name.slice(0, 100), Object.keys(properties ?? {})).replace(/^ (.*)\?$/, '. $1?');
    return at(pointer, name, `is not a member of this object${hint}`);
  }
  if (keyword === 'enum') {
    const allowed = (params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value));
    return { pointer, detail: `must be ${anyOf(allowed)}` };
  }
  if (keyword === 'const') return { pointer, detail: `must be ${JSON.stringify(params['allowedValue'])}` };
  return { pointer, detail: message ?? keyword };
}

/** `a, b or c`. */
function anyOf(texts: readonly string[]): string {
  const unique = [...new Set(texts)];
  return unique.length < 2 ? unique.join() : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`;
}

function at(path: string, name: string, detail: string): Fault {
  return { pointer: `${path}/${name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`, detail };
}
