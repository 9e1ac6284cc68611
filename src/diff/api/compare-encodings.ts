import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import type { Judgement } from '../report.ts';
import { typesIn, viewOf, type SchemaView } from '../schema/read-schema.ts';
import type { Schema } from '../schema/schema-parts.ts';
import { itemsOf, memberOf, membersOf, type Place, type Side } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';
import { isWithinType, normalType, type ComparedMedia, type Where } from './compare-contents.ts';
import { compareHeaders, compareSwitch, plainStyle } from './compare-parameters.ts';
import { headersOf, styleOf, type Media } from './operations.ts';
import { createTell, membersAt, pointersOf, reportPart } from './report-part.ts';

/** One part of a body: what says how it is written, and its schema. */
interface Part {
  /** The encoding object, or the media type where there is none. */
  place: Place;
  encoding: Record<string, unknown> | null;
  view: SchemaView;
}

/** Compares how the parts of forms are written: their media types, styles and headers. */
export function compareEncodings(walk: Walk, unit: Unit, media: readonly ComparedMedia[], where: Where): void {
  for (const { type, subject, before, after } of media) {
    const isUrl = /^application\/x-www-form-urlencoded\b/i.test(type);
    if (!isUrl && !/^multipart\//i.test(type)) continue;
    const [old, current] = [partsOf(walk.before, before), partsOf(walk.after, after)];
    for (const [name, part] of old) {
      const other = current.get(name);
      if (other && (part.encoding || other.encoding))
        comparePart(walk, unit, part, other, { ...where, subject: `${name} of ${subject}` }, type);
    }
  }
}

/** The parts of a body by what they are called. A part without an encoding is written as its schema says. */
function partsOf(side: Side, { place, schema, items }: Media): Map<string, Part> {
  const view = viewOf(side, schema ? [schema] : []);
  const make = (encoding: Place | null, part: Schema): Part => ({
    place: encoding ?? place,
    encoding: encoding && objectOf(encoding.value),
    view: viewOf(side, part),
  });
  const encodings = new Map(membersOf(side, memberOf(side, place, 'encoding')));
  const parts = new Map<string, Part>();
  for (const [name, part] of view.properties)
    parts.set(`part ${JSON.stringify(name)}`, make(encodings.get(name) ?? null, part));
  const [first, rest] = [itemsOf(side, memberOf(side, place, 'prefixEncoding')), memberOf(side, place, 'itemEncoding')];
  const others = items ? [items] : view.items.rest;
  for (const at of Array.from({ length: Math.max(first.length, view.items.first.length) }).keys())
    parts.set(`part ${at + 1}`, make(first[at] ?? rest, view.items.first[at] ?? others));
  if (others.length > 0) parts.set('each other part', make(rest, others));
  return parts;
}

function comparePart(walk: Walk, unit: Unit, before: Part, after: Part, where: Where, type: string): void {
  const { direction, role, subject } = where;
  const places = { before: before.place, after: after.place };
  const code = `${direction}-${role}-encoding`;
  const about = createTell(unit, { code, subject, at: pointersOf(places), direction });
  const tell = (judgement: Judgement, name: string, from: string, to: string) =>
    about(judgement, name, `is written ${to} instead of ${from}`, from, to);
  const [old, current] = [writingOf(before, type), writingOf(after, type)];
  if (old.style !== current.style) tell('changes', 'style-changed', old.says, current.says);
  else if (old.style === null) {
    const isIn = (one: string, types: readonly string[]) => types.some((range) => isWithinType(one, range));
    const isLost = old.types.some((one) => !isIn(one, current.types));
    const isNew = current.types.some((one) => !isIn(one, old.types));
    const effect = isLost && isNew ? 'changes' : isLost ? 'narrows' : 'widens';
    if (isLost || isNew) tell(effect, 'content-type-changed', old.says, current.says);
  }
  if (hasStyles(before.view.side, type)) compareSwitch(about, places, 'allowReserved');
  if (/^multipart/i.test(type)) {
    const headed = (part: Part) => ({ ...part, headers: headersOf(part.view.side, part.encoding && part.place) });
    compareHeaders(walk, unit, [headed(before), headed(after)], where);
  }
  const own = ({ place, encoding }: Part): Place => (encoding ? place : { ...place, value: {} });
  for (const key of ['encoding', 'prefixEncoding', 'itemEncoding']) {
    const { isSame, ...stated } = membersAt(walk, { before: own(before), after: own(after) }, key);
    if (isSame) continue;
    const message = `${subject} has another ${key}; what that means cannot be judged.`;
    reportPart(unit, 'unknown', `${code}-changed`, message, { ...stated, direction });
  }
}

/** Whether values may be written in styles, as those of a query are. Then their media types count for nothing. */
function hasStyles({ dialect }: Side, type: string): boolean {
  return !/^multipart/i.test(type) || (dialect.name !== '3.0' && /^multipart\/form-data\b/i.test(type));
}

/** How a part is written: in a style, or as one of several media types. */
function writingOf({ encoding, view }: Part, type: string): { style: string | null; types: string[]; says: string } {
  const { contentType, ...stated } = encoding ?? {};
  const written = textOf(contentType).split(',').map(normalType).filter(Boolean);
  const types = written.length > 0 ? written : [usualType(view)];
  const isStyled = ['style', 'explode', 'allowReserved'].some((key) => stated[key] !== undefined);
  // Fields of a form are written as those of a query, unless they are JSON or something else.
  const isUsual = !/^multipart/i.test(type) && types.join() === 'text/plain';
  if (!isUsual && !(isStyled && hasStyles(view.side, type)))
    return { style: null, types, says: `as ${types.join(', ')}` };
  const style = plainStyle(styleOf(stated, 'query'), [typesIn(view)]);
  return { style, types, says: `in style ${style}` };
}

/** The media type of a part that states none. */
function usualType(view: SchemaView): string {
  const [type, ...others] = typesIn(view) ?? [];
  if (others.length > 0) return '*/*';
  if (type === 'object') return 'application/json';
  if (type === 'array') return usualType(viewOf(view.side, view.items.rest));
  const isBytes = view.first('contentEncoding') ?? view.first('contentMediaType');
  const isBinary = listOf(['binary', 'base64', 'byte']).includes(view.first('format')?.value);
  return type === undefined || isBytes || isBinary ? 'application/octet-stream' : 'text/plain';
}
