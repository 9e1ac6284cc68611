import { isObject, type JsonObject } from '../model/json.ts';
import type { Verdict } from '../model/comparison.ts';
import { parsePointer } from '../model/pointer.ts';
import { timeOf } from '../model/time.ts';
import { textOf } from '../render/json-value.ts';
import { placeAt, type Place } from './side.ts';
import type { Walk } from './walk.ts';

// The end of what is deprecated: `x-sunset` of a document, or the sunset of the version's status.

const day = 24 * 60 * 60 * 1000;
/** The sunset that the objects which describe something state. Null: it is not deprecated. Empty: it has none. */
function sunsetIn(parts: readonly unknown[]): string | null {
  const stated = (key: string) => parts.filter(isObject).map((part: JsonObject) => part[key]);
  if (!stated('deprecated').includes(true)) return null;
  return stated('x-sunset').map(textOf).find(Boolean) ?? '';
}

/**
 * Whether something may be removed without breaking anybody, since its sunset and the organization's
 * grace have passed, of which its readers knew; and the end of a sentence about its removal. `parts`: the places that
 * describe it in the old document.
 */
export function judgeRemoval({ rules, told }: Walk, parts: readonly Place[]): { isOver: boolean; says: string } {
  const { removal } = rules;
  const stated = sunsetIn(parts.map(({ value }) => value));
  const isEnding = removal !== undefined && removal.sunset !== null;
  if (stated === null && !isEnding) return { isOver: false, says: '' };
  if (removal === undefined) return { isOver: false, says: '; it was deprecated' };
  const sunset = stated || removal.sunset;
  if (sunset === null) return { isOver: false, says: '; it was deprecated without a sunset' };
  // The clock begins when the date was stated.
  const from =
    Math.max(timeOf(sunset), removal.since === undefined ? -Infinity : Date.parse(removal.since)) + removal.grace * day;
  if (Number.isNaN(from)) return { isOver: false, says: `; its sunset ${JSON.stringify(sunset)} is not a date` };
  const isOver = from <= Date.parse(removal.at);
  if (isOver && stated && told !== undefined) {
    const known = told && sunsetIn(parts.map(({ pointer }) => placeAt(told, parsePointer(pointer))?.value));
    if (!(timeOf(known ?? '') + removal.grace * day <= Date.parse(removal.at)))
      return { isOver: false, says: `; its sunset ${sunset} was not published ${removal.grace} days ago` };
  }
  const safe = `removing it ${isOver ? 'is' : 'would be'} safe from ${new Date(from).toISOString().slice(0, 10)}`;
  return { isOver, says: `; it was deprecated with the sunset ${sunset}, and ${safe}` };
}

/** Judges the announced end of what is new. Null: it has not passed, or nothing is deprecated. */
export function judgeArrival(walk: Walk, parts: readonly unknown[]): ReturnType<typeof judgeSunset> {
  const sunset = sunsetIn(parts);
  const judged = sunset ? judgeSunset(walk, null, sunset) : null;
  return judged?.verdict === 'breaking' ? judged : null;
}

/**
 * Judges an announced end that changed: it may move to a later day, but not to an earlier one. Where removals
 * after it are safe, one in the past would be a removal without notice. Null: it is the same.
 */
export function judgeSunset(
  { rules: { removal } }: Walk,
  before: string | null,
  after: string | null,
): { verdict: Verdict; name: string; says: string } | null {
  if (before === after) return null;
  if (after === null) return { verdict: 'risky', name: 'unset', says: `no longer says that it ends on ${before}` };
  const [from, to] = [before === null ? Infinity : timeOf(before), timeOf(after)];
  const says = before === null ? `ends on ${after}` : `ends on ${after} instead of ${before}`;
  if (removal !== undefined && to < from && to < Date.parse(removal.at))
    return { verdict: 'breaking', name: 'passed', says: `${says}, which has passed already` };
  if (before === null) return { verdict: 'safe', name: 'set', says };
  if (Number.isNaN(from) || Number.isNaN(to)) return { verdict: 'unknown', name: 'changed', says };
  return to < from ? { verdict: 'risky', name: 'earlier', says } : { verdict: 'safe', name: 'later', says };
}
