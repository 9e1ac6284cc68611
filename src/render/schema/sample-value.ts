import { entriesOf, isObject, listOf, objectOf, textOf } from '../json-value.ts';
import { dereference } from '../local-reference.ts';
import type { Schemas } from './schemas.ts';

const deepest = 4;
const maxMembers = { request: 12, response: 40 };
const maxSchemas = 200;

/** What a sample is of: a request has what is required and no read-only members. */
type Side = 'request' | 'response';

/** How many more schemas to read. */
interface Progress {
  left: number;
  side: Side;
}

/**
 * An example value for a schema: its own example, otherwise one made from its types. Small for any
 * schema.
 */
export function sampleOf(schemas: Schemas, schema: unknown, side: Side = 'request'): unknown {
  return sample(schemas, schema, 0, { left: maxSchemas, side });
}

function sample(schemas: Schemas, schema: unknown, depth: number, progress: Progress): unknown {
  const found = progress.left-- > 0 ? dereference(schemas.document, schema) : null;
  if (found === null) return null;
  for (const key of ['example', 'default', 'const']) if (isSmall(found[key])) return found[key];
  for (const key of ['examples', 'enum']) {
    const [first] = listOf(found[key]);
    if (isSmall(first)) return first;
  }
  const [alternative] = [...listOf(found['oneOf']), ...listOf(found['anyOf'])];
  if (alternative !== undefined && found['properties'] === undefined)
    return depth >= deepest ? null : sample(schemas, alternative, depth + 1, progress);
  const type = [found['type']].flat().find((name) => name !== 'null');
  const first = listOf(found['prefixItems']).slice(0, 12);
  if (type === 'array' || (type === undefined && (first.length > 0 || isObject(found['items'])))) {
    if (depth >= deepest) return [];
    const items = first.length > 0 ? first : [found['items']];
    return items.map((item) => sample(schemas, item, depth + 1, progress));
  }
  if (type === 'string') return textSample(found);
  if (type === 'integer' || type === 'number') return numberSample(found, type);
  if (type === 'boolean') return true;
  const members = membersOf(schemas, found, depth, progress);
  if (members.length > 0) return Object.fromEntries(members);
  const { additionalProperties: others } = found;
  if (isObject(others) && depth < deepest) return { key: sample(schemas, others, depth + 1, progress) };
  return type === 'object' ? {} : null;
}

function membersOf(
  schemas: Schemas,
  schema: Record<string, unknown>,
  depth: number,
  progress: Progress,
): [string, unknown][] {
  if (depth >= deepest) return [];
  const inherited = listOf(schema['allOf'])
    .slice(0, 12)
    .flatMap((part) => Object.entries(objectSample(schemas, part, depth + 1, progress)));
  const required = new Set(listOf(schema['required']));
  const { side } = progress;
  const hidden = side === 'request' ? 'readOnly' : 'writeOnly';
  const all = entriesOf(schema['properties']).filter(
    ([, one]) => objectOf(one)[hidden] !== true && dereference(schemas.document, one)?.[hidden] !== true,
  );
  const needed = all.filter(([name]) => required.has(name));
  const own = (side === 'request' && needed.length > 0 ? needed : all).slice(0, maxMembers[side]);
  return [
    ...inherited,
    ...own.map(([name, one]): [string, unknown] => [name, sample(schemas, one, depth + 1, progress)]),
  ];
}

function objectSample(schemas: Schemas, schema: unknown, depth: number, progress: Progress): Record<string, unknown> {
  const value = sample(schemas, schema, depth, progress);
  return isObject(value) ? value : {};
}

function textSample({ format, minLength, maxLength }: Record<string, unknown>): string {
  const known = Object.hasOwn(textSamples, textOf(format)) ? textSamples[textOf(format)] : undefined;
  const text = known ?? 'string';
  const least = typeof minLength === 'number' ? Math.min(minLength, 100) : 0;
  const long = text.padEnd(least, text);
  return typeof maxLength === 'number' && maxLength >= 0 && known === undefined ? long.slice(0, maxLength) : long;
}

/** 1, or the number next to it within the limits. */
function numberSample(
  { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: Record<string, unknown>,
  type: string,
): number {
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : type === 'integer' ? 1 : 0.5;
  const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
  if (isNumber(exclusiveMinimum)) return exclusiveMinimum + step;
  if (isNumber(minimum)) return exclusiveMinimum === true ? minimum + step : minimum;
  if (isNumber(exclusiveMaximum) && exclusiveMaximum <= 1) return exclusiveMaximum - step;
  if (isNumber(maximum) && maximum < 1) return exclusiveMaximum === true ? maximum - step : maximum;
  return isNumber(multipleOf) && multipleOf > 0 ? multipleOf : 1;
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
  email: 'someone@example.com',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  uri: 'https://example.com',
  url: 'https://example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};
