import { isNumeric, nearestMultiple, plus, type Numeric } from '../../model/exact-numbers.ts';
import { own, type JsonObject, isObject } from '../../model/json.ts';
import { dereference, entriesOf, listOf, objectOf, textOf } from '../json-value.ts';
import type { Example } from './example.ts';
import { resolveSchema, type Schemas } from './schemas.ts';

// Depth of optional members, and of those that a valid value needs.
const deepest = { optional: 4, required: 16 };
const maxMembers = { request: 12, response: 40 };
// Schemas that are read for a sample; past these, for required members only. `late`: once the page has no more for samples.
const maxSchemas = { optional: 200, required: 1000, late: 20 };
const maxItems = 12;

/** What a sample is of: a request has what is required, what is simple beside it, and no read-only members. */
type Side = 'request' | 'response';

interface Progress {
  read: number;
  side: Side;
}

/**
 * An example value for a schema: its own example, otherwise one made from its types, with the
 * members and items that a valid value needs. Small for any schema, and smaller once a page has made many.
 * `name`: of the member or parameter that it is for.
 */
export function sampleOf(schemas: Schemas, schema: unknown, side: Side = 'request', name = ''): unknown {
  const before = schemas.samples < 0 ? maxSchemas.required - maxSchemas.late : 0;
  const progress = { read: before, side };
  const value = sample(schemas, schema, 0, progress, name);
  schemas.samples -= progress.read - before;
  return value;
}

function sample(schemas: Schemas, schema: unknown, depth: number, progress: Progress, name = ''): unknown {
  if (!isObject(schema) || progress.read++ > maxSchemas.required || depth > deepest.required) return null;
  const { value, marks, isChosen } = readOf(schemas, schema);
  const given = writtenIn(value);
  if (given !== undefined) return given;
  const type = typeOf(value);
  if (type === 'null') return null;
  if (type === 'array') return itemsOf(schemas, value, depth, progress);
  if (type === 'string') return textSample(value, name);
  if (type === 'integer' || type === 'number') return numberSample(value, type);
  if (type === 'boolean') return true;
  const members = { ...Object.fromEntries(membersOf(schemas, value, depth, progress, isChosen)), ...marks };
  if (Object.keys(members).length > 0 || type === 'object') return members;
  return null;
}

function hasRoom(depth: number, { read }: Progress): boolean {
  return depth < deepest.optional && read < maxSchemas.optional;
}

/**
 * A schema with its first alternative that is not null. `marks`: members that tell which alternative
 * it is. `isChosen`: whether there were others.
 */
function readOf(schemas: Schemas, schema: JsonObject): { value: JsonObject; marks: JsonObject; isChosen: boolean } {
  const read = (one: JsonObject) => resolveSchema(schemas, one, new Set(), true).value;
  let resolved = read(schema);
  const marks: JsonObject = {};
  let isChosen = false;
  for (let hops = 0; hops < 4; hops++) {
    const { oneOf, anyOf, discriminator, ...beside } = resolved;
    const one = listOf(oneOf).find((each) => !isNull(schemas, each));
    const chosen = [one ?? [], anyChosenOf(schemas, listOf(anyOf)) ?? []].flat();
    if (chosen.length === 0) break;
    isChosen = true;
    const { propertyName, mapping } = objectOf(discriminator);
    const reference = textOf(objectOf(chosen[0])['$ref']);
    const name = reference.slice(reference.lastIndexOf('/') + 1);
    const value = entriesOf(mapping).find(([, target]) => target === reference || target === name)?.[0];
    resolved = read({ ...beside, allOf: [...listOf(beside['allOf']), ...chosen] });
    const property = objectOf(own(objectOf(resolved['properties']), textOf(propertyName)));
    if (name !== '' && textOf(propertyName) !== '' && property['enum'] === undefined && property['const'] === undefined)
      marks[textOf(propertyName)] = value ?? name;
  }
  return { value: resolved, marks, isChosen };
}

/** The first alternative that is not null. Of texts one that gives a value, if there is one: it may fit several. */
function anyChosenOf(schemas: Schemas, list: readonly unknown[]): unknown {
  const written = (one: unknown) => writtenIn(dereference(schemas.document, one) ?? {}) ?? null;
  const first = list.find((one) => !isNull(schemas, one));
  const isText = typeOf(dereference(schemas.document, first) ?? {}) === 'string';
  return (isText ? list.slice(0, maxItems).find((one) => typeof written(one) === 'string') : null) ?? first;
}

function isNull({ document }: Schemas, schema: unknown): boolean {
  const { type, enum: values } = dereference(document, schema) ?? {};
  return type === 'null' || (Array.isArray(values) && values.every((value) => value === null));
}

/** The value that the document gives, if it is small and of the schema's type. */
function writtenIn(schema: JsonObject): unknown {
  const values = listOf(schema['enum']);
  const given = [schema['const'], schema['example'], listOf(schema['examples'])[0], schema['default']];
  const isOne = (value: unknown) =>
    value !== null && isSmall(value) && fits(schema, value) && (values.length === 0 || values.includes(value));
  return given.find(isOne) ?? values.find((value) => value !== null && isSmall(value)) ?? values[0];
}

function fits(schema: JsonObject, value: unknown): boolean {
  const type = typeOf(schema);
  if (type === 'array') return Array.isArray(value) && value.length >= Number(schema['minItems'] ?? 0);
  if (type === 'object' || isObject(value))
    return isObject(value) && listOf(schema['required']).every((name) => Object.hasOwn(value, String(name)));
  if (typeof value === 'bigint') return type === undefined || type === 'integer' || type === 'number';
  if (type === 'integer') return Number.isInteger(value);
  return type === undefined || typeof value === type;
}

/** The type of a schema that is not null, or what its keywords say. */
function typeOf(schema: JsonObject): unknown {
  const types = [schema['type']].flat();
  const type = types.find((name) => name !== 'null') ?? types[0];
  if (type !== undefined) return type;
  if (isObject(schema['properties'])) return 'object';
  return isObject(schema['items']) || listOf(schema['prefixItems']).length > 0 ? 'array' : undefined;
}

function itemsOf(schemas: Schemas, schema: JsonObject, depth: number, progress: Progress): unknown[] {
  const first = listOf(schema['prefixItems']).slice(0, maxItems);
  if (first.length > 0) return first.map((item) => sample(schemas, item, depth + 1, progress));
  const least = Math.min(Number(schema['minItems'] ?? 0) || 0, maxItems);
  if (least === 0 && (!hasRoom(depth, progress) || schema['maxItems'] === 0)) return [];
  const one = sample(schemas, schema['items'], depth + 1, progress);
  const values = isObject(schema['items']) ? listOf(readOf(schemas, schema['items']).value['enum']) : [];
  const others = Array.from({ length: Math.max(0, least - 1) }, (_, at) => another(one, at + 1, values));
  return [one, ...others];
}

/** An item beside the first, which is another value where that is easy. */
function another(one: unknown, at: number, values: readonly unknown[]): unknown {
  if (values.length > at) return values[at];
  if (values.length > 0 || typeof one === 'boolean') return one;
  return isNumeric(one) ? plus(one, at) : typeof one === 'string' ? `${one}${at + 1}` : one;
}

/** What may forbid a member that the schema lists. */
const conditions = ['not', 'if', 'dependentRequired', 'dependentSchemas', 'dependencies', 'maxProperties'];

/** Whether an optional member says something in a request: a plain value that is sure to be valid, or the author's own. */
function isSimple(schemas: Schemas, schema: unknown): boolean {
  const read = dereference(schemas.document, schema) ?? {};
  if (read['deprecated'] === true) return false;
  if (isSmall(writtenIn(read)) && writtenIn(read) !== null) return true;
  if (read['pattern'] !== undefined || read['format'] === 'binary') return false;
  return ['string', 'integer', 'number', 'boolean'].includes(String(typeOf(read)));
}

/** `isChosen`: it is one of several alternatives, of which others may have what it does not require. */
function membersOf(
  schemas: Schemas,
  schema: JsonObject,
  depth: number,
  progress: Progress,
  isChosen: boolean,
): [string, unknown][] {
  const { side } = progress;
  const hidden = side === 'request' ? 'readOnly' : 'writeOnly';
  const properties = objectOf(schema['properties']);
  const takesOptional = hasRoom(depth, progress);
  // Hundreds of operations may have a schema of thousands.
  const { all, needed } = schemas.once(schema, `members ${side} ${takesOptional}`, () => {
    const names = new Set(listOf(schema['required']).filter((name) => typeof name === 'string'));
    const isShown = ([name, one]: [string, unknown]) =>
      (takesOptional || names.has(name)) &&
      objectOf(one)[hidden] !== true &&
      dereference(schemas.document, one)?.[hidden] !== true;
    const shown = new Map(entriesOf(properties).filter(isShown));
    const isNeeded = (name: string) => shown.has(name) || !Object.hasOwn(properties, name);
    return { all: shown, needed: new Set([...names].filter(isNeeded).slice(0, 100)) };
  });
  const isStrict = side === 'request' && needed.size > 0;
  const isPlain = !isChosen && conditions.every((keyword) => schema[keyword] === undefined);
  const room = isStrict ? Math.floor(maxMembers.request / (depth + 1)) - needed.size : maxMembers[side];
  const wanted = !takesOptional || (isStrict && !isPlain) ? [] : [...all];
  const others = wanted.filter(([name, one]) => !isStrict || (!needed.has(name) && isSimple(schemas, one)));
  const chosen = new Set([...needed, ...others.slice(0, Math.max(0, room)).map(([name]) => name)]);
  const order = [...all.keys()].filter((name) => chosen.has(name));
  const { additionalProperties: rest } = schema;
  const missing = [...chosen].filter((name) => !all.has(name));
  const inherited = listOf(schema['allOf']).slice(0, maxItems);
  const members = [...order, ...missing].map((name): [string, unknown] => {
    const one = all.get(name) ?? (isObject(rest) ? rest : { type: 'string' });
    return [name, sample(schemas, one, depth + 1, progress, name)];
  });
  // A request with an object of anything has a member, so that its body is not empty.
  const isAny = side === 'request' && depth === 0 && schema['type'] === 'object' && rest !== false && all.size === 0;
  if (members.length === 0 && inherited.length === 0 && (isObject(rest) || isAny) && hasRoom(depth, progress))
    members.push(['key', sample(schemas, isObject(rest) ? rest : { type: 'string' }, depth + 1, progress)]);
  return [...inherited.flatMap((part) => entriesOf(sample(schemas, part, depth + 1, progress))), ...members];
}

function textSample(schema: JsonObject, name: string): string {
  const { format, pattern, minLength, maxLength } = schema;
  const code = format === undefined ? codeSample(schema, name) : undefined;
  if (code !== undefined) return code;
  const usual = own(textSamples, textOf(format));
  const least = typeof minLength === 'number' ? Math.min(minLength, 1000) : 0;
  const matching = usual === undefined ? patternSample(textOf(pattern)) : null;
  if (matching && matching.length >= least) return matching;
  const text = usual ?? 'string';
  const long = text.padEnd(least, text);
  return typeof maxLength === 'number' && maxLength >= 0 && usual === undefined ? long.slice(0, maxLength) : long;
}

/** Codes that everybody knows, by the end of the name that they are for. */
const codes: readonly (readonly [RegExp, readonly string[]])[] = [
  [/country(?:[_-]?code)?$/i, ['DE', 'DEU']],
  [/currency(?:[_-]?code)?$/i, ['EUR']],
  [/lang(?:uage)?(?:[_-]?code)?$/i, ['en', 'eng']],
];

/** The code that a name asks for, if the schema allows it. Of patterns only those for some letters are read. */
function codeSample({ pattern, minLength = 0, maxLength = Infinity }: JsonObject, name: string): string | undefined {
  const form = /^\^?\[(A-Z|a-z|A-Za-z|a-zA-Z)\]\{(\d)\}\$?$/.exec(textOf(pattern));
  if (pattern !== undefined && form === null) return undefined;
  const isRight = ({ length }: string) => form === null || length === Number(form[2]);
  const code = codes
    .find(([words]) => words.test(name))?.[1]
    .find((one) => isRight(one) && one.length >= Number(minLength) && one.length <= Number(maxLength));
  return form?.[1] === 'a-z' ? code?.toLowerCase() : form?.[1] === 'A-Z' ? code?.toUpperCase() : code;
}

/** 1, or the number next to it within the limits. */
function numberSample(
  { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject,
  type: string,
): Numeric {
  const multiple = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : null;
  const step = multiple ?? (type === 'integer' ? 1 : 0.5);
  const least = isNumeric(exclusiveMinimum)
    ? plus(exclusiveMinimum, step)
    : isNumeric(minimum)
      ? plus(minimum, exclusiveMinimum === true ? step : 0)
      : -Infinity;
  const upper = isNumeric(exclusiveMaximum)
    ? plus(exclusiveMaximum, -step)
    : isNumeric(maximum)
      ? plus(maximum, exclusiveMaximum === true ? -step : 0)
      : Infinity;
  const capped = upper < (multiple ?? 1) ? upper : (multiple ?? 1);
  const near = least > capped ? least : capped;
  return multiple === null ? near : nearestMultiple(near, multiple, false);
}

/** The first example that a sample can have: it is here, and short. */
export function smallIn(examples: readonly Example[]): Example | undefined {
  return examples.find(({ value, isElsewhere }) => !isElsewhere && isSmall(value));
}

/** Whether an example is short enough for a sample. */
export function isSmall(value: unknown): boolean {
  let left = 200;
  const visit = (one: unknown, depth: number): boolean => {
    if (typeof one === 'string') return one.length <= 500 && left-- > 0;
    if (typeof one !== 'object' || one === null) return one !== undefined && left-- > 0;
    if (depth >= 8) return false;
    if (Array.isArray(one)) return one.length <= 200 && one.every((child) => visit(child, depth + 1));
    return entriesOf(one).every(([, child]) => visit(child, depth + 1));
  };
  return visit(value, 0);
}

const textSamples: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT15M',
  email: 'someone@example.com',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  uri: 'https://example.com',
  url: 'https://example.com',
  'uri-reference': '/path',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  byte: 'c3RyaW5n',
};

/** The longest pattern that is read, and the longest text that is made of one. */
const longest = 300;

/**
 * A short text that a regular expression matches, as far as it has only characters, classes,
 * groups, alternatives and counts; null for anything else. Runs no expression: a document's may
 * take forever.
 */
function patternSample(pattern: string): string | null {
  if (pattern.length > longest) return null;
  let at = 0;

  function alternatives(): string | null {
    let first: string | null | undefined;
    do {
      if (pattern[at] === '|') at++;
      const text = sequence();
      first ??= text;
      if (text === null) return null;
    } while (pattern[at] === '|');
    return first;
  }

  function sequence(): string | null {
    let text = '';
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      const one = atom();
      if (one === null || text.length > longest) return null;
      text += one.repeat(Math.min(countOf(), longest));
    }
    return text;
  }

  function atom(): string | null {
    const character = pattern[at++]!;
    if (character === '^' || character === '$') return '';
    if (character === '.') return 'a';
    if (character === '\\') return escaped();
    if (character === '[') return fromClass();
    if (character !== '(') return '*+?{'.includes(character) ? null : character;
    if (pattern.startsWith('?:', at)) at += 2;
    else if (pattern[at] === '?') return null;
    const inside = alternatives();
    return pattern[at++] === ')' ? inside : null;
  }

  function escaped(): string | null {
    const character = pattern[at++] ?? '';
    return classes[character] ?? (/^[^\p{L}\p{N}]$/u.test(character) ? character : null);
  }

  function fromClass(): string | null {
    const end = /^\^?\]?(?:[^\]\\]|\\.)*/s.exec(pattern.slice(at))![0].length + at;
    const start = at;
    at = end + 1;
    if (end >= pattern.length || pattern[start] === '^') return null;
    const next = start + 1;
    return pattern[start] === '\\' ? (classes[pattern[next]!] ?? pattern[next]!) : pattern[start]!;
  }

  function countOf(): number {
    const [count = ''] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(pattern.slice(at)) ?? [];
    at += count.length;
    if (count.startsWith('?') || /^\{0(?:,0)?\}/.test(count)) return 0;
    return Math.max(1, Number(/\d+/.exec(count)?.[0] ?? 1));
  }

  const text = alternatives();
  return at < pattern.length ? null : text;
}

const classes: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ' };
