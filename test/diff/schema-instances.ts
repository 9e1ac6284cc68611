// Values that are interesting for a pair of schemas: those that they are about, and some of all types.
import { oracleOf } from './schema-oracle.ts';
import { numbers, strings, type Pair, type Schema, type Side } from './schema-pairs.ts';

const scalars: unknown[] = [null, true, false, ...strings, 'z', 'xy', 'yx', 'ab', ...numbers, -2, -3, -6, 4, 1.5, 6];
const few: unknown[] = [null, true, '', 'x', 'y', 'xx', 0, 1, 2, 0.5, [], {}];
const names = ['a', 'b', 'c', 'd', 'ab'];
/** Values of one schema. More would take seconds. */
const most = 150;

/** Values at the limits of both schemas, of their enums, and of all types. */
export function instancesFor(pair: Pair): unknown[] {
  const { before, after } = pair;
  const drawn = [...valuesOf(before.root, before, 3), ...valuesOf(after.root, after, 3)];
  const objects = mixed(drawn.filter(isRecord), pair);
  return [
    ...scalars,
    {},
    [],
    ...scalars.map((one) => [one]),
    ...names.map((name) => ({ [name]: 1 })),
    ...drawn,
    ...objects,
  ];
}

/** Values that a schema may be about, whether or not they are valid. */
function valuesOf(schema: Schema, side: Side, depth: number): unknown[] {
  if (typeof schema === 'boolean') return few.slice(0, 4);
  const { $ref, enum: listed, const: constant } = schema;
  const below = (one: unknown) => (depth === 0 ? few : valuesOf(one as Schema, side, depth - 1));
  const found: unknown[] = [];
  if (typeof $ref === 'string') found.push(...valuesOf(side.defs[$ref.slice('#/$defs/'.length)]!, side, depth));
  if (Array.isArray(listed)) found.push(...(listed as unknown[]));
  if (constant !== undefined) found.push(constant);
  const parts = ['anyOf', 'oneOf', 'allOf', 'if', 'then', 'else'].flatMap((key) => (schema[key] ?? []) as Schema[]);
  parts.push(...Object.values((schema['dependentSchemas'] ?? {}) as Record<string, Schema>));
  const drawn = parts.map((part) => valuesOf(part, side, depth));
  found.push(...drawn.flat(), ...(schema['not'] === undefined ? [] : valuesOf(schema['not'] as Schema, side, depth)));
  const text = JSON.stringify(schema);
  if (/"(?:items|prefixItems|contains|minItems|maxItems|array)"/.test(text)) found.push(...listsOf(schema, below));
  if (/"(?:object|required|[a-z]*properties|propertyNames|dependent[a-z]*)"/i.test(text))
    found.push(...objectsOf(schema, below));
  const objects = [found, ...drawn].flat().filter(isRecord);
  for (const [at, one] of objects.slice(0, 12).entries()) found.push({ ...one, ...objects.at(-1 - at)! });
  return sampleOf([...found, ...few], most);
}

/**
 * Objects whose members come from any of these: what one alternative allows beside what another one does. All of them, with
 * one value of each kind that the schemas of a member tell apart, where these are not many.
 */
function mixed(objects: readonly Record<string, unknown>[], { before, after }: Pair): object[] {
  const members = Map.groupBy(
    objects.flatMap((one) => Object.entries(one)),
    ([name]) => name,
  );
  const described = [before, after].flatMap((side) =>
    alternativesOf(side.root).flatMap((one) =>
      Object.entries((one['properties'] ?? {}) as Record<string, Schema>).map(([name, root]) => ({
        name,
        oracle: oracleOf({ root, defs: side.defs }),
      })),
    ),
  );
  const pools = [...members].flatMap(([name, all]) => {
    const oracles = described.filter((one) => one.name === name).map(({ oracle }) => oracle);
    const kindOf = (value: unknown) => oracles.map(({ accepts }) => Number(accepts(value))).join('');
    return oracles.length === 0
      ? []
      : [
          [
            undefined,
            ...new Map(
              [...scalars.map((one) => [name, one] as const), ...all].map((one) => [kindOf(one[1]), one]),
            ).values(),
          ],
        ];
  });
  const count = pools.reduce((product, pool) => product * pool.length, 1);
  return Array.from({ length: Math.min(count, 2000) }, (_, at) => {
    let left = at;
    return Object.fromEntries(
      pools.flatMap((pool) => {
        const one = pool[left % pool.length];
        left = Math.floor(left / pool.length);
        return one === undefined ? [] : [one];
      }),
    );
  });
}

/** A schema and its alternatives, if it has some. */
function alternativesOf(root: Schema): Record<string, unknown>[] {
  if (typeof root === 'boolean') return [];
  const branches = ['anyOf', 'oneOf'].flatMap((key) => (root[key] ?? []) as Schema[]);
  return branches.length === 0 ? [] : [root, ...branches.filter((one) => typeof one !== 'boolean')];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listsOf(schema: Record<string, unknown>, below: (schema: unknown) => unknown[]): unknown[][] {
  const { items, contains, prefixItems = [] } = schema;
  const pool = sampleOf([items, contains].flatMap((one) => (one === undefined ? [] : below(one))).concat(few), 14);
  const first = (prefixItems as unknown[]).map((one) => sampleOf(below(one), 6));
  const lists: unknown[][] = [[], ...pool.map((one) => [one])];
  for (const [at, one] of pool.entries())
    for (const other of [one, pool[(at + 1) % pool.length], pool[(at + 5) % pool.length]])
      lists.push([one, other], [one, other, 'z']);
  for (let at = 0; at < 6 && first.length > 0; at++) {
    const start = first.map((all) => all[at % all.length]);
    lists.push(start, [...start, pool[at]], start.slice(0, 1));
  }
  return lists;
}

function objectsOf(schema: Record<string, unknown>, below: (schema: unknown) => unknown[]): object[] {
  const { properties, required, additionalProperties = true } = schema;
  const drawn = new Map<string, unknown[]>();
  for (const [name, one] of Object.entries((properties ?? {}) as object)) drawn.set(name, sampleOf(below(one), 12));
  const patterns = Object.values((schema['patternProperties'] ?? {}) as object).flatMap(below);
  const others = sampleOf([...below(additionalProperties), ...patterns, ...few], 12);
  for (const name of [...((required ?? []) as string[]), ...names]) if (!drawn.has(name)) drawn.set(name, others);
  const objects: object[] = [{}];
  const stated = [...drawn.keys()].filter((name) => !names.slice(3).includes(name));
  const sets = [stated, (required ?? []) as string[], ...stated.map((name) => [name])];
  for (const set of sets)
    for (let at = 0; at < 8; at++) {
      const base = Object.fromEntries(
        set.map((name, by) => [name, drawn.get(name)![(at * (by + 1)) % drawn.get(name)!.length]]),
      );
      objects.push(base);
      for (const name of at < 3 ? drawn.keys() : [])
        objects.push(
          { ...base, [name]: drawn.get(name)![at] },
          Object.fromEntries(Object.entries(base).filter(([key]) => key !== name)),
        );
    }
  return objects;
}

/** Some of a list, evenly. */
function sampleOf<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)]!);
}
