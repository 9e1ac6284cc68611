// Pairs of small schemas drawn at random. A table of keywords and edits, so it is long.
import fc from 'fast-check';
import type { Json } from './given.ts';

export type Schema = boolean | Json;

/** Two schemas of JSON Schema 2020-12, with the definitions that they refer to. */
export interface Pair {
  before: Side;
  after: Side;
}

export interface Side {
  root: Schema;
  defs: Record<string, Schema>;
}

export const strings = ['', 'x', 'y', 'xx', 'yyy'];
export const numbers = [-1, 0, 1, 2, 3, 0.5, 2.5];
export const names = ['a', 'b', 'c'];
export const anyValue = fc.constantFrom<unknown>(null, true, false, ...strings.slice(0, 4), 0, 1, 2, 0.5);
export const types = ['string', 'integer', 'number', 'boolean', 'null', 'object', 'array'];
const small = fc.integer({ min: 0, max: 3 });

/** The keywords that a schema of these types is likely to have. */
const scalar: fc.Arbitrary<Schema> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...types).map((type) => ({ type })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...types.filter((type) => type !== 'null')).map((type) => ({ type: [type, 'null'] })),
  },
  {
    weight: 1,
    arbitrary: fc.uniqueArray(fc.constantFrom(...types), { minLength: 2, maxLength: 3 }).map((type) => ({ type })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ minLength: small, maxLength: small, pattern: fc.constantFrom('x', '^y') }, { requiredKeys: [] })
      .filter(({ minLength = 0, maxLength = 3, pattern }) => minLength <= maxLength && !(pattern && maxLength === 0))
      .map((limits) => ({ type: 'string', ...limits })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record(
        {
          type: fc.constantFrom('integer', 'number'),
          minimum: fc.integer({ min: -1, max: 3 }),
          maximum: fc.integer({ min: -1, max: 3 }),
          exclusiveMinimum: fc.integer({ min: -1, max: 2 }),
          exclusiveMaximum: fc.integer({ min: 0, max: 3 }),
          multipleOf: fc.constantFrom(1, 2, 3),
        },
        { requiredKeys: ['type'] },
      )
      // Some number is valid: 4 and -5 or one of those between.
      .filter(
        ({ minimum = -5, maximum = 5, exclusiveMinimum = -5, exclusiveMaximum = 5 }) =>
          Math.max(minimum, exclusiveMinimum) + 3 < Math.min(maximum, exclusiveMaximum),
      )
      .map((limits) => limits as Json),
  },
  {
    weight: 3,
    arbitrary: fc
      .uniqueArray(anyValue, { minLength: 1, maxLength: 3, selector: JSON.stringify })
      .map((all) => ({ enum: all })),
  },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(fc.constantFrom(...strings), { minLength: 1, maxLength: 3 })
      .map((all) => ({ type: 'string', enum: all })),
  },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 2 })
      .map((all) => ({ type: ['string', 'null'], enum: [...all, null] })),
  },
  { weight: 1, arbitrary: anyValue.map((one) => ({ const: one })) },
  { weight: 1, arbitrary: fc.constantFrom<Schema>({}, true, false) },
);

/** Schemas. `deep` ones have properties, items and branches. */
function schemas(given: { deep: boolean; refs: readonly string[] }): fc.Arbitrary<Schema> {
  const { node } = fc.letrec<{ node: Schema; leaf: Schema }>((tie) => {
    const branches = (...more: fc.Arbitrary<Schema>[]) =>
      fc.array(fc.oneof(tie('node'), ...more), { minLength: 1, maxLength: 3 });
    const one = (schema: Schema): Json => (typeof schema === 'boolean' ? {} : schema);
    const refs = given.refs.map((name) => ({ weight: 2, arbitrary: fc.constant<Schema>({ $ref: `#/$defs/${name}` }) }));
    const nullable = fc.constant<Schema>({ type: 'null' });
    const combined = [
      { weight: 5, arbitrary: branches(nullable).map((anyOf) => ({ anyOf })) },
      { weight: 7, arbitrary: branches(nullable).map((oneOf) => ({ oneOf })) },
      { weight: 1, arbitrary: branches().map((allOf) => ({ allOf })) },
      { weight: 1, arbitrary: fc.tuple(tie('node'), tie('leaf')).map(([a, b]) => ({ ...one(b), ...one(a) })) },
      { weight: 1, arbitrary: tie('leaf').map((not) => ({ not })) },
    ];
    const lists = fc.record(
      {
        type: fc.constantFrom<unknown>('array', ['array', 'null']),
        items: tie('node'),
        prefixItems: fc.array(tie('leaf'), { minLength: 1, maxLength: 2 }),
        minItems: fc.integer({ min: 0, max: 2 }),
        maxItems: fc.integer({ min: 0, max: 2 }),
        uniqueItems: fc.boolean(),
        contains: tie('leaf'),
      },
      { requiredKeys: ['type'] },
    );
    // ajv accepts an empty list where both are stated.
    const list = lists.filter((schema) => schema.contains === undefined || schema.prefixItems === undefined);
    const object = fc.record(
      {
        type: fc.constantFrom<unknown>('object', 'object', ['object', 'null']),
        properties: fc.dictionary(fc.constantFrom(...names), tie('node'), { minKeys: 1, maxKeys: 3 }),
        required: fc.subarray(names, { maxLength: 2 }),
        additionalProperties: fc.oneof(fc.boolean(), tie('leaf')),
        patternProperties: fc.dictionary(fc.constantFrom('^a', 'c'), tie('leaf'), { minKeys: 1, maxKeys: 1 }),
        minProperties: fc.integer({ min: 0, max: 2 }),
        maxProperties: fc.integer({ min: 0, max: 2 }),
        dependentRequired: fc.constantFrom({ a: ['b'] }, { b: ['a', 'c'] }),
        propertyNames: fc.constantFrom<Schema>({ maxLength: 1 }, { enum: ['a', 'b'] }),
      },
      { requiredKeys: [] },
    );
    const tagged = fc
      .tuple(fc.constantFrom('x', 'y'), fc.dictionary(fc.constantFrom('b', 'c'), tie('leaf'), { maxKeys: 1 }))
      .map(([tag, more]) => ({ type: 'object', required: ['a'], properties: { a: { const: tag }, ...more } }));
    const others = [
      { weight: 3, arbitrary: object.map((schema) => schema as Json) },
      { weight: 2, arbitrary: list.map((schema) => schema as Json) },
      { weight: 1, arbitrary: tagged },
    ];
    return {
      leaf: scalar,
      node: fc.oneof(
        { maxDepth: given.deep ? 2 : 1, withCrossShrink: true },
        { weight: 6, arbitrary: scalar },
        ...refs,
        ...combined,
        ...(given.deep ? others : []),
      ),
    };
  });
  return node;
}

interface Edit {
  at: number;
  kind: (typeof kinds)[number];
  by: Schema;
  n: number;
}

export const kinds = [
  'replace',
  'add-branch',
  'add-branch',
  'remove-branch',
  'change-kind',
  'any-of',
  'one-of',
  'or-null',
  'or-null',
  'or-other',
  'all-of',
  'merge',
  'remove-keyword',
  'number',
  'number',
  'add-value',
  'remove-value',
  'toggle-null',
  'toggle-type',
  'require',
  'add-property',
  'remove-property',
  'title',
  'title-up',
  'reorder',
  'define',
] as const;

/** Pairs of schemas: mostly one that was edited, and sometimes two that have nothing to do with each other. */
export function pairs({ deep }: { deep: boolean }): fc.Arbitrary<Pair> {
  const schema = schemas({ deep, refs: ['A', 'B'] });
  const flat = schemas({ deep, refs: [] });
  const side = fc.record({ root: schema, defs: fc.record({ A: flat, B: flat }) });
  return fc.oneof(
    { weight: 5, arbitrary: pairsOf(side, schema, { most: 3 }) },
    { weight: 1, arbitrary: fc.record({ before: side, after: side }) },
  );
}

/** Schemas that exclude values, or restrict some of them, with another schema. */
export function restrictions(): fc.Arbitrary<Pair> {
  const schema = schemas({ deep: true, refs: ['A', 'B'] });
  const flat = schemas({ deep: true, refs: [] });
  const root: fc.Arbitrary<Schema> = fc.oneof(
    { weight: 4, arbitrary: schema.map((not) => ({ not })) },
    { weight: 2, arbitrary: fc.tuple(scalar, schema).map(([one, not]) => ({ ...Object(one), not })) },
    { weight: 1, arbitrary: fc.array(schema, { minLength: 2, maxLength: 2 }).map((all) => ({ allOf: all.map((not) => ({ not })) })) }, // prettier-ignore
    // oxlint-disable-next-line unicorn/no-thenable
    { weight: 2, arbitrary: fc.record({ if: schema, then: schema, else: schema }, { requiredKeys: ['if'] }).map((one): Json => one) }, // prettier-ignore
    { weight: 2, arbitrary: fc.dictionary(fc.constantFrom('a', 'b'), schema, { minKeys: 1 }).map((all) => ({ dependentSchemas: all })) }, // prettier-ignore
    { weight: 2, arbitrary: schema.map((contains) => ({ type: 'array', contains })) },
  );
  // Alternatives beside what they restrict.
  const named = (one: fc.Arbitrary<Schema>) =>
    fc.dictionary(fc.constantFrom(...names), one, { minKeys: 1 }).map((properties): Json => ({ properties }));
  const beside = fc
    .tuple(
      named(fc.constant(true)),
      fc.constantFrom('anyOf', 'oneOf'),
      fc.array(named(scalar), { minLength: 2, maxLength: 2 }),
    )
    .map(([one, kind, branches]): Schema => ({ ...one, [kind]: branches }));
  const side = fc.record({ root: fc.oneof(root, beside), defs: fc.record({ A: flat, B: flat }) });
  // Most edits change what is within.
  const some = kinds.filter((kind) => !['or-other', 'replace', 'any-of', 'one-of', 'all-of', 'or-null'].includes(kind));
  return pairsOf(side, schema, { most: 2, some });
}

/** Unions of types and values, some with null, of which every value that matters is among the instances. */
export function unions(): fc.Arbitrary<Pair> {
  const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null');
  const branch: fc.Arbitrary<Schema> = fc.oneof(
    type.map((name) => ({ type: name })),
    fc.uniqueArray(type, { minLength: 2, maxLength: 2 }).map((all) => ({ type: all })),
    fc.uniqueArray(anyValue, { minLength: 1, maxLength: 2, selector: JSON.stringify }).map((all) => ({ enum: all })),
    fc.constant({ $ref: '#/$defs/A' }),
  );
  const branches = fc.array(branch, { minLength: 1, maxLength: 3 });
  const root = fc.oneof(
    branch,
    branches.map((anyOf) => ({ anyOf })),
    branches.map((oneOf) => ({ oneOf })),
  );
  const side = fc.record({
    root,
    defs: type.map((name): Record<string, Schema> => ({ A: { type: name, title: 'A' } })),
  });
  const some = kinds.filter((kind) => /branch|null|type|title|order|-value|^define|^(?:any|one)-of/.test(kind));
  return pairsOf(side, branch, { most: 3, some, places: 5 });
}

/** A side, and what some edits make of it, which put other schemas into it. */
export function pairsOf(
  side: fc.Arbitrary<Side>,
  by: fc.Arbitrary<Schema>,
  { most, some = kinds, places = 30 }: { most: number; some?: readonly (typeof kinds)[number][]; places?: number },
): fc.Arbitrary<Pair> {
  const edit = fc.record({ at: fc.nat(places), kind: fc.constantFrom(...some), by, n: fc.nat(10) });
  return fc
    .tuple(side, fc.array(edit, { minLength: 1, maxLength: most }))
    .map(([before, edits]) => ({ before, after: edits.reduce(editSide, before) }));
}

/** Applies one edit to one of the schemas of a side. */
function editSide(side: Side, edit: Edit): Side {
  const copy = structuredClone(side);
  const holders: [holder: Record<string, Schema>, key: string, isDefinition: boolean][] = [];
  const visit = (holder: Record<string, Schema>, key: string, isDefinition: boolean) => {
    const schema = holder[key]!;
    holders.push([holder, key, isDefinition]);
    if (typeof schema === 'boolean') return;
    for (const keyword of 'items additionalProperties not contains propertyNames if then else unevaluatedItems unevaluatedProperties'.split(
      ' ',
    ))
      // prettier-ignore
      if (Object.hasOwn(schema, keyword)) visit(schema as Record<string, Schema>, keyword, isDefinition);
    for (const keyword of [
      'anyOf',
      'oneOf',
      'allOf',
      'prefixItems',
      'properties',
      'patternProperties',
      'dependentSchemas',
    ])
      if (Object.hasOwn(schema, keyword))
        for (const name of Object.keys(schema[keyword] as object))
          visit(schema[keyword] as Record<string, Schema>, name, isDefinition);
  };
  visit(copy as unknown as Record<string, Schema>, 'root', false);
  for (const name of Object.keys(copy.defs)) visit(copy.defs, name, true);
  const [holder, key, isDefinition] = holders[edit.at % holders.length]!;
  // Definitions refer to nothing, so that nothing refers to itself.
  const by = isDefinition || edit.at % holders.length > 0 ? withoutRefs(edit.by) : edit.by;
  holder[key] = edited(holder[key]!, { ...edit, by }, copy, isDefinition);
  return copy;
}

function withoutRefs(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll(/\{"\$ref":"[^"]+"\}/g, '{"type":"string"}')) as Schema;
}

function edited(schema: Schema, { kind, by, n }: Edit, side: Side, isDefinition: boolean): Schema {
  if (kind === 'replace') return by;
  if (kind === 'any-of') return { anyOf: [schema] };
  if (kind === 'one-of') return { oneOf: [schema] };
  if (kind === 'all-of') return { allOf: [schema] };
  const union = n % 2 === 0 ? 'anyOf' : 'oneOf';
  if (kind === 'or-null') return { [union]: [schema, { type: 'null' }] };
  if (kind === 'or-other') return { [union]: [schema, by] };
  if (typeof schema === 'boolean') return by;
  if (kind === 'define') {
    if (isDefinition || JSON.stringify(schema).includes('$ref')) return schema;
    side.defs['C'] = schema;
    return { $ref: '#/$defs/C' };
  }
  const found = (['oneOf', 'anyOf'] as const).find((key) => Array.isArray(schema[key]));
  const branches = found === undefined ? [] : (schema[found] as Schema[]);
  const keys = Object.keys(schema);
  const key = keys[n % Math.max(keys.length, 1)];
  const nameOf = names[n % names.length]!;
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  switch (kind) {
    case 'add-branch':
      return found === undefined
        ? schema
        : { ...schema, [found]: branches.toSpliced(n % (branches.length + 1), 0, by) };
    case 'remove-branch':
      return found === undefined || branches.length < 2
        ? schema
        : { ...schema, [found]: branches.toSpliced(n % branches.length, 1) };
    case 'change-kind': {
      if (found === undefined) return schema;
      const { [found]: all, ...rest } = schema;
      const other = found === 'oneOf' ? 'anyOf' : 'oneOf';
      return Object.hasOwn(rest, other) ? schema : { ...rest, [other]: all };
    }
    case 'merge':
      return typeof by === 'boolean' ? schema : { ...by, ...schema };
    case 'remove-keyword':
      return key === undefined ? schema : Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
    case 'number': {
      const limits = keys.filter((name) => typeof schema[name] === 'number' && name !== 'const');
      const limit = limits[n % Math.max(limits.length, 1)];
      if (limit === undefined) return schema;
      const moved = (schema[limit] as number) + (n % 2 === 0 ? 1 : -1);
      const least = limit === 'multipleOf' ? 1 : /(?:imum|Imum)$/.test(limit) ? -5 : 0;
      return { ...schema, [limit]: Math.max(least, moved) };
    }
    case 'add-value': {
      const all = schema['enum'] as unknown[] | undefined;
      const more = [null, 'z', 1, true, 'y'][n % 5];
      return all === undefined || all.includes(more) ? schema : { ...schema, enum: [...all, more] };
    }
    case 'remove-value': {
      const all = schema['enum'] as unknown[] | undefined;
      return all === undefined || all.length < 2 ? schema : { ...schema, enum: all.toSpliced(n % all.length, 1) };
    }
    case 'toggle-null':
      return toggleType(schema, 'null');
    case 'toggle-type':
      return toggleType(schema, types[n % types.length]!);
    case 'require': {
      const all = (schema['required'] ?? []) as string[];
      const required = all.includes(nameOf) ? all.filter((name) => name !== nameOf) : [...all, nameOf];
      return { ...schema, required };
    }
    case 'add-property':
      return { ...schema, properties: { ...properties, [nameOf]: by } };
    case 'remove-property': {
      const { [nameOf]: _, ...rest } = properties;
      return { ...schema, properties: rest };
    }
    case 'title':
      return { ...schema, title: ['T', 'U', 'V'][n % 3]! };
    case 'title-up': {
      if (found === undefined) return schema;
      const title = branches.flatMap((branch) => (typeof branch === 'object' ? (branch['title'] ?? []) : []))[0] ?? 'T';
      const rest = branches.map((branch) =>
        typeof branch === 'boolean'
          ? branch
          : Object.fromEntries(Object.entries(branch).filter(([name]) => name !== 'title')),
      );
      return { ...schema, title, [found]: rest };
    }
    case 'reorder':
      return found === undefined ? schema : { ...schema, [found]: branches.toReversed() };
  }
}

function toggleType(schema: Json, type: string): Schema {
  const all = [schema['type'] ?? []].flat() as string[];
  if (all.length === 0) return schema;
  const left = all.includes(type) ? all.filter((name) => name !== type) : [...all, type];
  if (left.length === 0) return schema;
  return { ...schema, type: left.length === 1 ? left[0] : left };
}
