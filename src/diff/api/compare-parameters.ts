import type { Direction } from '../../model/comparison.ts';
import { objectOf } from '../../render/json-value.ts';
import {
  membersAt,
  reportPart,
  reportRequired,
  reportSunset,
  reportTexts,
  setLabel,
  type Places,
} from './report-part.ts';
import { kebab } from '../report.ts';
import { judgeRemoval } from '../sunset.ts';
import { templateNames, type Operation } from './pair-operations.ts';
import { parameterKey, parametersOf, type Parameter } from './operation-parts.ts';
import { compareContents } from './compare-contents.ts';
import { compareSchemas } from '../schema/compare-schemas.ts';
import { viewOf } from '../schema/read-schema.ts';
import type { Side } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';

/** Compares the parameters of an operation. `direction`: that of its request. */
export function compareParameters(
  walk: Walk,
  unit: Unit,
  old: Operation,
  current: Operation,
  direction: Direction,
): void {
  const before = parametersOf(walk.before, old);
  const after = parametersOf(walk.after, current);
  renamePathParameters(unit, before, old, current);
  for (const [key, parameter] of before) {
    const other = after.get(key);
    const isSame = other && parameter.name === other.name && walk.same(parameter.place.value, other.place.value);
    if (other !== undefined) {
      if (!isSame)
        compareParameter(walk, unit, parameter, other, { direction, role: 'parameter', subject: nameOf(other) });
    } else {
      const { isOver, says } = judgeRemoval(walk, [parameter.place.value]);
      const end = isOver ? says : '; whether it is still accepted is not said';
      const message = `${nameOf(parameter)} was removed${end}.`;
      reportPart(unit, isOver ? 'safe' : 'risky', `${direction}-parameter-removed`, message, {
        before: parameter.name,
        at: { before: parameter.place.pointer, after: current.place.pointer },
        direction,
      });
    }
  }
  for (const [key, parameter] of after) {
    if (before.has(key)) continue;
    const at = { before: old.place.pointer, after: parameter.place.pointer };
    const { isRequired } = parameter;
    const code = `${direction}-parameter-added${isRequired ? '-as-required' : ''}`;
    const message = `${nameOf(parameter)} was added and is ${isRequired ? 'required' : 'optional'}.`;
    reportPart(unit, isRequired ? 'narrows' : 'widens', code, message, { after: parameter.name, at, direction });
  }
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
    before.set(parameterKey(parameter), parameter);
    const message = `Path parameter ${JSON.stringify(was)} is called ${JSON.stringify(parameter.name)}; requests are the same.`;
    reportPart(unit, 'safe', 'path-parameter-renamed', message, {
      before: was,
      after: parameter.name,
      at: { before: parameter.place.pointer, after: current.place.pointer },
    });
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

/** Compares two parameters of requests, or two headers of responses. */
export function compareParameter(walk: Walk, parent: Unit, before: Parameter, after: Parameter, what: What): void {
  const { direction, role, subject } = what;
  const places = { before: before.place, after: after.place };
  setLabel(walk, places, { role, text: subject });
  walk.below(parent, `${role} ${direction} ${before.place.pointer} | ${after.place.pointer}`, (unit) => {
    reportRequired(unit, before, after, what);
    if (role === 'parameter') compareWriting(walk, unit, before, after, what);
    const isSchemaOwn = [before, after].some(({ schema, place }) => schema === place);
    if (!isSchemaOwn) {
      reportTexts(walk, unit, places, { subject, role, keys: ['description', 'example', 'examples'] });
      if (role === 'parameter') {
        compareDeprecated(walk, unit, places, subject);
        reportSunset(walk, unit, places, subject, role);
      }
    }
    if (before.content.size > 0 || after.content.size > 0) return compareContents(walk, unit, before, after, what);
    // One without a schema allows anything.
    const schemaOf = ({ schema, place }: Parameter) => schema ?? { value: true, pointer: `${place.pointer}/schema` };
    compareSchemas(walk, unit, direction, [schemaOf(before)], [schemaOf(after)]);
  });
}

/** Whether the same value is written in the same way. Matters for lists and objects only. */
function compareWriting(
  walk: Walk,
  unit: Unit,
  before: Parameter,
  after: Parameter,
  { direction, subject }: What,
): void {
  const at = { before: before.place.pointer, after: after.place.pointer };
  const isPlain = isPrimitive(walk.before, before) && isPrimitive(walk.after, after);
  const [old, current] = isPlain
    ? [before, after].map(({ style }) => style.replace(' exploded', ''))
    : [before.style, after.style];
  if (old !== current) {
    const message = `${subject} is written in style ${current} instead of ${old}.`;
    reportPart(unit, 'changes', `${direction}-parameter-style-changed`, message, {
      before: old!,
      after: current!,
      at,
      direction,
    });
  }
  for (const key of ['allowReserved', 'allowEmptyValue']) {
    const [was, is] = [before, after].map(({ place }) => objectOf(place.value)[key] === true);
    if (was === is) continue;
    const message = `${subject} has ${key} ${is} instead of ${was}.`;
    reportPart(
      unit,
      is ? 'widens' : 'narrows',
      `${direction}-parameter-${kebab(key)}-${is ? 'set' : 'unset'}`,
      message,
      {
        before: `${was}`,
        after: `${is}`,
        at,
        direction,
      },
    );
  }
}

function isPrimitive(side: Side, { schema }: Parameter): boolean {
  const types = schema && viewOf(side, [schema]).types;
  return types !== null && [...types.value].every((type) => type !== 'array' && type !== 'object');
}

function compareDeprecated(walk: Walk, unit: Unit, places: Places, subject: string): void {
  const { before, after, at } = membersAt(walk, places, 'deprecated');
  const [was, is] = [before === 'true', after === 'true'];
  if (was === is) return;
  const message = `${subject} is ${is ? '' : 'no longer '}deprecated.`;
  reportPart(unit, 'safe', is ? 'parameter-deprecated' : 'parameter-reactivated', message, { at });
}
