/** How a comparison treats a keyword of schemas. */
export interface Keyword {
  /** The type of the values that it restricts where it stands, or `any`. Null: it restricts none itself. */
  restricts: 'string' | 'number' | 'array' | 'object' | 'any' | null;
  compared: How;
  /** Of a limit: the keyword of the same limit without its own value. Null: there is none. */
  exclusive: string | null;
}

/**
 * How a keyword is compared:
 * - `text`: as a text for people;
 * - `upper`, `lower`: as a limit;
 * - `demand`: as one of any number of restrictions that apply together;
 * - `changes`, `schema`: to set it narrows and to drop it widens. Another value changes what is valid
 *   (`changes`), or that cannot be judged (`schema`);
 * - `opaque`: whatever becomes of it cannot be judged;
 * - `parameter`: as `opaque`, but in OpenAPI 2.0 with the parameter, since there it is its own schema;
 * - `name`: not at all, since it names schemas or holds them;
 * - `file`: by a rule of its own, in a file of this folder.
 */
type How = 'file' | 'demand' | 'text' | 'upper' | 'lower' | 'changes' | 'schema' | 'opaque' | 'name' | 'parameter';

/** Stands for the texts of values that were alternatives, and are a list when compared. */
export const textsOfValues = 'texts of its values';

/** All keywords that are known. One that is not here is `opaque` and restricts any value. */
const rows: readonly (readonly [name: string, Keyword['restricts'], How, exclusive?: string])[] = [
  ['title', null, 'text'],
  ['description', null, 'text'],
  ['example', null, 'text'],
  ['examples', null, 'text'],
  ['externalDocs', null, 'text'],
  ['$comment', null, 'text'],
  [textsOfValues, null, 'text'],

  ['type', 'any', 'file'],
  ['enum', 'any', 'file'],
  ['const', 'any', 'file'],
  ['nullable', null, 'file'],
  ['allOf', null, 'file'],
  ['anyOf', null, 'file'],
  ['oneOf', null, 'file'],
  ['discriminator', null, 'file'],
  ['readOnly', null, 'file'],
  ['writeOnly', null, 'file'],
  ['deprecated', null, 'file'],
  ['default', null, 'file'],
  ['not', 'any', 'demand'],
  ['if', 'any', 'demand'],
  ['then', 'any', 'demand'],
  ['else', 'any', 'demand'],

  ['maxLength', 'string', 'upper'],
  ['minLength', 'string', 'lower'],
  ['pattern', 'string', 'file'],
  ['format', 'any', 'file'],
  ['contentEncoding', 'string', 'changes'],
  ['contentMediaType', 'string', 'changes'],
  ['contentSchema', 'string', 'schema'],

  ['maximum', 'number', 'upper', 'exclusiveMaximum'],
  ['minimum', 'number', 'lower', 'exclusiveMinimum'],
  ['exclusiveMaximum', 'number', 'file'],
  ['exclusiveMinimum', 'number', 'file'],
  ['multipleOf', 'number', 'file'],

  ['items', 'array', 'file'],
  ['prefixItems', 'array', 'file'],
  ['additionalItems', 'array', 'file'],
  ['unevaluatedItems', 'array', 'file'],
  ['maxItems', 'array', 'upper'],
  ['minItems', 'array', 'lower'],
  ['uniqueItems', 'array', 'file'],
  ['contains', 'array', 'schema'],
  ['maxContains', 'array', 'upper'],
  ['minContains', 'array', 'lower'],

  ['properties', 'object', 'file'],
  ['required', 'object', 'file'],
  ['additionalProperties', 'object', 'file'],
  ['unevaluatedProperties', 'object', 'file'],
  ['patternProperties', 'object', 'file'],
  ['propertyNames', 'object', 'file'],
  ['maxProperties', 'object', 'upper'],
  ['minProperties', 'object', 'lower'],
  ['dependentRequired', 'object', 'demand'],
  ['dependentSchemas', 'object', 'demand'],
  ['dependencies', 'object', 'demand'],

  ['xml', null, 'opaque'],
  ['$ref', null, 'name'],
  ['$dynamicRef', null, 'name'],
  ['$recursiveRef', null, 'name'],
  ['$id', null, 'name'],
  ['id', null, 'name'],
  ['$schema', null, 'opaque'],
  ['$anchor', null, 'name'],
  ['$dynamicAnchor', null, 'name'],
  ['$recursiveAnchor', null, 'name'],
  ['$defs', null, 'name'],
  ['definitions', null, 'name'],
  ['$vocabulary', null, 'name'],
  ['in', 'any', 'parameter'],
  ['name', 'any', 'parameter'],
  ['collectionFormat', 'any', 'parameter'],
  ['allowEmptyValue', 'any', 'parameter'],
];

/** What editors read: VS Code's extensions of JSON Schema, messages of validators, and texts of values. */
const forEditors =
  'markdownDescription enumDescriptions markdownEnumDescriptions defaultSnippets errorMessage patternErrorMessage deprecationMessage doNotSuggest suggestSortText allowComments allowTrailingCommas meta:enum'.split(' '); // prettier-ignore

const keywords = new Map(
  [...rows, ...forEditors.map((name) => [name, null, 'text'] as const)].map(
    ([name, restricts, compared, exclusive = null]): [string, Keyword] => [name, { restricts, compared, exclusive }],
  ),
);
const extension: Keyword = { restricts: null, compared: 'text', exclusive: null };
const other: Keyword = { restricts: 'any', compared: 'opaque', exclusive: null };

export function keywordOf(name: string): Keyword {
  if (name.startsWith('x-')) return extension;
  return keywords.get(name) ?? other;
}

/** The keywords that are compared in a way. */
export function keywordsCompared(...ways: How[]): string[] {
  return rows.flatMap(([name, , compared]) => (ways.includes(compared) ? [name] : []));
}

/** Whether a name is a keyword of JSON Schema, or a text for people. */
export function isKeyword(name: string): boolean {
  return !/^(?:opaque|parameter)$/.test(keywordOf(name).compared);
}

/** Whether a keyword is only for people. */
export function isText(name: string): boolean {
  return keywordOf(name).compared === 'text';
}

/** Whether a keyword restricts values itself. */
export function isRestriction(name: string): boolean {
  return keywordOf(name).restricts !== null;
}
