import { isObject, type JsonObject } from '../../model/json.ts';
import { isNumeric } from '../../model/exact-numbers.ts';
import { entriesOf } from '../../render/json-value.ts';
import { isText } from './keywords.ts';

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
