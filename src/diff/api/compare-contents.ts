import type { Direction } from '../../model/comparison.ts';
import { reportPart } from './report-part.ts';
import type { Content, Media } from './operation-parts.ts';
import { compareSchemas } from '../schema/compare-schemas.ts';
import { textOfValue } from '../schema/read-schema.ts';
import { memberOf, type Place } from '../side.ts';
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
  const at = { before: before.place.pointer, after: after.place.pointer };
  const report = (effect: 'narrows' | 'widens', name: string, says: string, from: string | null, to: string | null) =>
    reportPart(unit, {
      effect,
      code: `${direction}-${role}-media-type-${name}`,
      message: `${start(subject)} ${says}.`,
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
    const found = wider ?? narrower;
    if (found === undefined) {
      // Readers choose a media type too, so one less is one request less that is answered.
      const message = `${start(subject)} is no longer available as ${type}.`;
      reportPart(unit, {
        verdict: 'breaking',
        code: `${direction}-${role}-media-type-removed`,
        message,
        before: type,
        at,
        direction,
      });
      continue;
    }
    used.add(found);
    compareMedia(walk, unit, media, after.content.get(found)!, {
      ...where,
      subject: named(where, found, after.content),
    });
    if (wider !== undefined) report('widens', 'generalized', `may be ${wider} instead of ${type}`, type, wider);
    else report('narrows', 'specialized', `is ${found} instead of ${type}`, type, found);
  }
  for (const type of left.keys()) {
    if (used.has(type) || [...before.content.keys()].some((other) => isIn(type, other))) continue;
    reportPart(unit, {
      verdict: 'safe',
      code: `${direction}-${role}-media-type-added`,
      message: `${start(subject)} is also available as ${type}.`,
      after: type,
      at,
      direction,
    });
  }
}

function named({ subject }: Where, type: string, content: Content): string {
  return content.size > 1 ? `${subject} as ${type}` : subject;
}

function compareMedia(
  walk: Walk,
  parent: Unit,
  before: Media,
  after: Media,
  { direction, subject, role }: Where,
): void {
  compareAllowed(walk, parent, before, after, { direction, subject, role }, 'schema');
  if (before.items !== null || after.items !== null)
    compareAllowed(walk, parent, before, after, { direction, subject: `each item of ${subject}`, role }, 'items');
  const texts = [
    memberOf(walk.before, before.place, 'encoding'),
    memberOf(walk.after, after.place, 'encoding'),
  ] as const;
  const [from, to] = texts.map((place) => place && textOfValue(place.value));
  const pointers = {
    before: texts[0]?.pointer ?? before.place.pointer,
    after: texts[1]?.pointer ?? after.place.pointer,
  };
  if (from !== to) {
    const message = `${start(subject)} has another encoding; what that means cannot be judged.`;
    reportPart(parent, {
      effect: 'unknown',
      code: `${direction}-${role}-encoding-changed`,
      message,
      before: from ?? null,
      after: to ?? null,
      at: pointers,
      direction,
    });
  }
  for (const key of ['example', 'examples']) {
    const [one, other] = [memberOf(walk.before, before.place, key), memberOf(walk.after, after.place, key)];
    if (before.place === before.schema || (one && textOfValue(one.value)) === (other && textOfValue(other.value)))
      continue;
    const at = { before: one?.pointer ?? before.place.pointer, after: other?.pointer ?? after.place.pointer };
    reportPart(parent, {
      verdict: 'docs',
      code: `${role}-${key}-changed`,
      message: `${start(subject)} has other examples.`,
      at,
    });
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
  const keyword = key === 'items' ? 'itemSchema' : key;
  const [old, current] = [before, after].map(
    (media): Place => media[key] ?? { value: true, pointer: `${media.place.pointer}/${keyword}` },
  );
  const label = { role, text: subject };
  walk.before.labels.set(old!.pointer, label);
  walk.after.labels.set(current!.pointer, label);
  compareSchemas(walk, parent, direction, [old!], [current!]);
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

function start(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
