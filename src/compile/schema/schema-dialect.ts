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
  references: readonly ReferenceKeyword[];
}

export type ReferenceKeyword = '$ref' | '$recursiveRef' | '$dynamicRef';

const old = {
  definitionsKeyword: 'definitions',
  refStandsAlone: true,
  anchorsInId: true,
  references: ['$ref'],
} as const;
const recent = { idKeyword: '$id', definitionsKeyword: '$defs', refStandsAlone: false, anchorsInId: false } as const;
const [recursive, dynamic] = [
  ['$ref', '$recursiveRef'],
  ['$ref', '$dynamicRef'],
] as const;

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  'draft-04': { name: 'draft-04', uri: 'http://json-schema.org/draft-04/schema', idKeyword: 'id', ...old },
  'draft-06': { name: 'draft-06', uri: 'http://json-schema.org/draft-06/schema', idKeyword: '$id', ...old },
  'draft-07': { name: 'draft-07', uri: 'http://json-schema.org/draft-07/schema', idKeyword: '$id', ...old },
  '2019-09': { name: '2019-09', uri: 'https://json-schema.org/draft/2019-09/schema', references: recursive, ...recent },
  '2020-12': { name: '2020-12', uri: 'https://json-schema.org/draft/2020-12/schema', references: dynamic, ...recent },
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

const applicatorsOf = new Map(
  order.map((name, at) => {
    const has = (since: DialectName, until: DialectName = '2020-12') =>
      order.indexOf(since) <= at && at <= order.indexOf(until);
    return [name, applicators.filter(([, , since, until]) => has(since, until))];
  }),
);

/**
 * The direct subschemas, by the pointers that lead to them. The values of `enum`, `const`, `default`, `examples` and
 * unknown keywords are data.
 */
export function subschemas(dialect: Dialect, schema: Readonly<JsonObject>) {
  const alone = dialect.refStandsAlone && typeof schema['$ref'] === 'string';
  const schemas: { path: string; schema: unknown }[] = [];
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
export function referencesOf({ references }: Dialect, schema: Readonly<JsonObject>): [ReferenceKeyword, string][] {
  return references.flatMap((keyword): [ReferenceKeyword, string][] => {
    const text = schema[keyword];
    return typeof text === 'string' ? [[keyword, text]] : [];
  });
}
