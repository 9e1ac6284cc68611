import type { Direction } from '../../model/comparison.ts';
import { objectOf } from '../../render/json-value.ts';
import { reportPart, reportTexts } from './report-part.ts';
import { templateNames, type Operation } from './pair-operations.ts';
import { parameterKey, parametersOf, type Parameter } from './operation-parts.ts';
import { compareContents } from './compare-contents.ts';
import { compareSchemas } from '../schema/compare-schemas.ts';
import { viewOf } from '../schema/read-schema.ts';
import { memberOf, type Side } from '../side.ts';
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
    if (other !== undefined) compareParameter(walk, unit, parameter, other, direction);
    else {
      const message = `${nameOf(parameter, true)} was removed; whether it is still accepted is not said.`;
      reportPart(unit, {
        verdict: 'risky',
        code: `${direction}-parameter-removed`,
        message,
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
    const message = `${nameOf(parameter, true)} was added and is ${isRequired ? 'required' : 'optional'}.`;
    reportPart(unit, {
      effect: isRequired ? 'narrows' : 'widens',
      code,
      message,
      after: parameter.name,
      at,
      direction,
    });
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
    reportPart(unit, {
      verdict: 'safe',
      code: 'path-parameter-renamed',
      message,
      before: was,
      after: parameter.name,
      at: { before: parameter.place.pointer, after: current.place.pointer },
    });
  }
}

function nameOf({ in: where, name }: Parameter, isStart = false): string {
  const kind =
    where === 'header' || where === 'path' || where === 'query' || where === 'cookie'
      ? `${where} parameter`
      : 'parameter';
  return `${isStart ? kind.slice(0, 1).toUpperCase() + kind.slice(1) : kind} ${JSON.stringify(name)}`;
}

function compareParameter(walk: Walk, parent: Unit, before: Parameter, after: Parameter, direction: Direction): void {
  if (before.name === after.name && walk.same(before.place.value, after.place.value)) return;
  const label = { role: 'parameter', text: nameOf(after) };
  walk.before.labels.set(before.place.pointer, label);
  walk.after.labels.set(after.place.pointer, label);
  walk.below(parent, `parameter ${direction} ${before.place.pointer} | ${after.place.pointer}`, (unit) => {
    const at = { before: before.place.pointer, after: after.place.pointer };
    const subject = nameOf(after, true);
    if (before.isRequired !== after.isRequired) {
      const [from, to] = after.isRequired ? ['optional', 'required'] : ['required', 'optional'];
      reportPart(unit, {
        effect: after.isRequired ? 'narrows' : 'widens',
        code: `${direction}-parameter-became-${to}`,
        message: `${subject} is ${to}; it was ${from}.`,
        before: from,
        after: to,
        at,
        direction,
      });
    }
    compareWriting(walk, unit, before, after, direction);
    const isSchemaOwn = [before, after].some(({ schema, place }) => schema === place);
    if (!isSchemaOwn)
      reportTexts(walk, unit, {
        before: before.place,
        after: after.place,
        subject,
        role: 'parameter',
        keys: ['description', 'example', 'examples'],
      });
    if (!isSchemaOwn) compareDeprecated(walk, unit, before, after);
    if (before.content.size > 0 || after.content.size > 0)
      compareContents(walk, unit, before, after, { direction, subject: nameOf(after), role: 'parameter' });
    else compareValues(walk, unit, before, after, direction);
  });
}

/** Compares the values of two parameters or headers. One without a schema allows anything. */
export function compareValues(walk: Walk, unit: Unit, before: Parameter, after: Parameter, direction: Direction): void {
  const anything = ({ place }: Parameter) => ({ value: true, pointer: `${place.pointer}/schema` });
  compareSchemas(walk, unit, direction, [before.schema ?? anything(before)], [after.schema ?? anything(after)]);
}

/** Whether the same value is written in the same way. Matters for lists and objects only. */
function compareWriting(walk: Walk, unit: Unit, before: Parameter, after: Parameter, direction: Direction): void {
  const at = { before: before.place.pointer, after: after.place.pointer };
  const isPlain = isPrimitive(walk.before, before) && isPrimitive(walk.after, after);
  const [old, current] = isPlain
    ? [before, after].map(({ style }) => style.replace(' exploded', ''))
    : [before.style, after.style];
  if (old !== current) {
    const message = `${nameOf(after, true)} is written in style ${current} instead of ${old}.`;
    reportPart(unit, {
      effect: 'changes',
      code: `${direction}-parameter-style-changed`,
      message,
      before: old!,
      after: current!,
      at,
      direction,
    });
  }
  for (const key of ['allowReserved', 'allowEmptyValue']) {
    const [was, is] = [before, after].map(({ place }) => objectOf(place.value)[key] === true);
    if (was === is) continue;
    const name = key === 'allowReserved' ? 'allow-reserved' : 'allow-empty-value';
    const message = `${nameOf(after, true)} has ${key} ${is} instead of ${was}.`;
    reportPart(unit, {
      effect: is ? 'widens' : 'narrows',
      code: `${direction}-parameter-${name}-${is ? 'set' : 'unset'}`,
      message,
      before: `${was}`,
      after: `${is}`,
      at,
      direction,
    });
  }
}

function isPrimitive(side: Side, { schema }: Parameter): boolean {
  const types = schema && viewOf(side, [schema]).types;
  return types !== null && [...types.value].every((type) => type !== 'array' && type !== 'object');
}

function compareDeprecated(walk: Walk, unit: Unit, before: Parameter, after: Parameter): void {
  const [old, current] = [
    memberOf(walk.before, before.place, 'deprecated'),
    memberOf(walk.after, after.place, 'deprecated'),
  ];
  const [was, is] = [old?.value === true, current?.value === true];
  if (was === is) return;
  const at = { before: old?.pointer ?? before.place.pointer, after: current?.pointer ?? after.place.pointer };
  const message = `${nameOf(after, true)} is ${is ? '' : 'no longer '}deprecated.`;
  reportPart(unit, { verdict: 'safe', code: is ? 'parameter-deprecated' : 'parameter-reactivated', message, at });
}
