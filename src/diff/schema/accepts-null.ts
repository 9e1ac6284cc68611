import { isObject } from '../../model/json.ts';
import { listOf } from '../../render/json-value.ts';
import { itemsOf, memberOf, referenceOf, targetOf, type Place, type Side } from '../side.ts';
import type { Schema } from './schema-parts.ts';

/** Null: it cannot be told, because of a reference that leads to nothing or to itself. */
export type Answer = boolean | null;

/**
 * Whether null is valid. Unlike other values it is written in many ways (`nullable`, a list of types,
 * a branch of a union), so it is judged for the whole schema, and left out of the comparison of parts.
 */
export function acceptsNull(side: Side, schema: Schema): Answer {
  return all(schema.map((place) => acceptsAt(side, place)));
}

function acceptsAt(side: Side, place: Place): Answer {
  if (!isObject(place.value)) return place.value !== false;
  const remembered = side.nulls.get(place.value);
  if (remembered !== undefined) return remembered;
  side.nulls.set(place.value, null);
  const answer = judge(side, place);
  side.nulls.set(place.value, answer);
  return answer;
}

function judge(side: Side, place: Place): Answer {
  const { value } = place;
  if (!isObject(value)) return null;
  const reference = referenceOf(value);
  const answers: Answer[] = [];
  if (reference !== '') {
    const target = targetOf(side, reference, place.pointer);
    answers.push(target && acceptsAt(side, target));
    if (!side.dialect.hasSiblings) return answers[0]!;
  }
  // Authors write it beside `allOf` and `enum`, too, and mean that null is valid.
  const { nullable } = side.dialect;
  if (nullable !== null && value[nullable] === true) return all(answers);
  const { type, enum: values } = value;
  const types = Array.isArray(type) ? type : [type];
  if (typeof types[0] === 'string') answers.push(types.includes('null') || types.includes('any'));
  if (Array.isArray(values)) answers.push(listOf(values).includes(null));
  if (Object.hasOwn(value, 'const')) answers.push(value['const'] === null);
  const below = (keyword: string) =>
    itemsOf(side, memberOf(side, place, keyword)).map((branch) => acceptsAt(side, branch));
  answers.push(...below('allOf'));
  if (listOf(value['anyOf']).length > 0) answers.push(not(all(below('anyOf').map(not))));
  if (listOf(value['oneOf']).length > 0) answers.push(exactlyOne(below('oneOf')));
  const one = (keyword: string): Answer => {
    const member = memberOf(side, place, keyword);
    return member === null ? true : acceptsAt(side, member);
  };
  if (Object.hasOwn(value, 'not')) answers.push(not(one('not')));
  if (Object.hasOwn(value, 'if')) {
    const isMatched = one('if');
    answers.push(isMatched === null ? all([one('then'), one('else'), null]) : one(isMatched ? 'then' : 'else'));
  }
  return all(answers);
}

function all(answers: readonly Answer[]): Answer {
  return answers.includes(false) ? false : answers.includes(null) ? null : true;
}

function not(answer: Answer): Answer {
  return answer === null ? null : !answer;
}

function exactlyOne(answers: readonly Answer[]): Answer {
  const sure = answers.filter((answer) => answer === true).length;
  if (sure > 1) return false;
  return answers.includes(null) ? null : sure === 1;
}
