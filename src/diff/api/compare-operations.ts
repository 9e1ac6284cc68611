import type { Direction } from '../../model/comparison.ts';
import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import {
  createTell,
  pointersOf,
  reportArrival,
  reportDeprecated,
  reportPart,
  reportRequired,
  reportSunset,
  reportTexts,
} from './report-part.ts';
import { operationsOf, type Operation, bodyOf } from './operations.ts';
import type { OperationPair } from './pair-operations.ts';
import { compareContents } from './compare-contents.ts';
import { compareEncodings } from './compare-encodings.ts';
import { compareParameters } from './compare-parameters.ts';
import { compareResponses } from './compare-responses.ts';
import { compareSecurity } from './compare-security.ts';
import { compareServers } from './servers.ts';
import { codeOf, sayHas } from '../report.ts';
import { judgeRemoval } from '../sunset.ts';
import { textOfValue } from '../schema/read-schema.ts';
import { memberOf, membersOf, resolvePlace, type Side } from '../side.ts';
import { pairBy, type Unit, type Walk } from '../walk.ts';

/** Compares one operation of two documents. One that the API sends is the other way round: its request is read, its answers are sent. */
export function compareOperation(walk: Walk, unit: Unit, { before, after, kind, isSent }: OperationPair): void {
  const at = { before: before?.place.pointer ?? null, after: after?.place.pointer ?? null };
  if (after === null) {
    const { isOver, says } = judgeRemoval(walk, [before!.place]);
    const code = `${says === '' ? '' : 'deprecated-'}${kind}`;
    const tell = createTell(unit, { code, subject: before!.name, at });
    return tell(isOver ? 'safe' : 'breaking', 'removed', `was removed${says}`, before!.name);
  }
  if (before === null) {
    reportPart(unit, 'safe', `${kind}-added`, `${after.name} was added.`, { after: after.name, at });
    return reportArrival(walk, unit, after.place, after.name, kind);
  }
  compareSecurity(walk, unit, before, after, isSent);
  if (!isSent) compareServers(walk, unit, before, after);
  compareItems(walk, unit, before, after);
  // They may need schemes of security that changed.
  compareCallbacks(walk, unit, before, after, isSent);
  const isSame =
    walk.same(before.place.value, after.place.value) && sameItems(walk, before, after) && before.name === after.name;
  if (isSame && walk.before.dialect.name !== '2.0') return;
  compareHead(walk, unit, before, after);
  const [sent, received]: [Direction, Direction] = isSent ? ['response', 'request'] : ['request', 'response'];
  compareParameters(walk, unit, [before, after], sent);
  compareBody(walk, unit, before, after, sent);
  compareResponses(walk, unit, [before, after], received);
}

function compareItems(walk: Walk, parent: Unit, before: Operation, after: Operation): void {
  for (const [at, item] of before.items.entries()) {
    const other = after.items[at];
    if (other === undefined) return;
    const of = { subject: `the path ${after.path}`, role: 'path', keys: ['summary', 'description'] };
    walk.below(parent, `path item ${item.pointer} | ${other.pointer}`, (unit) =>
      reportTexts(walk, unit, { before: item, after: other }, of),
    );
  }
}

function sameItems(walk: Walk, before: Operation, after: Operation): boolean {
  const parametersIn = ({ items }: Operation) => items.map(({ value }) => objectOf(value)['parameters'] ?? null);
  return walk.same(parametersIn(before), parametersIn(after));
}

function compareHead(walk: Walk, unit: Unit, before: Operation, after: Operation): void {
  const places = { before: before.place, after: after.place };
  const [old, current] = [objectOf(before.place.value), objectOf(after.place.value)];
  const at = pointersOf(places);
  const keys = ['summary', 'description', 'externalDocs'];
  reportTexts(walk, unit, places, { subject: after.name, role: 'operation', keys });
  const [from, to] = [textOf(old['operationId']) || null, textOf(current['operationId']) || null];
  if (from !== to) {
    // Requests are the same, but generated clients name their functions after it.
    const tell = createTell(unit, { code: 'operation', subject: after.name, at });
    tell(from === null ? 'safe' : 'risky', codeOf('id', from, to), sayHas('operationId', from, to), from, to);
  }
  reportDeprecated(walk, unit, places, after.name, 'operation');
  compareTags(unit, before, after);
  compareOthers(unit, before, after);
  reportSunset(walk, unit, places, after.name, 'operation');
}

const members = new Set(
  'tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated security servers consumes produces schemes'.split(' '), // prettier-ignore
);

/** Members that no version of OpenAPI knows. */
function compareOthers(unit: Unit, before: Operation, after: Operation): void {
  const [old, current] = [objectOf(before.place.value), objectOf(after.place.value)];
  const at = { before: before.place.pointer, after: after.place.pointer };
  const tell = createTell(unit, { code: 'operation-member', subject: after.name, at });
  for (const key of new Set([...Object.keys(old), ...Object.keys(current)])) {
    if (members.has(key) || key.startsWith('x-') || textOfValue(old[key]) === textOfValue(current[key])) continue;
    tell('unknown', 'changed', `has another ${JSON.stringify(key)}; what that means cannot be judged`, key, key);
  }
}

function compareTags(unit: Unit, before: Operation, after: Operation): void {
  const [old, current] = [before, after].map(({ place }) => listOf(objectOf(place.value)['tags']).map(textOf));
  const removed = old!.filter((tag) => !current!.includes(tag)).join(', ');
  const added = current!.filter((tag) => !old!.includes(tag)).join(', ');
  const at = { before: before.place.pointer, after: after.place.pointer };
  const tell = createTell(unit, { code: 'operation-tag', subject: after.name, at });
  if (removed !== '') tell('docs', 'removed', `no longer has the tag ${removed}`, removed);
  if (added !== '') tell('docs', 'added', `has the tag ${added}`, null, added);
}

function compareBody(walk: Walk, parent: Unit, old: Operation, current: Operation, direction: Direction): void {
  const [before, after] = [bodyOf(walk.before, old), bodyOf(walk.after, current)];
  if (before === null && after === null) return;
  const at = {
    before: before?.place.pointer ?? old.place.pointer,
    after: after?.place.pointer ?? current.place.pointer,
  };
  const tell = createTell(parent, { code: `${direction}-body`, subject: 'The request body', at, direction });
  if (before === null) {
    const [name, end] = after!.isRequired ? ['added-as-required', 'required'] : ['added', 'optional'];
    // Receivers that know no body pass over one.
    const effect = after!.isRequired || direction === 'response' ? 'narrows' : 'widens';
    return tell(effect, name!, `was added and is ${end}`);
  }
  if (after === null) return tell('breaking', 'removed', 'was removed');
  const shared = /^\/components\/requestBodies\/([^/]+)$/.exec(after.place.pointer)?.[1];
  const subject = shared === undefined ? 'the request body' : `request body ${JSON.stringify(shared)}`;
  const types = [...before.content.keys(), '|', ...after.content.keys()].join();
  walk.below(parent, `body ${direction} ${at.before} | ${at.after} | ${types}`, (unit) => {
    const places = { before: before.place, after: after.place };
    reportRequired(unit, before, after, { direction, subject, role: 'body' });
    reportTexts(walk, unit, places, { subject, role: 'body', keys: ['description'] });
    const where = { direction, subject, role: 'body' };
    compareEncodings(walk, unit, compareContents(walk, unit, before, after, where), where);
  });
}

/** Callbacks are matched by name and expression. Each is the other side's request, as a webhook is. */
function compareCallbacks(walk: Walk, parent: Unit, before: Operation, after: Operation, isSent: boolean): void {
  const pairs = pairBy(walk, callbacksOf(walk.before, before), callbacksOf(walk.after, after), [
    (_, { callback, name }) => [`${callback} ${name}`],
    (_, { name }) => [name],
    (_, { callback, method }) => [`${callback} ${method}`],
  ]);
  for (const pair of pairs) {
    const { before: old, after: current } = pair;
    const key = `callback ${isSent} ${old?.place.pointer} | ${current?.place.pointer}`;
    walk.below(parent, key, (unit) => {
      if (old && current) compareAddress(unit, old, current);
      compareOperation(walk, unit, { ...pair, kind: 'callback', isSent: !isSent });
    });
  }
}

interface Callback extends Operation {
  callback: string;
}

function callbacksOf(side: Side, { place }: Operation): Callback[] {
  return membersOf(side, memberOf(side, place, 'callbacks')).flatMap(([callback, written]) =>
    operationsOf(side, resolvePlace(side, written), 'CALLBACK ').map((operation) => ({ ...operation, callback })),
  );
}

/** Compares what a callback is called, and the expression that says to which address it is sent. */
function compareAddress(unit: Unit, before: Callback, after: Callback): void {
  const at = { before: before.place.pointer, after: after.place.pointer };
  const [was, is] = [before.callback, after.callback].map((name) => JSON.stringify(name));
  const tell = (subject: string) => createTell(unit, { code: 'callback', subject: `The callback ${subject}`, at });
  const moved = `is sent to ${after.path} instead of ${before.path}`;
  if (before.path !== after.path) tell(is!)('breaking', 'expression-changed', moved, before.path, after.path);
  else if (was !== is)
    tell(was!)('docs', 'renamed', `is called ${is}; what is sent is the same`, before.callback, after.callback);
}
