import { entriesOf, isObject, listOf, textOf } from '../json-value.ts';
import { dereference } from '../local-reference.ts';
import type { Schemas } from './schemas.ts';

const deepest = 4;
const mostMembers = 12;
const mostSchemas = 200;

/** How many more schemas to read. */
interface Progress {
  left: number;
}

/**
 * An example value for a schema: its own example, otherwise one made from its types. Small for any
 * schema.
 */
export function sampleOf(schemas: Schemas, schema: unknown): unknown {
  return sample(schemas, schema, 0, { left: mostSchemas });
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
  if (type === 'array') return depth >= deepest ? [] : [sample(schemas, found['items'], depth + 1, progress)];
  if (type === 'string') return textSamples[textOf(found['format'])] ?? 'string';
  if (type === 'integer' || type === 'number') return typeof found['minimum'] === 'number' ? found['minimum'] : 1;
  if (type === 'boolean') return true;
  const members = membersOf(schemas, found, depth, progress);
  return members.length === 0 && type !== 'object' ? null : Object.fromEntries(members);
}

function membersOf(
  schemas: Schemas,
  schema: Record<string, unknown>,
  depth: number,
  progress: Progress,
): [string, unknown][] {
  if (depth >= deepest) return [];
  const inherited = listOf(schema['allOf'])
    .slice(0, mostMembers)
    .flatMap((part) => Object.entries(objectSample(schemas, part, depth + 1, progress)));
  const required = new Set(listOf(schema['required']));
  const writable = entriesOf(schema['properties']).filter(([, one]) => !isObject(one) || one['readOnly'] !== true);
  const needed = writable.filter(([name]) => required.has(name));
  const own = (needed.length > 0 ? needed : writable).slice(0, mostMembers);
  return [
    ...inherited,
    ...own.map(([name, one]): [string, unknown] => [name, sample(schemas, one, depth + 1, progress)]),
  ];
}

function objectSample(schemas: Schemas, schema: unknown, depth: number, progress: Progress): Record<string, unknown> {
  const value = sample(schemas, schema, depth, progress);
  return isObject(value) ? value : {};
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
