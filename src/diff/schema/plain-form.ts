import { isObject, own, type JsonObject } from '../../model/json.ts';
import { isDeepStrictEqual } from 'node:util';
import { isNumeric, plus } from '../../model/exact-numbers.ts';
import { entriesOf, objectOf } from '../../render/json-value.ts';
import { isText, keywordOf } from './keywords.ts';

/** Whether every value is valid. */
export function isAnything(schema: unknown): boolean {
  return schema === true || (isObject(schema) && Object.keys(plainForm(schema)).every(isText));
}

/** Whether no value is valid, by what is written in one place. */
function isNothing(schema: unknown): boolean {
  return schema === false || (isObject(schema) && isAnything(schema['not']));
}

/** What stands in place of a keyword. Null: itself. */
type Instead = (value: unknown, schema: JsonObject, pointer: string) => JsonObject | null;

const leaveOut = (isMoot: (value: unknown, schema: JsonObject) => boolean): Instead => {
  return (value, schema) => (isMoot(value, schema) ? {} : null);
};
const sayFalse = (keyword: string): Instead => {
  return (value) => (isObject(value) && isNothing(value) ? { [keyword]: false } : null);
};
const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/** What may be written in another way, which says the same. */
const rewrites: readonly (readonly [keyword: string, Instead])[] = [
  ['type', leaveOut((value) => Array.isArray(value) && allTypes.every((name) => value.includes(name)))],
  [
    'enum',
    (values, { type }) => {
      const isBoth = Array.isArray(values) && values.includes(true) && values.includes(false);
      if (!isBoth || !values.every((value) => value === null || typeof value === 'boolean')) return null;
      if (type === undefined) return { type: values.includes(null) ? ['boolean', 'null'] : 'boolean' };
      return [type].flat().includes('boolean') ? {} : null;
    },
  ],
  ...['minLength', 'minItems', 'minProperties'].map((keyword): [string, Instead] => [keyword, leaveOut((value) => value === 0)]), // prettier-ignore
  ['collectionFormat', leaveOut((value) => value === 'csv')],
  ['then', leaveOut(isAnything)],
  ['else', leaveOut(isAnything)],
  ['not', leaveOut(isNothing)],
  ['items', sayFalse('items')],
  [
    'contains',
    (value, { minContains, maxContains, minItems, unevaluatedItems }) =>
      isAnything(value) && [minContains, maxContains, unevaluatedItems].every((one) => one === undefined)
        ? { minItems: isNumeric(minItems) && minItems > 1 ? minItems : 1 }
        : null,
  ],
  ['additionalProperties', sayFalse('additionalProperties')],
  [
    'propertyNames',
    leaveOut((value) =>
      isAnything(isObject(value) && value['type'] === 'string' ? { ...value, type: allTypes } : value),
    ),
  ],
  [
    'xml',
    (value, _, pointer) => {
      // Elements have the names of their properties or components, unless they are said to have another one.
      const usual = /\/(?:properties|components\/schemas|definitions|\$defs)\/([^/]+)(?:\/items)*$/.exec(pointer)?.[1];
      const isUsual = (key: string, said: unknown) => said === false || (key === 'name' && said === usual);
      const members = entriesOf(value).filter(([key, said]) => !isUsual(key, said));
      return members.length === 0 ? {} : { xml: Object.fromEntries(members) };
    },
  ],
];

/** Whether every text matches a pattern, as far as that is seen at once. */
export function matchesAll(pattern: string): boolean {
  return /^(?:\^?\.\*\$?|\^|\$|)$/.test(pattern);
}

const patternTokens = /\\.|\[(?:\\.|[^\]\\])+\]|\{\d+(?:,\d*)?\}|\((?:\?(?:[:=!]|<[^>]*>?))?|[^]/gu;
const usualCounts: Readonly<Record<string, string>> = { '{1,}': '+', '{0,}': '*', '{0,1}': '?' };

/** A pattern in one of several ways to write it: equal texts match the same. */
export function plainPattern(pattern: string): string {
  if (pattern.length > 1000) return pattern;
  const hasBackReferences = /\\[1-9k]/.test(pattern);
  return pattern.replace(patternTokens, (token) => {
    if (token.startsWith('{')) return own(usualCounts, token) ?? token.replace(/^\{(\d+),\1\}$/, '{$1}');
    if (!hasBackReferences && /^\((?:\?:|\?<[^=!])/.test(token)) return '(';
    return /^(?:\[[ -~]+\]|\\[!-/:-@[-`{-~]|\\[dw]|[ -~])$/.test(token) &&
      !/^(?:\[.*\\[^dw\W].*\]|[.^$*+?()|{}[\]])$/.test(token)
      ? setOf(token)
      : token;
  });
}

/** The characters of ASCII that one place of a pattern matches, by their codes. */
function setOf(place: string): string {
  try {
    const matcher = new RegExp(`^${place}$`);
    const codes = [...Array(128).keys()].filter((code) => matcher.test(String.fromCharCode(code)));
    return `[${place.startsWith('[^') ? '^' : ''}${codes.join()}]`;
  } catch {
    return place; // `[z-a]`
  }
}

/** A schema without what says nothing, and in the usual way where it is written in another one. */
export function plainForm(schema: JsonObject, pointer = ''): JsonObject {
  let plain = schema;
  for (const [keyword, instead] of rewrites) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const members = instead(schema[keyword], schema, pointer);
    if (members === null) continue;
    const { [keyword]: _, ...rest } = plain;
    plain = { ...rest, ...members };
  }
  return plain;
}

/** A schema without the parts of "not" and "if" that count in any case, and these with their pointers below it. */
export interface Unfolded {
  schema: JsonObject;
  always: [pointer: string, schema: unknown][];
}

/** `isAgain`: also what "not" and "if" say that can be said without them. */
export function unfold(given: JsonObject, hasFlags: boolean, isAgain: boolean): Unfolded {
  const schema = { ...given };
  const always: Unfolded['always'] = [];
  const take = (keywords: string[], ...parts: Unfolded['always']) => {
    for (const keyword of keywords) delete schema[keyword];
    always.push(...parts);
  };
  const { not: excluded, if: condition, then: matched = true, else: others = true } = schema;
  const [inner, alternatives] = [soleMember(excluded, 'not'), soleMember(excluded, 'anyOf')];
  const negated = isAgain ? negate(excluded, hasFlags) : null;
  const refuted = refute(excluded);
  if (inner !== undefined) take(['not'], ['/not/not', inner]);
  else if (Array.isArray(alternatives))
    take(['not'], ...alternatives.map((one, at): [string, unknown] => [`/not/anyOf/${at}`, { not: one as unknown }]));
  else if (refuted !== null) take(['not'], ...refuted);
  else if (negated !== null) take(['not'], ['/not', negated]);
  const [one, other, ...rest] = isAgain && Array.isArray(schema['anyOf']) ? (schema['anyOf'] as unknown[]) : [];
  const [unless, either] = soleMember(one, 'not') === undefined ? [other, one] : [one, other];
  const implying = rest.length === 0 && either !== undefined ? soleMember(unless, 'not') : undefined;
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  if (implying !== undefined) take(['anyOf'], ['/anyOf', { if: implying, then: either }]);
  if (condition === undefined) return { schema, always };
  if (isAnything(condition)) take(['if', 'then', 'else'], ['/then', matched]);
  else if (isNothing(condition)) take(['if', 'then', 'else'], ['/else', others]);
  else if (isAgain && !isAnything(matched) && isDeepStrictEqual(matched, others))
    take(['if', 'then', 'else'], ['/then', matched]);
  else if (isAgain) {
    if (isNothing(matched)) take(['then'], ['/if', { not: condition }]);
    if (isNothing(others)) take(['else'], ['/if', condition]);
  }
  return { schema, always };
}

/** What a schema demands that excludes a condition, by its parts. Null: it excludes something else, or more. */
function refute(excluded: unknown): Unfolded['always'] | null {
  const { if: condition, then: matched, else: others, ...rest } = objectOf(excluded);
  if (condition === undefined || !Object.keys(rest).every(isText)) return null;
  if (others === undefined)
    return [
      ['/not/if', condition],
      ['/not/then', { not: matched ?? true }],
    ];
  return matched === undefined
    ? [
        ['/not/if', { not: condition }],
        ['/not/else', { not: others }],
      ]
    : null;
}

/** The value of the only keyword of a schema, beside texts. Undefined: it has another one. */
export function soleMember(schema: unknown, keyword: string): unknown {
  const [[name, value] = ['', null], ...others] = entriesOf(schema).filter(([key]) => !isText(key));
  return name === keyword && others.length === 0 ? value : undefined;
}

/** What a schema demands that excludes another one, said without "not". Null: it cannot be said so. */
function negate(excluded: unknown, hasFlags: boolean): JsonObject | null {
  if (!isObject(excluded)) return null;
  const { type, ...rest } = excluded;
  const [[keyword, value] = ['type', type], ...others] = Object.entries(rest).filter(([key]) => !isText(key));
  const negated = others.length === 0 ? (own(negations, keyword)?.(value, hasFlags) ?? null) : null;
  const { restricts } = keywordOf(keyword);
  if (negated === null || type === restricts || keyword === 'type') return negated;
  if (restricts === 'any') return type === undefined || type === 'string' ? negated : null;
  return type === undefined ? { type: restricts, ...negated } : null;
}

type Negate = (value: unknown, hasFlags: boolean) => JsonObject | null;

const pastLimit = (keyword: string, step: number): Negate => {
  return (value) => (isNumeric(value) ? { [keyword]: plus(value, step) } : null);
};
const notEmpty: Negate = (value) => (isDeepStrictEqual([value].flat(1), ['']) ? { minLength: 1 } : null);

/** What a schema says that excludes all values with these, and no others of the same type. */
const negations: Readonly<Record<string, Negate>> = {
  ...Object.fromEntries(
    ['Length', 'Items', 'Properties'].flatMap((of) => [
      [`max${of}`, pastLimit(`min${of}`, 1)],
      [`min${of}`, pastLimit(`max${of}`, -1)],
    ]),
  ),
  minimum: (value, hasFlags) => (hasFlags ? { maximum: value, exclusiveMaximum: true } : { exclusiveMaximum: value }),
  maximum: (value, hasFlags) => (hasFlags ? { minimum: value, exclusiveMinimum: true } : { exclusiveMinimum: value }),
  exclusiveMinimum: (value) => ({ maximum: value }),
  exclusiveMaximum: (value) => ({ minimum: value }),
  required: (names) =>
    Array.isArray(names) && names.length === 1 ? { properties: { [String(names[0])]: false } } : null,
  contains: (schema) => ({ items: { not: schema } }),
  const: notEmpty,
  enum: notEmpty,
  type(value) {
    const names = [value].flat();
    const left = allTypes.filter((name) => !names.includes(name));
    return names.some((name) => !allTypes.includes(String(name))) ? null : { type: left };
  },
};
