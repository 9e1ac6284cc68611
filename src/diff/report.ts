import { cut } from '../model/escape.ts';
import type { Direction, Verdict } from '../model/comparison.ts';
import { outwards, unescapeKey } from '../model/pointer.ts';
import { asTitle } from '../model/states.ts';
import { objectOf } from '../render/json-value.ts';
import { keywordOf, keywordsCompared } from './schema/keywords.ts';
import { listedIn, type Schema } from './schema/schema-parts.ts';
import { typesIn, viewOf, type SchemaView } from './schema/read-schema.ts';
import { referencesIn, type Both, type Effect, type Fact, type Unit, type Walk } from './walk.ts';
import type { Label, Side } from './side.ts';

/** Compares schemas further below. `name`: those of a property; null: those of items. */
export type Below = (before: Schema, after: Schema, name?: string | null) => void;

/** Compares further schemas of a pair. */
export interface CompareFurther {
  below: Below;
  /** Schemas of the same values, such as branches. Null: they are the same. */
  within(this: void, before: Schema, after: Schema, how: Partial<Pick<Pair, 'isBranch' | 'isHarmless'>>): Unit | null;
  /** What schemas allow that exclude values. Null: they are the same. */
  excluded(this: void, before: Schema, after: Schema): Unit | null;
}

/**
 * The rule of contracts: senders must not be restricted further, and readers must not get anything
 * new. For a JSON Schema both apply: valid data must stay valid, and new values surprise only some
 * readers.
 */
export const rule: Readonly<Record<Direction, Readonly<Record<Effect, Verdict>>>> = {
  request: { narrows: 'breaking', widens: 'safe', changes: 'breaking', unknown: 'unknown' },
  response: { narrows: 'safe', widens: 'breaking', changes: 'breaking', unknown: 'unknown' },
  both: { narrows: 'breaking', widens: 'risky', changes: 'breaking', unknown: 'unknown' },
};

/** A pair of schemas that is compared, seen from one direction. */
export interface Pair {
  walk: Walk;
  unit: Unit;
  direction: Direction;
  before: SchemaView;
  after: SchemaView;
  /** Their types, or those of their unions' branches. Null: any. */
  types: { before: ReadonlySet<string> | null; after: ReadonlySet<string> | null };
  /** Whether their values are sent as text, as those of parameters and headers are. */
  isText: boolean;
  /** Whether they are branches of a union, which answers for null as a whole. */
  isBranch: boolean;
  /** Whether other alternatives allow all that they allow, so that no change in them breaks anybody. */
  isHarmless: boolean;
  /** Schemas that describe the same values, such as the one around a branch. Their properties may be sent, whether these name them or not. */
  beside: Both<Schema>;
  /** What these demand. Null: there are none. */
  around: Both<SchemaView | null>;
}

export function createPair(
  given: Pick<Pair, 'walk' | 'unit' | 'direction' | 'isBranch' | 'isHarmless' | 'beside'>,
  before: Schema,
  after: Schema,
): Pair {
  const { walk } = given;
  const read = (isListed: boolean) => ({
    before: viewOf(walk.before, before, isListed),
    after: viewOf(walk.after, after, isListed),
  });
  const written = read(false);
  const views = haveOtherValues(written.before, written.after) || haveOtherDemands(written) ? read(true) : written;
  const types = { before: typesIn(views.before), after: typesIn(views.after) };
  const { role, isProperty } = describePlace(walk.after, views.after.pointer);
  const isJson = /\/content\/[^/]*json/i.test(views.after.pointer);
  const isText = !isProperty && !isJson && (role === 'parameter' || role === 'header');
  const [one, other] = given.beside;
  const viewBeside = (side: Side, schema: Schema) => (schema.length === 0 ? null : viewOf(side, schema));
  const around = [viewBeside(walk.before, one), viewBeside(walk.after, other)] as const;
  return { ...given, types, isText, around, ...views };
}

/** Whether values that are alternatives in one of two schemas are not such, one by one, in the other. */
function haveOtherValues(...views: [SchemaView, SchemaView]): boolean {
  const [old, current] = views.map(({ side, unions }) =>
    unions.flatMap(({ branches }) =>
      branches.flatMap((branch) => [listedIn(side, branch) ?? []].filter(({ length }) => length > 0)),
    ),
  );
  const areSingle =
    old!.length > 0 && current!.length > 0 && [...old!, ...current!].every(({ length }) => length === 1);
  return (old!.length > 1 || current!.length > 1) && !areSingle;
}

/** Whether one of two schemas excludes or restricts values by keywords that the other one lacks. */
function haveOtherDemands({ before, after }: Record<'before' | 'after', SchemaView>): boolean {
  return keywordsCompared('demand').some((keyword) => before.keywords.has(keyword) !== after.keywords.has(keyword));
}

/** What a change does to the set of valid values, which the rule judges; or a verdict, an exception from the rule. */
export type Judgement = Effect | Verdict;

export function judge(judgement: Judgement, direction: Direction): Verdict {
  return judgement in rule.both ? rule[direction][judgement as Effect] : (judgement as Verdict);
}

/** Details of a change. */
export interface Details {
  before?: string | null | undefined;
  after?: string | null | undefined;
  /** Pointers of what changed. Default: those of the schemas. */
  at?: Pointers;
  /** Pointers of what the sentence is about. Default: those of the schemas. */
  about?: Pointers;
  /** The effect on the set of valid values, where the judgement is another one. */
  effect?: Effect | undefined;
  /** Whether it means the same in requests and responses. So do changes of texts. */
  isSideless?: boolean;
}

/** Null: absent in that document. One of them is set. */
export interface Pointers {
  before: string | null;
  after: string | null;
}

/**
 * Reports a change of a schema. `name` is the end of its code (`max-length-decreased`), `says` that of its
 * sentence (`has maxLength 20 instead of 50`).
 */
export function report(pair: Pair, judgement: Judgement, name: string, says: string, details: Details = {}): void {
  const { unit, direction, walk, before, after } = pair;
  const about = details.about ?? { before: before.pointer, after: after.pointer };
  const place =
    about.after === null ? describePlace(walk.before, about.before!) : describePlace(walk.after, about.after);
  const judged = judge(judgement, direction);
  const verdict = pair.isHarmless && (judged === 'breaking' || judged === 'unknown') ? 'safe' : judged;
  const side = verdict === 'docs' || details.isSideless === true ? null : direction;
  const hasSide = side === 'request' || side === 'response';
  const effect = details.effect ?? (judgement in rule.both ? (judgement as Effect) : undefined);
  addFact(unit, {
    verdict,
    code: `${hasSide ? `${side}-` : ''}${place.isProperty ? 'property' : place.role}-${name}`,
    message: `${place.text}${hasSide && place.role === 'schema' ? ` in ${side}s` : ''} ${says}.`,
    before: details.before ?? null,
    after: details.after ?? null,
    pointers: align(before, after, details.at ?? about),
    direction: side,
    ...(effect !== undefined && { effect }),
    ...(walk.rules.fingerprints && { decidedBy: () => [demandedBy(before), demandedBy(after)] }),
  });
}

/**
 * All that a schema demands, without texts, and without definitions that its references lead to by a pointer, since they
 * count with these. Its properties are compared one by one, so only their names count.
 */
function demandedBy({ flat, schema }: SchemaView): unknown {
  const isHolder = (keyword: string, part: unknown) =>
    /^(?:\$defs|definitions)$/.test(keyword) && [...referencesIn(part)].every((each) => each.startsWith('#/'));
  const parts = flat.parts.map(({ value }) =>
    Object.entries(value)
      .filter(([keyword]) => keywordOf(keyword).compared !== 'text' && !isHolder(keyword, value))
      .map(([keyword, demand]) => [keyword, keyword === 'properties' ? Object.keys(objectOf(demand)).sort() : demand])
      .sort(([one], [other]) => (one! < other! ? -1 : 1)),
  );
  return parts.length > 0 ? parts : schema.map(({ value }) => value);
}

type Spot = { pointer: string } | null | undefined;

/** Where both schemas say something. Where one of them does not, the schema. */
export function placesOf({ before, after }: Pair, old: Spot, current: Spot): { before: string; after: string } {
  return { before: old?.pointer ?? before.pointer, after: current?.pointer ?? after.pointer };
}

/** The effect of a restriction that is set, dropped or another one now. Null: absent. */
export function effectOf(before: unknown, after: unknown, changed: Effect): Effect {
  return before === null ? 'narrows' : after === null ? 'widens' : changed;
}

/** The code of such a change. */
export function codeOf(name: string, before: unknown, after: unknown): string {
  return `${name}-${before === null ? 'set' : after === null ? 'unset' : 'changed'}`;
}

/** `has format date; it had none`, `no longer has format date`, `has format time instead of date`. */
export function sayHas(noun: string, before: string | null, after: string | null, none = 'it had none'): string {
  if (before === null) return `has ${noun} ${after}; ${none}`;
  return after === null ? `no longer has ${noun} ${before}` : `has ${noun} ${after} instead of ${before}`;
}

/** `must match a`, `need not match a any more`, `must match b instead of a`. */
export function sayMust(verb: string, before: string | null, after: string | null): string {
  if (after === null) return `need not ${verb} ${before} any more`;
  return `must ${verb} ${after}${before === null ? '' : ` instead of ${before}`}`;
}

/**
 * Where one document lacks what changed, the schema of the other that lacks it: a part of `allOf`
 * if both documents have it. So a change of a shared part is the same change wherever it is used.
 */
function align(before: SchemaView, after: SchemaView, at: Pointers): Pointers {
  if (at.before === before.pointer && at.after !== null)
    return { ...at, before: ownerIn(before, after, at.after) ?? at.before };
  if (at.after === after.pointer && at.before !== null)
    return { ...at, after: ownerIn(after, before, at.before) ?? at.after };
  return at;
}

function ownerIn(lacking: SchemaView, having: SchemaView, pointer: string): string | null {
  const isPart = ({ flat }: SchemaView, at: string) => flat.parts.some((part) => part.pointer === at);
  const owner = outwards(pointer).find((at) => isPart(having, at));
  return owner !== undefined && isPart(lacking, owner) ? owner : null;
}

/** A keyword or member as a part of a code: `maxLength` is `max-length`. */
export function kebab(keyword: string): string {
  const dashed = keyword.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/[^a-z0-9]+/gi, '-');
  return dashed.replace(/^-+|-+$/g, '').slice(0, 60) || 'keyword';
}

const longestMessage = 600;
const longestValue = 200;
const longestQuote = 80;

/** Adds a change, with its texts shortened. */
export function addFact(unit: Unit, fact: Fact): void {
  const [before, after] = cutBoth(fact.before, fact.after, longestValue);
  unit.facts.push({ ...fact, message: asTitle(cut(fact.message, longestMessage)), before, after });
}

/** The end of a sentence about a text for people that changed. Null: absent. */
export function describeText(keyword: string, before: string | null, after: string | null): string {
  const [from, to] = cutBoth(before, after, longestQuote);
  if (from === null) return `has ${keyword} ${to}`;
  if (to === null) return `no longer has ${keyword} ${from}`;
  return `has ${keyword === 'examples' ? 'other' : 'another'} ${keyword}: ${to} instead of ${from}`;
}

/** A value in a sentence, shortened. */
export function quote(value: string): string {
  return cut(value, longestQuote);
}

/** Shortens two values. Long ones are shown from shortly before where they differ. */
function cutBoth(before: string | null, after: string | null, max: number): [string | null, string | null] {
  if (before === null || after === null || (before.length <= max && after.length <= max))
    return [before && cut(before, max), after && cut(after, max)];
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const start = same - 20;
  const from = (value: string) => cut(start > 0 ? `…${value.slice(start)}` : value, max);
  return [from(before), from(after)];
}

/**
 * Describes the place of a schema by the nearest thing around it that has a name. The text begins a sentence: `property
 * "a.b" of schema "Pet"`.
 */
function describePlace(side: Side, pointer: string): Label & { isProperty: boolean } {
  const keys = pointer.split('/').slice(1);
  let length = keys.length;
  let label = labelAt(side, keys);
  while (label === null && length > 0) label = labelAt(side, keys.slice(0, --length));
  const { role, text } = label ?? { role: 'schema', text: 'the schema' };
  const { path, extra, isProperty } = pathOf(keys.slice(length));
  if (path === '') return { role, text: text + extra, isProperty: false };
  return { role, text: `${isProperty ? 'property' : 'item'} ${JSON.stringify(path)} of ${text}${extra}`, isProperty };
}

function labelAt(side: Side, keys: readonly string[]): Label | null {
  const label = side.labels.get(['', ...keys].join('/'));
  if (label !== undefined) return label;
  const [first, second, third] = keys;
  const isDefinition = keys.length === 2 && (first === 'definitions' || first === '$defs');
  const isComponent = keys.length === 3 && first === 'components' && second === 'schemas';
  const name = isDefinition ? second : isComponent ? third : undefined;
  return name === undefined ? null : { role: 'schema', text: `schema ${JSON.stringify(unescapeKey(name))}` };
}

/** The path of properties below a schema, as `owner.tags[]`; and what cannot be said by a path. */
function pathOf(keys: readonly string[]): { path: string; extra: string; isProperty: boolean } {
  let path = '';
  let extra = '';
  let isProperty = false;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!;
    const next = keys[at + 1];
    if (key === 'properties' || key === 'patternProperties') {
      at++;
      isProperty = true;
      if (next !== undefined) path += `${path === '' ? '' : '.'}${unescapeKey(next)}`;
    } else if (key === 'items' || key === 'prefixItems') {
      const isIndex = next !== undefined && /^\d+$/.test(next);
      path += isIndex ? `[${next}]` : '[]';
      if (isIndex) at++;
    } else if (key === 'additionalProperties' || key === 'unevaluatedProperties') {
      path += path === '' ? '*' : '.*';
      isProperty = true;
    } else if (key === 'anyOf' || key === 'oneOf') {
      at++;
      extra += ` (option ${Number(next) + 1} of ${key})`;
    } else if (key === 'allOf' || key === 'content') at++;
    else if (key !== 'schema') extra += ` (${unescapeKey(key)})`;
  }
  return { path, extra, isProperty };
}
