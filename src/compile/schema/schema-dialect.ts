import { isObject, type JsonObject } from '../../model/json.ts';
import { joinPointer } from '../../model/pointer.ts';

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
const recent = { idKeyword: '$id', definitionsKeyword: '$defs', refStandsAlone: false, anchorsInId: false } as const;

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

type Span = readonly [since: DialectName, until: DialectName | undefined];

/** The rows of a table by dialect. Each row ends with its first and last dialect. */
function byDialect<T>(rows: readonly T[], span: (row: T) => Span): Map<string, T[]> {
  const has = (at: number, [since, until = '2020-12']: Span) =>
    order.indexOf(since) <= at && at <= order.indexOf(until);
  return new Map(order.map((name, at) => [name, rows.filter((row) => has(at, span(row)))]));
}

const applicatorsOf = byDialect(applicators, ([, , since, until]) => [since, until]);

/** A schema directly inside another, by the pointer that leads to it. */
interface Subschema {
  path: string;
  schema: unknown;
}

/**
 * The direct subschemas. The values of `enum`, `const`, `default`, `examples` and unknown keywords
 * are data.
 */
export function subschemas(dialect: Dialect, schema: Readonly<JsonObject>): Subschema[] {
  const alone = dialect.refStandsAlone && typeof schema['$ref'] === 'string';
  const schemas: Subschema[] = [];
  for (const [keyword, shape] of applicatorsOf.get(dialect.name)!) {
    if (!Object.hasOwn(schema, keyword) || (alone && keyword !== 'definitions')) continue;
    const value = schema[keyword];
    const isList = Array.isArray(value) && (shape === 'list' || shape === 'schema-or-list');
    if (isList || (shape === 'map' && isObject(value))) {
      for (const [key, child] of Object.entries(value as object))
        if (isSchema(child)) schemas.push({ path: joinPointer('', keyword, key), schema: child });
    } else if (shape.startsWith('schema') && isSchema(value)) schemas.push({ path: `/${keyword}`, schema: value });
  }
  return schemas;
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean';
}

/** The references of a schema: keyword and text. */
export function referencesOf(dialect: Dialect, schema: Readonly<JsonObject>): [ReferenceKeyword, string][] {
  return referenceKeywordsOf.get(dialect.name)!.flatMap(([keyword]): [ReferenceKeyword, string][] => {
    const text = schema[keyword];
    return typeof text === 'string' ? [[keyword, text]] : [];
  });
}

export type ReferenceKeyword = '$ref' | '$recursiveRef' | '$dynamicRef';

const referenceKeywords: readonly (readonly [ReferenceKeyword, DialectName, DialectName?])[] = [
  ['$ref', 'draft-04'],
  ['$recursiveRef', '2019-09', '2019-09'],
  ['$dynamicRef', '2020-12'],
];

const referenceKeywordsOf = byDialect(referenceKeywords, ([, since, until]) => [since, until]);
