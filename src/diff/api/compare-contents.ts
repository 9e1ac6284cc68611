import type { Direction } from '../../model/comparison.ts';
import { membersAt, pointersOf, reportPart, setLabel } from './report-part.ts';
import type { Content, Media } from './operation-parts.ts';
import { compareSchemas } from '../schema/compare-schemas.ts';
import type { Judgement } from '../report.ts';
import type { Place } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';

/** What has content: a body, a response, a parameter. */
interface Holder {
  place: Place;
  content: Content;
}

interface Where {
  direction: Direction;
  /** Within a sentence: `the request body`. */
  subject: string;
  role: string;
}

/** Compares what may be sent in each media type. Types are matched by name, then by range. */
export function compareContents(walk: Walk, unit: Unit, before: Holder, after: Holder, where: Where): void {
  const { direction, subject, role } = where;
  const left = new Map(after.content);
  const at = pointersOf({ before: before.place, after: after.place });
  const tell = (judgement: Judgement, name: string, says: string, from: string | null, to: string | null) =>
    reportPart(unit, judgement, `${direction}-${role}-media-type-${name}`, `${subject} ${says}.`, {
      before: from,
      after: to,
      at,
      direction,
    });
  const rest: [string, Media][] = [];
  for (const [type, media] of before.content) {
    const same =
      [...left.keys()].find((other) => other === type) ??
      [...left.keys()].find((other) => essence(other) === essence(type));
    if (same === undefined) rest.push([type, media]);
    else {
      compareMedia(walk, unit, media, left.get(same)!, { ...where, subject: named(where, same, after.content) });
      left.delete(same);
    }
  }
  const used = new Set<string>();
  for (const [type, media] of rest) {
    const wider = [...after.content.keys()].find((other) => isIn(type, other));
    const narrower = [...left.keys()].find((other) => isIn(other, type));
    const match = wider ?? narrower;
    if (match === undefined) {
      // Clients ask for a media type, so requests for a removed one fail.
      tell('breaking', 'removed', `is no longer available as ${type}`, type, null);
      continue;
    }
    used.add(match);
    compareMedia(walk, unit, media, after.content.get(match)!, {
      ...where,
      subject: named(where, match, after.content),
    });
    if (wider !== undefined) tell('widens', 'generalized', `may be ${wider} instead of ${type}`, type, wider);
    else tell('narrows', 'specialized', `is ${match} instead of ${type}`, type, match);
  }
  for (const type of left.keys()) {
    if (used.has(type) || [...before.content.keys()].some((other) => isIn(type, other))) continue;
    tell('safe', 'added', `is also available as ${type}`, null, type);
  }
}

function named({ subject }: Where, type: string, content: Content): string {
  return content.size > 1 ? `${subject} as ${type}` : subject;
}

function compareMedia(walk: Walk, parent: Unit, before: Media, after: Media, where: Where): void {
  const { direction, subject, role } = where;
  compareAllowed(walk, parent, before, after, where, 'schema');
  if (before.items !== null || after.items !== null)
    compareAllowed(walk, parent, before, after, { ...where, subject: `each item of ${subject}` }, 'items');
  const places = { before: before.place, after: after.place };
  const encoding = membersAt(walk, places, 'encoding');
  if (encoding.before !== encoding.after) {
    const message = `${subject} has another encoding; what that means cannot be judged.`;
    reportPart(parent, 'unknown', `${direction}-${role}-encoding-changed`, message, { ...encoding, direction });
  }
  for (const key of before.place === before.schema ? [] : ['example', 'examples']) {
    const { before: old, after: current, at } = membersAt(walk, places, key);
    if (old !== current) reportPart(parent, 'docs', `${role}-${key}-changed`, `${subject} has other examples.`, { at });
  }
}

/** Compares a schema of two media types. Without one, anything is allowed. */
function compareAllowed(
  walk: Walk,
  parent: Unit,
  before: Media,
  after: Media,
  { direction, subject, role }: Where,
  key: 'schema' | 'items',
): void {
  const placeOf = (media: Media): Place =>
    media[key] ?? { value: true, pointer: `${media.place.pointer}/${key === 'items' ? 'itemSchema' : key}` };
  const places = { before: placeOf(before), after: placeOf(after) };
  setLabel(walk, places, { role, text: subject });
  compareSchemas(walk, parent, direction, [places.before], [places.after]);
}

function essence(type: string): string {
  return type.split(';')[0]!.trim().toLowerCase();
}

/** Whether a media range such as `application/*` covers a media type. */
function isIn(type: string, range: string): boolean {
  const [one, other] = [essence(type), essence(range)];
  if (!other.includes('*') || one === other) return false;
  return other === '*/*' || other === '*' || one.startsWith(other.slice(0, other.indexOf('*')));
}
