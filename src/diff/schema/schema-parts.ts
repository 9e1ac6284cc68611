import { isObject, listOf, textOf, type JsonObject } from '../../render/json-value.ts';
import { itemsOf, memberOf, referenceOf, targetOf, type Place, type Side } from '../side.ts';
import { TooMuch } from '../walk.ts';

/** A schema whose value is an object. */
export interface Part extends Place {
  value: JsonObject;
}

/** Schemas that all apply to the same value: one as written, or several through `allOf`. */
export type Schema = readonly Place[];

/** A schema with its references and its `allOf` resolved. */
export interface Flat {
  /** The schemas that apply together. The outermost is first. */
  parts: Part[];
  /** Whether one of them is `false`: no value is valid. */
  isNever: boolean;
  /** Whether null is allowed beside what the others say (`nullable`, or `anyOf` with null). */
  isNullable: boolean;
  /** References that lead to nothing, or are read by rules that are not known here. */
  unresolved: string[];
}

const mostParts = 2000;

/**
 * Resolves what applies to one value: targets of references, `allOf`, and `anyOf` or `oneOf` of one
 * schema and null.
 */
export function flatten(side: Side, schema: Schema): Flat {
  const flat: Flat = { parts: [], isNever: false, isNullable: false, unresolved: [] };
  const seen = new Set<string>();
  const stack = schema.toReversed();
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    if (place.value === false) flat.isNever = true;
    if (!isObject(place.value) || seen.has(place.pointer)) continue;
    seen.add(place.pointer);
    if (seen.size > mostParts) throw new TooMuch(`A schema combines more than ${mostParts} others.`);
    const part: Part = { value: place.value, pointer: place.pointer };
    const reference = referenceOf(part.value);
    const isOwn = reference === '' || side.dialect.hasSiblings;
    if (isOwn) {
      flat.parts.push(part);
      stack.push(...[...itemsOf(side, memberOf(side, part, 'allOf')), ...soleBranches(side, part, flat)].toReversed());
      const { nullable } = side.dialect;
      if (nullable !== null && part.value[nullable] === true && flat.parts.length === 1) flat.isNullable = true;
    }
    if (reference === '') continue;
    const target = targetOf(side, reference, part.pointer);
    if (target === null) flat.unresolved.push(reference);
    else stack.push(target);
  }
  return flat;
}

/** The other branch of `anyOf` or `oneOf` where there are two, and one of them is only null. */
function soleBranches(side: Side, part: Part, flat: Flat): Place[] {
  return (['anyOf', 'oneOf'] as const).flatMap((kind) => {
    const sole = soleBranch(side, part, kind);
    if (sole?.isNullable) flat.isNullable = true;
    return sole === null ? [] : [sole.branch];
  });
}

/** The only branch of a union that is not null. Null if there are several, or none. */
export function soleBranch(
  side: Side,
  part: Part,
  kind: 'anyOf' | 'oneOf',
): { branch: Place; isNullable: boolean } | null {
  const branches = itemsOf(side, memberOf(side, part, kind));
  if (branches.length === 0 || branches.length > 2) return null;
  const others = branches.filter(({ value }) => !isNull(value));
  return others.length === 1 ? { branch: others[0]!, isNullable: branches.length === 2 } : null;
}

function isNull(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, enum: values } = value;
  if (type === 'null' || (Array.isArray(type) && type.length === 1 && type[0] === 'null')) return true;
  return value['const'] === null || (listOf(values).length === 1 && listOf(values)[0] === null);
}

/** The key of a pair of schemas: equal for equal places. */
export function keyOf(schema: Schema): string {
  return schema.length === 1 ? schema[0]!.pointer : schema.map(({ pointer }) => pointer).join(' & ');
}

/** The schema at the end of references, so that users of one component share its comparison. */
export function deref(side: Side, place: Place): Place {
  let found = place;
  for (let hops = 0; hops < 20 && isObject(found.value); hops++) {
    const reference = textOf(found.value['$ref']);
    if (reference === '' || (side.dialect.hasSiblings && Object.keys(found.value).length > 1)) break;
    const target = targetOf(side, reference, found.pointer);
    if (target === null) break;
    found = target;
  }
  return found;
}
