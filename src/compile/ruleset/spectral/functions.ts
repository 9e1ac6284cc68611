import { someOf } from '../../../model/errors.ts';
import { isObject, typeNameOf, type JsonObject } from '../../../model/json.ts';
import { listOf } from '../../../render/json-value.ts';
import type { Check, Context, CoreFunction, Failure, Tools } from './core-function.ts';
import { joinPointer } from '../../../model/pointer.ts';
import { pointerOf, type Graph, type Node } from './graph.ts';
import { type Budget, compilePattern, type Matches, compileRegex } from './pattern.ts';
import { createSchemaCheck } from './create-ajv.ts';

/** Creates the tools that functions share. Without a budget: for checking only the ruleset. */
export function createTools(budget?: Budget): Tools {
  const patterns = new Map<string, Matches>();
  return {
    budget,
    pattern(written) {
      const matches = patterns.getOrInsertComputed(written, () => compilePattern(written).matches);
      return (text) => matches(text, budget);
    },
    schema: createSchemaCheck(budget),
  };
}

const fails = (is: boolean, message: string): Failure[] => (is ? [{ message }] : []);

function demand(what: string, holds: (value: unknown) => boolean): CoreFunction {
  return () =>
    (value, { subject }) =>
      fails(!holds(value), `${subject}must be ${what}`);
}

/** The core functions of Spectral 6. */
export const coreFunctions: Readonly<Record<string, CoreFunction>> = {
  truthy: demand('truthy', Boolean),
  falsy: demand('falsy', (value) => !value),
  defined: demand('defined', (value) => value !== undefined),
  undefined: demand('undefined', (value) => value === undefined),
  pattern(options, tools) {
    const rules = ([true, false] as const).flatMap((isWanted) => {
      const written = options[isWanted ? 'match' : 'notMatch'];
      if (typeof written !== 'string') return [];
      const says = `must ${isWanted ? '' : 'not '}match the pattern ${printValue(written)}`;
      return [{ isWanted, matches: tools.pattern(written), says }];
    });
    return (value) =>
      typeof value !== 'string'
        ? []
        : rules.flatMap(({ isWanted, matches, says }) =>
            fails(matches(value) !== isWanted, `${printValue(value)} ${says}`),
          );
  },
  casing(options, { budget }) {
    const isCased = caseCheck(options);
    return (value) =>
      typeof value === 'string' && value !== ''
        ? fails(!isCased(value, budget), `must be ${String(options['type'])} case`)
        : [];
  },
  enumeration: ({ values }) => {
    const allowed = listOf(values);
    const list = someOf(allowed.map(printValue));
    return (value) =>
      value === undefined || (typeof value === 'object' && value !== null) || allowed.includes(value)
        ? []
        : [{ message: `${printValue(value)} must be equal to one of the allowed values: ${list}` }];
  },
  length: ({ min, max }) => {
    return (value, { subject }) => {
      const size = sizeOf(value);
      if (size === null) return [];
      return [
        ...fails(typeof min === 'number' && size < min, `${subject}must be longer than ${String(min)}`),
        ...fails(typeof max === 'number' && size > max, `${subject}must be shorter than ${String(max)}`),
      ];
    };
  },
  xor: ({ properties }) => choice(properties, true),
  or: ({ properties }) => choice(properties, false),
  alphabetical: (options) => (value, context) => checkOrder(value, options['keyedBy'], context),
  typedEnum: () => checkTypedEnum,
  schema: (options, tools) => {
    const check = tools.schema(options);
    return (value, { graph, subject }) =>
      value === undefined ? [{ message: `${subject}must exist` }] : check(graph.resolved(value), subject);
  },
  unreferencedReusableObject: ({ reusableObjectsLocation: location }) => {
    const base = String(location).replace(/^#/, '');
    return (value, { graph }) => unreferenced(value, base, graph);
  },
};

/** The members of a map of reusable objects that nothing references. */
export function unreferenced(value: unknown, base: string, graph: Graph): Failure[] {
  if (!isObject(value)) return [];
  const used = graph.referenced();
  return Object.keys(value)
    .filter((name) => !used.has(joinPointer(base, name)))
    .map((name) => ({ message: 'Potential orphaned reusable object has been detected', keys: [name] }));
}

/** A value in a message: texts in quotes, containers by their kind. */
export function printValue(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'Array[]' : 'Object{}';
  return JSON.stringify(value);
}

function sizeOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : null;
}

function choice(properties: unknown, isExclusive: boolean): Check {
  const names = listOf(properties).map(String);
  return (value) => {
    if (!isObject(value) || names.length < 2) return [];
    const present = Object.keys(value).filter((key) => names.includes(key));
    if (present.length === 0) {
      const shown = names.length > 4 ? names.slice(0, 3) : names;
      const more = names.length > 4 ? `" or ${names.length - 3} other properties` : '"';
      return [{ message: `At least one of "${shown.join('" or "')}${more} must be defined` }];
    }
    return fails(isExclusive && present.length > 1, `Just one of "${present.join('" and "')}" must be defined`);
  };
}

function checkOrder(value: unknown, keyedBy: unknown, { graph, node, subject }: Context): Failure[] {
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  const listed: unknown[] = isList ? value.map(graph.follow) : keysAsWritten(value, node);
  if (listed.length < 2) return [];
  if (keyedBy !== undefined && !listed.every(isObject)) return [{ message: `${subject}must be an object` }];
  const items = keyedBy === undefined ? listed : listed.map((item) => (item as JsonObject)[String(keyedBy)]);
  if (!items.every((item) => typeof item === 'string' || typeof item === 'number'))
    return [{ message: `${subject}must be one of the allowed types: number, string` }];
  const at = items.findIndex((item, index) => index > 0 && compareItems(items[index - 1]!, item) >= 1) - 1;
  if (at < 0) return [];
  if (keyedBy !== undefined) return [{ message: 'properties must follow the alphabetical order' }];
  const message = `${printValue(items[at])} must be placed after ${printValue(items[at + 1])}`;
  return [{ message, keys: [isList ? at : items[at]!] }];
}

/** The keys in the order of the text: objects list those that are numbers first. */
function keysAsWritten(value: object, { place }: Node): string[] {
  const keys = Object.keys(value);
  if (!keys.some((key) => /^\d+$/.test(key))) return keys;
  const base = pointerOf(place);
  const places = new Map(keys.map((key) => [key, place.file.locate(joinPointer(base, key), 'key')]));
  return keys.sort((a, b) => {
    const [one, other] = [places.get(a)!, places.get(b)!];
    return one.line - other.line || one.column - other.column;
  });
}

/** Made when it is needed: a startup snapshot cannot hold one. */
let collator: Intl.Collator | undefined;

function compareItems(a: string | number, b: string | number): number {
  if ((typeof a === 'number' || isNumeric(a)) && (typeof b === 'number' || isNumeric(b)))
    return Math.sign(Number(a) - Number(b));
  return typeof a === 'string' && typeof b === 'string' ? (collator ??= new Intl.Collator('en')).compare(a, b) : 0;
}

function isNumeric(text: string): boolean {
  return !Number.isNaN(Number(text));
}

function checkTypedEnum(value: unknown, { formats }: Context): Failure[] {
  if (!isObject(value) || !Array.isArray(value['enum'])) return [];
  const declared = value['type'];
  const types: unknown[] = Array.isArray(declared) ? declared : [declared];
  if (!types.every((type) => typeof type === 'string') || declared === undefined) return [];
  const isNullable =
    (value['nullable'] === true && formats.has('oas3_0')) || (value['x-nullable'] === true && formats.has('oas2'));
  const allowed = new Set(isNullable ? [...types, 'null'] : types);
  return value['enum'].flatMap((item: unknown, at) => {
    const isFine = allowed.has(typeNameOf(item)) || (allowed.has('integer') && Number.isInteger(item));
    const message = `Enum value ${printValue(item)} must be "${[...allowed].join(',')}".`;
    return isFine ? [] : [{ message, keys: ['enum', at] }];
  });
}

const cases: Readonly<Record<string, (digits: string) => string>> = {
  flat: (d) => `[a-z][a-z${d}]*`,
  camel: (d) => `[a-z][a-z${d}]*(?:[A-Z${d}](?:[a-z${d}]+|$))*`,
  pascal: (d) => `[A-Z][a-z${d}]*(?:[A-Z${d}](?:[a-z${d}]+|$))*`,
  kebab: (d) => `[a-z][a-z${d}]*(?:-[a-z${d}]+)*`,
  cobol: (d) => `[A-Z][A-Z${d}]*(?:-[A-Z${d}]+)*`,
  snake: (d) => `[a-z][a-z${d}]*(?:_[a-z${d}]+)*`,
  macro: (d) => `[A-Z][A-Z${d}]*(?:_[A-Z${d}]+)*`,
};

function caseCheck(options: Readonly<JsonObject>): Matches {
  const word = (cases[String(options['type'])] ?? cases['flat']!)(options['disallowDigits'] === true ? '' : '0-9');
  const separator = (options['separator'] ?? {}) as { char?: string; allowLeading?: boolean };
  if (separator.char === undefined) return compileRegex(`^${word}$`, '').matches;
  const between = `[${separator.char.replace(/[\\\]^-]/g, String.raw`\$&`)}]`;
  const { matches } = compileRegex(
    `^${separator.allowLeading === true ? `${between}?` : ''}${word}(?:${between}${word})*$`,
    '',
  );
  return (text, budget) => (separator.allowLeading === true && text === separator.char) || matches(text, budget);
}
