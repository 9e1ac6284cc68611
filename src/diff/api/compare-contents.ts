import type { Direction } from '../../model/comparison.ts';
import { createTell, membersAt, pairDescribed, pointersOf, reportPart, reportTexts, setLabel } from './report-part.ts';
import type { Content, Media } from './operations.ts';
import { compareSchemas } from '../schema/compare-schemas.ts';
import { referenceName } from '../schema/match-branches.ts';
import { deref } from '../schema/schema-parts.ts';
import { objectOf, textOf } from '../../render/json-value.ts';
import type { Place, Side } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';

/** What has content: a body, a response, a parameter. */
interface Holder {
  place: Place;
  content: Content;
}

export interface Where {
  direction: Direction;
  /** Within a sentence: `the request body`. */
  subject: string;
  role: string;
  /** Whether readers ask for one of the media types, so that more of them concern nobody. Default: not. */
  isAsked?: boolean;
}

/** What describes a media type in both documents. */
export interface ComparedMedia {
  type: string;
  subject: string;
  before: Media;
  after: Media;
}

/**
 * Compares what may be sent in each media type: what describes it in one document with what does in the other one. Returns
 * what was compared.
 */
export function compareContents(walk: Walk, unit: Unit, before: Holder, after: Holder, where: Where): ComparedMedia[] {
  const { direction, subject, role, isAsked = direction === 'request' } = where;
  const [old, current] = [typesOf(before), typesOf(after)];
  const at = pointersOf({ before: before.place, after: after.place });
  const tell = createTell(unit, { code: `${direction}-${role}-media-type`, subject, at, direction });
  const { pairs, gone, added } = pairDescribed(walk, old, current, describing);
  const compared = pairs.map(([was, is]): ComparedMedia => {
    const [{ media }, { type, media: other }] = [old.get(was)!, current.get(is)!];
    const within = { ...where, subject: after.content.size > 1 ? `${subject} as ${type}` : subject };
    compareMedia(walk, unit, media, other, within);
    if (/[/+]xml\b/i.test(type)) compareRoots(walk, unit, media, other, within);
    return { type, subject: within.subject, before: media, after: other };
  });
  for (const { key, wider, narrower } of gone) {
    const { type } = old.get(key)!;
    const name = wider === null ? null : current.get(wider)!.type;
    const names = narrower.map((other) => current.get(other)!.type).join(', ');
    if (name !== null && old.has(wider!)) tell('safe', 'undescribed', `as ${type} is described as ${name}`, type, name);
    else if (name !== null) tell('widens', 'generalized', `may be ${name} instead of ${type}`, type, name);
    else if (names !== '') tell('narrows', 'specialized', `is ${names} instead of ${type}`, type, names);
    else {
      // What is asked for, or sent, fails where it is removed. What is only read is missed where nothing is left.
      const judgement = isAsked || current.size === 0 ? 'breaking' : 'narrows';
      tell(judgement, 'removed', `is no longer available as ${type}`, type);
    }
  }
  for (const { key, was } of added) {
    const { type } = current.get(key)!;
    const judgement = isAsked || old.size === 0 ? 'safe' : 'widens';
    if (was === null) tell(judgement, 'added', `is also available as ${type}`, null, type);
    else tell('safe', 'described', `as ${type} has a description of its own beside ${old.get(was)!.type}`, null, type);
  }
  return compared;
}

/** Compares the names of the outermost elements of XML: where a schema states none, it is that of the component. */
function compareRoots(walk: Walk, unit: Unit, before: Media, after: Media, { direction, subject, role }: Where): void {
  const nameOf = (side: Side, { schema }: Media) => {
    const target = schema && deref(side, schema);
    return target && (textOf(objectOf(objectOf(target.value)['xml'])['name']) || referenceName(target));
  };
  const [from, to] = [nameOf(walk.before, before), nameOf(walk.after, after)];
  if (from === to) return;
  const at = pointersOf({ before: before.place, after: after.place });
  const tell = createTell(unit, { code: `${direction}-${role}`, subject, at, direction });
  const says = `has ${to ?? 'no name'} instead of ${from ?? 'no name'} for the root element of XML`;
  tell(from === null || to === null ? 'unknown' : 'breaking', 'xml-root-changed', says, from, to);
}

/** Media types as they are compared, and as they are written. */
type Types = ReadonlyMap<string, { type: string; media: Media }>;

function compareMedia(walk: Walk, parent: Unit, before: Media, after: Media, where: Where): void {
  const { subject, role } = where;
  compareAllowed(walk, parent, before, after, where, 'schema');
  if (before.items !== null || after.items !== null)
    compareAllowed(walk, parent, before, after, { ...where, subject: `each item of ${subject}` }, 'items');
  const places = { before: before.place, after: after.place };
  if (before.place === before.schema || after.place === after.schema) return;
  // In 2.0, they stand at the body and at the response.
  if (walk.before.dialect.name === '2.0' || walk.after.dialect.name === '2.0') return;
  reportTexts(walk, parent, places, { subject, role, keys: ['description'] });
  for (const key of ['example', 'examples']) {
    const { isSame, at } = membersAt(walk, places, key);
    if (!isSame) reportPart(parent, 'docs', `${role}-${key}-changed`, `${subject} has other examples.`, { at });
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

function typesOf({ content }: Holder): Types {
  const types = new Map<string, { type: string; media: Media }>();
  for (const [type, media] of content) {
    let key = normalType(type);
    // One type that is written in several ways: the first is compared with the first.
    while (types.has(key)) key += ';';
    types.set(key, { type, media });
  }
  return types;
}

/** A media type in lower case, with its parameters in order. UTF-8 is what is usual. */
export function normalType(type: string): string {
  const [essence, ...parameters] = type.split(';').map((part) => part.trim());
  const all = parameters.flatMap((parameter) => {
    const [name, value = ''] = parameter.split(/=(.*)/s).map((part) => part.trim());
    const text = value.replace(/^"(.*)"$/s, '$1');
    if (name === '') return [];
    return [`;${name!.toLowerCase()}=${name!.toLowerCase() === 'charset' ? text.toLowerCase() : text}`];
  });
  return (
    essence!.toLowerCase() +
    all
      .filter((one) => one !== ';charset=utf-8')
      .sort()
      .join('')
  );
}

/** The entry that describes a media type: its own, that without parameters, or the narrowest range that it is in. */
function describing(type: string, types: Types): string | null {
  if (types.has(type)) return type;
  const [essence] = type.split(';');
  const wider = [...types.keys()].filter((one) => isWithinType(type, one));
  return wider.sort((a, b) => Number(b === essence) - Number(a === essence) || b.length - a.length)[0] ?? null;
}

/** Whether a media type is another one, with parameters (but another charset) or not, or in a range such as `image/*`. */
export function isWithinType(type: string, range: string): boolean {
  const [essence = ''] = type.split(';');
  if (range === type) return true;
  if (range === essence) return !type.includes(';charset=');
  const [start = '', end] = range === '*' ? ['', ''] : range.replace('*/*', '*').split('*');
  return end !== undefined && !range.includes(';') && essence.startsWith(start) && essence.endsWith(end);
}
