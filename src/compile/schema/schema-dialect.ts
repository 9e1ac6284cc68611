export type DialectName = 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';

/** How the drafts of JSON Schema differ in structure and references. */
export interface Dialect {
  name: DialectName;
  /** The official meta-schema. */
  uri: string;
  idKeyword: 'id' | '$id';
  /** The keyword that embedded schemas are put under. */
  definitionsKeyword: 'definitions' | '$defs';
  /**
   * Up to draft-07 every keyword beside `$ref` is ignored (draft-wright-json-schema-01 §8,
   * draft-handrews-json-schema-01 §8.3).
   */
  refStandsAlone: boolean;
  /** Whether anchors are written as `#name` in the id keyword; later drafts have `$anchor`. */
  anchorsInId: boolean;
}

const old = { definitionsKeyword: 'definitions', refStandsAlone: true, anchorsInId: true } as const;
const recent = {
  idKeyword: '$id',
  definitionsKeyword: '$defs',
  refStandsAlone: false,
  anchorsInId: false,
} as const;

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  'draft-04': { name: 'draft-04', uri: 'http://json-schema.org/draft-04/schema', idKeyword: 'id', ...old },
  'draft-06': { name: 'draft-06', uri: 'http://json-schema.org/draft-06/schema', idKeyword: '$id', ...old },
  'draft-07': { name: 'draft-07', uri: 'http://json-schema.org/draft-07/schema', idKeyword: '$id', ...old },
  '2019-09': { name: '2019-09', uri: 'https://json-schema.org/draft/2019-09/schema', ...recent },
  '2020-12': { name: '2020-12', uri: 'https://json-schema.org/draft/2020-12/schema', ...recent },
};

/**
 * The dialect for a `$schema`, with `http` or `https` and with or without an empty fragment, or
 * null.
 */
export function dialectOf(uri: string): Dialect | null {
  const bare = comparable(uri);
  return Object.values(dialects).find((dialect) => comparable(dialect.uri) === bare) ?? null;
}

function comparable(uri: string): string {
  return uri.replace(/^https?:/i, '').replace(/#$/, '');
}

type Shape = 'schema' | 'list' | 'map' | 'schema-or-list';

/** The keywords that contain schemas, with the dialects that have them. */
const applicators: readonly [keyword: string, shape: Shape, since: DialectName, until?: DialectName][] = [
  ['definitions', 'map', 'draft-04'],
  ['properties', 'map', 'draft-04'],
  ['patternProperties', 'map', 'draft-04'],
  ['dependencies', 'map', 'draft-04'],
  ['additionalProperties', 'schema', 'draft-04'],
  ['additionalItems', 'schema', 'draft-04', '2019-09'],
  ['items', 'schema-or-list', 'draft-04'],
  ['allOf', 'list', 'draft-04'],
  ['anyOf', 'list', 'draft-04'],
  ['oneOf', 'list', 'draft-04'],
  ['not', 'schema', 'draft-04'],
  ['contains', 'schema', 'draft-06'],
  ['propertyNames', 'schema', 'draft-06'],
  ['if', 'schema', 'draft-07'],
  ['then', 'schema', 'draft-07'],
  ['else', 'schema', 'draft-07'],
  ['$defs', 'map', '2019-09'],
  ['dependentSchemas', 'map', '2019-09'],
  ['unevaluatedItems', 'schema', '2019-09'],
  ['unevaluatedProperties', 'schema', '2019-09'],
  ['contentSchema', 'schema', '2019-09'],
  ['prefixItems', 'list', '2020-12'],
];

const order = Object.keys(dialects);

function has(dialect: Dialect, since: DialectName, until: DialectName = '2020-12'): boolean {
  const at = order.indexOf(dialect.name);
  return order.indexOf(since) <= at && at <= order.indexOf(until);
}

/** A schema directly inside another, by the keys that lead to it. */
export interface Subschema {
  keys: readonly (string | number)[];
  schema: unknown;
}

/**
 * The direct subschemas. The values of `enum`, `const`, `default`, `examples` and unknown keywords
 * are data.
 */
export function subschemas(dialect: Dialect, schema: Readonly<Record<string, unknown>>): Subschema[] {
  const alone = dialect.refStandsAlone && typeof schema['$ref'] === 'string';
  return applicators.flatMap(([keyword, shape, since, until]) => {
    if (!Object.hasOwn(schema, keyword) || !has(dialect, since, until)) return [];
    if (alone && keyword !== 'definitions') return [];
    const value = schema[keyword];
    if (shape === 'map') return isObject(value) ? inside(keyword, Object.entries(value)) : [];
    if (Array.isArray(value)) return shape === 'schema' ? [] : inside(keyword, [...value.entries()]);
    return shape === 'list' || !isSchema(value) ? [] : [{ keys: [keyword], schema: value }];
  });
}

function inside(keyword: string, entries: readonly (readonly [string | number, unknown])[]): Subschema[] {
  return entries.filter(([, schema]) => isSchema(schema)).map(([key, schema]) => ({ keys: [keyword, key], schema }));
}

/** Whether the value is an object, neither array nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean';
}

/** The references of a schema: keyword and text. */
export function referencesOf(
  dialect: Dialect,
  schema: Readonly<Record<string, unknown>>,
): [ReferenceKeyword, string][] {
  const keywords = referenceKeywords.filter(([, since, until]) => has(dialect, since, until));
  return keywords.flatMap(([keyword]) => {
    const text = schema[keyword];
    return typeof text === 'string' ? [[keyword, text] satisfies [ReferenceKeyword, string]] : [];
  });
}

export type ReferenceKeyword = '$ref' | '$recursiveRef' | '$dynamicRef';

const referenceKeywords: readonly (readonly [ReferenceKeyword, DialectName, DialectName?])[] = [
  ['$ref', 'draft-04'],
  ['$recursiveRef', '2019-09', '2019-09'],
  ['$dynamicRef', '2020-12'],
];
