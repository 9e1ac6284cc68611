import { objectOf, textOf } from '../../render/json-value.ts';
import { memberOf, membersOf, placeAt, resolvePlace, type Place, type Side } from '../side.ts';
import type { Walk } from '../walk.ts';

/** One operation of one document. */
export interface Operation {
  /** For people: `GET /pets/{id}`, `WEBHOOK POST order`. */
  name: string;
  path: string;
  place: Place;
  /** The path items that it belongs to: its own, and the one that this refers to. */
  items: readonly Place[];
}

/** The same operation in both documents. */
export interface OperationPair {
  before: Operation | null;
  after: Operation | null;
  isWebhook: boolean;
}

const methods = new Set('get put post delete options head patch trace query'.split(' '));

/**
 * The operations of both documents, in the order of the new one; then those that were removed. Paths in which nothing
 * changed are left out: they are most of two versions.
 */
export function pairOperations(walk: Walk): OperationPair[] {
  const { before, after } = walk;
  const paths = pairItems(before, after, placeAt(before, ['paths']), placeAt(after, ['paths']), false, samePaths(walk));
  const webhooks = [before, after].map((side) => placeAt(side, ['webhooks']) ?? placeAt(side, ['x-webhooks']));
  return [...paths, ...pairItems(before, after, webhooks[0]!, webhooks[1]!, true)];
}

/** The paths whose operations are the same in both documents, with all that they refer to or take from the root. */
function samePaths({ before, after, same }: Walk): ReadonlySet<string> {
  const isSame = (...keys: string[]) => same(placeAt(before, keys)?.value, placeAt(after, keys)?.value);
  // In OpenAPI 2.0, more of an operation stands at the root.
  const areRootsSame = isSame('servers') && isSame('security') && isSame('components', 'securitySchemes');
  if (before.dialect.name === '2.0' || !areRootsSame) return new Set();
  const [old, current] = [before, after].map(({ document }) => objectOf(document['paths']));
  const names = Object.keys(old!).filter((path) => Object.hasOwn(current!, path));
  return new Set(names.filter((path) => same(old![path], current![path])));
}

/** The operations of two maps of path items: paths, webhooks, or one callback. */
export function pairItems(
  before: Side,
  after: Side,
  old: Place | null,
  current: Place | null,
  isWebhook: boolean,
  passedOver: ReadonlySet<string> = new Set(),
): OperationPair[] {
  const left = new Map(
    operationsOf(before, old, isWebhook, passedOver).map((operation) => [operation.name, operation]),
  );
  const candidates = operationsOf(after, current, isWebhook, passedOver);
  const pairs = candidates.map((operation): OperationPair => {
    const same = left.get(operation.name) ?? null;
    left.delete(operation.name);
    return { before: same, after: operation, isWebhook };
  });
  // A parameter of a path may have another name: only its position is sent.
  const byShape = Map.groupBy(left.values(), ({ name }) => shapeOf(name));
  for (const pair of pairs) {
    if (pair.before !== null) continue;
    pair.before = byShape.get(shapeOf(pair.after!.name))?.shift() ?? null;
    if (pair.before !== null) left.delete(pair.before.name);
  }
  return [...pairs, ...[...left.values()].map((operation) => ({ before: operation, after: null, isWebhook }))];
}

function shapeOf(name: string): string {
  return name.replace(/\{[^{}]*\}/g, '{}').replace(/\/$/, '');
}

/** The names of a path's parameters in order. */
export function templateNames(path: string): string[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
}

function operationsOf(side: Side, map: Place | null, isWebhook: boolean, passedOver: ReadonlySet<string>): Operation[] {
  return membersOf(side, map).flatMap(([path, written]) => {
    if (path.startsWith('x-') || passedOver.has(path)) return [];
    const target = memberOf(side, written, '$ref') === null ? null : resolvePlace(side, written);
    const items = target === null ? [written] : [written, target];
    const make = (method: string, place: Place): Operation => {
      const name = `${isWebhook ? 'WEBHOOK ' : ''}${method} ${path}`;
      return { name, path, place, items };
    };
    const members = items.flatMap((item) => membersOf(side, item));
    const plain = members.filter(([key]) => methods.has(key)).map(([key, place]) => make(key.toUpperCase(), place));
    const more = items.flatMap((item) => membersOf(side, memberOf(side, item, 'additionalOperations')));
    const all = [...plain, ...more.map(([method, place]) => make(method, place))];
    return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
  });
}

/** The first of these path items' members of this name. */
export function fromItems(side: Side, { items }: Operation, key: string): Place | null {
  return items.map((item) => memberOf(side, item, key)).find((place) => place !== null) ?? null;
}

/** A text member of a place. Empty if it has none. */
export function textAt(side: Side, place: Place, key: string): string {
  return textOf(memberOf(side, place, key)?.value);
}
