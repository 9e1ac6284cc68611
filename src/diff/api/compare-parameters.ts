import type { Direction } from '../../model/comparison.ts';
import { objectOf, textOf } from '../../render/json-value.ts';
import {
  createTell,
  pointersOf,
  reportArrival,
  reportDeprecated,
  reportPart,
  reportRequired,
  reportSunset,
  reportTexts,
  setLabel,
  type Places,
  type Tell,
} from './report-part.ts';
import { kebab, type Judgement, type Pointers } from '../report.ts';
import { judgeRemoval } from '../sunset.ts';
import { parameterKey } from '../../model/openapi-shape.ts';
import { templateNames, type Operation, parametersOf, type Parameter, type Response } from './operations.ts';
import { compareContents } from './compare-contents.ts';
import { compareSchemas } from '../schema/compare-schemas.ts';
import { typesIn, viewOf } from '../schema/read-schema.ts';
import type { Place, Side } from '../side.ts';
import type { Both, Unit, Walk } from '../walk.ts';

/** Compares the parameters of an operation. `direction`: that of its request. */
export function compareParameters(walk: Walk, unit: Unit, [old, current]: Both<Operation>, direction: Direction): void {
  const [before, after] = [parametersOf(walk.before, old), parametersOf(walk.after, current)];
  // Since 3.0 they are said by other means. What 2.0 says of them becomes nothing with the next version.
  if (walk.after.dialect.name !== '2.0')
    for (const name of ['accept', 'content-type', 'authorization'])
      for (const all of [before, after]) all.delete(`header ${name}`);
  renamePathParameters(unit, before, old, current);
  const what = (one: Parameter): What => ({ direction, role: 'parameter', subject: nameOf(one) });
  compareAll(
    walk,
    unit,
    [
      { place: old.place, all: before },
      { place: current.place, all: after },
    ],
    what,
  );
}

interface Having {
  place: Place;
  all: ReadonlyMap<string, Parameter>;
}

function compareAll(walk: Walk, unit: Unit, [before, after]: Both<Having>, whatOf: (one: Parameter) => What): void {
  for (const [key, one] of before.all) {
    const other = after.all.get(key);
    const at = { before: one.place.pointer, after: after.place.pointer };
    if (!other) reportRemoved(walk, unit, one, whatOf(one), at);
    else if (one.name !== other.name || !walk.same(one.place.value, other.place.value))
      compareParameter(walk, unit, one, other, whatOf(other));
  }
  for (const [key, one] of after.all) {
    if (before.all.has(key)) continue;
    reportAdded(walk, unit, one, whatOf(one), { before: before.place.pointer, after: one.place.pointer });
  }
}

/** Reports a parameter or a header that is gone. Who reads it misses it; who sent it is not told whether it is still taken. */
function reportRemoved(walk: Walk, unit: Unit, one: Parameter, what: What, at: Pointers): void {
  const { direction, role, subject } = what;
  const { isOver, says } = judgeRemoval(walk, [one.place]);
  const was = one.isRequired ? 'required' : 'optional';
  const [judgement, start, end]: readonly [Judgement, string, string] =
    direction === 'response'
      ? one.isRequired
        ? ['widens', '', `; it was ${was}`]
        : ['risky', 'optional-', `; it was ${was}`]
      : role === 'header' && one.isRequired
        ? ['widens', '', '; it was required']
        : ['risky', '', '; whether it is still accepted is not said'];
  const tell = createTell(unit, { code: `${direction}-${role}`, subject, at, direction });
  tell(isOver ? 'safe' : judgement, `${start}removed`, `was removed${isOver ? says : end}`, one.name);
}

/** Reports a new parameter or header. Readers pass over one that they do not know. */
function reportAdded(walk: Walk, unit: Unit, one: Parameter, what: What, at: Pointers): void {
  const { direction, role, subject } = what;
  const isDemand = one.isRequired && direction === 'request';
  const code = `${direction}-${role}-added${isDemand ? '-as-required' : ''}`;
  const message = `${subject} was added and is ${one.isRequired ? 'required' : 'optional'}.`;
  reportPart(unit, isDemand ? 'narrows' : 'safe', code, message, { after: one.name, at, direction });
  reportArrival(walk, unit, one.place, subject, `${direction}-${role}`);
}

/** Gives the path's parameters of the old document the names that they have in the new one. */
function renamePathParameters(unit: Unit, before: Map<string, Parameter>, old: Operation, current: Operation): void {
  const names = templateNames(current.path);
  const renamed = templateNames(old.path).flatMap((name, at) => {
    const parameter = before.get(`path ${name}`);
    if (names[at] === undefined || names[at] === name || parameter === undefined) return [];
    before.delete(`path ${name}`);
    return [{ ...parameter, name: names[at], was: name }];
  });
  for (const { was, ...parameter } of renamed) {
    before.set(parameterKey(parameter.in, parameter.name), parameter);
    const at = { before: parameter.place.pointer, after: current.place.pointer };
    const tell = createTell(unit, { code: 'path-parameter', subject: `Path parameter ${JSON.stringify(was)}`, at });
    const says = `is called ${JSON.stringify(parameter.name)}; requests are the same`;
    tell('safe', 'renamed', says, was, parameter.name);
  }
}

function nameOf({ in: where, name }: Parameter): string {
  const isKnown = ['header', 'path', 'query', 'cookie'].includes(where);
  return `${isKnown ? `${where} ` : ''}parameter ${JSON.stringify(name)}`;
}

interface What {
  direction: Direction;
  role: 'parameter' | 'header';
  subject: string;
}

function compareParameter(walk: Walk, parent: Unit, before: Parameter, after: Parameter, what: What): void {
  const { direction, role, subject } = what;
  const places = { before: before.place, after: after.place };
  setLabel(walk, places, { role, text: subject });
  // Each reference may say a description of its own.
  const said = [before, after].map(({ place }) => textOf(objectOf(place.value)['description'])).join(' | ');
  walk.below(parent, `${role} ${direction} ${before.place.pointer} | ${after.place.pointer} | ${said}`, (unit) => {
    reportRequired(unit, before, after, what);
    compareWriting(walk, unit, before, after, what);
    const isSchemaOwn = [before, after].some(({ schema, place }) => schema === place);
    if (!isSchemaOwn) {
      reportTexts(walk, unit, places, { subject, role, keys: ['description', 'example', 'examples'] });
      reportDeprecated(walk, unit, places, subject, role);
      reportSunset(walk, unit, places, subject, role);
    }
    if (before.content.size > 0 && after.content.size > 0) return void compareContents(walk, unit, before, after, what);
    // One without a schema allows anything.
    const schemaOf = ({ schema, content, place }: Parameter) =>
      schema ?? [...content.values()][0]?.schema ?? { value: true, pointer: `${place.pointer}/schema` };
    compareSchemas(walk, unit, direction, [schemaOf(before)], [schemaOf(after)]);
  });
}

/** Whether the same value is written in the same way. Styles matter for lists and objects only. */
function compareWriting(walk: Walk, unit: Unit, before: Parameter, after: Parameter, what: What): void {
  const { direction, role, subject } = what;
  const places = { before: before.place, after: after.place };
  const tell = createTell(unit, { code: `${direction}-${role}`, subject, at: pointersOf(places), direction });
  const types = [typesOf(walk.before, before), typesOf(walk.after, after)];
  const [old, current] = [before, after].map(({ style, content }) => {
    if (content.size > 0) return { kind: 'as', name: [...content.keys()].join(', ') };
    return { kind: 'in style', name: plainStyle(style, types) };
  });
  // Media types are compared as those of bodies.
  if (old!.kind !== current!.kind || (old!.kind !== 'as' && old!.name !== current!.name)) {
    const from = old!.kind === current!.kind ? old!.name : `${old!.kind} ${old!.name}`;
    const says = `is written ${current!.kind} ${current!.name} instead of ${from}`;
    tell('changes', 'style-changed', says, old!.name, current!.name);
  }
  if (role === 'header') return;
  for (const key of ['allowReserved', 'allowEmptyValue'] as const) compareSwitch(tell, places, key);
}

/** How lists and objects are written, where there may be some. */
export function plainStyle(style: string, types: readonly (ReadonlySet<string> | null)[]): string {
  const areWithout = (type: string) => types.every((names) => names !== null && !names.has(type));
  const isPlain = areWithout('object') && (areWithout('array') || style.startsWith('simple'));
  return isPlain ? style.replace(' exploded', '') : style;
}

/** Compares what is false where it is not said, and lets senders write more where it is true. */
export function compareSwitch(tell: Tell, { before, after }: Places, key: 'allowReserved' | 'allowEmptyValue'): void {
  const [was, is] = [before, after].map(({ value }) => objectOf(value)[key] === true);
  if (was === is) return;
  const [effect, end] = is ? (['widens', 'set'] as const) : (['narrows', 'unset'] as const);
  tell(effect, `${kebab(key)}-${end}`, `has ${key} ${is} instead of ${was}`, `${was}`, `${is}`);
}

/** Compares the headers of responses, or of parts of forms. */
export function compareHeaders(
  walk: Walk,
  unit: Unit,
  both: Both<Pick<Response, 'place' | 'headers'>>,
  of: { direction: Direction; subject: string },
): void {
  const what = ({ name }: Parameter): What => {
    return { direction: of.direction, role: 'header', subject: `header ${JSON.stringify(name)} of ${of.subject}` };
  };
  // Since 3.0, a type is said by other means.
  const isIgnored = (key: string) => key === 'content-type' && walk.after.dialect.name !== '2.0';
  const [old, current] = both.map(({ place, headers }): Having => {
    return { place, all: new Map([...headers].filter(([key]) => !isIgnored(key))) };
  });
  compareAll(walk, unit, [old!, current!], what);
}

function typesOf(side: Side, { schema }: Parameter): ReadonlySet<string> | null {
  return schema && typesIn(viewOf(side, [schema]));
}
