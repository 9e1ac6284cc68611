import { memberOf, membersOf, resolvePlace, type Place, type Side } from '../side.ts';
import { textOf } from '../../render/json-value.ts';

/** One operation of one document. */
export interface Operation {
  /** For people: `GET /pets/{id}`, `WEBHOOK POST order`. */
  name: string;
  method: string;
  /** The path, the webhook's name, or the callback's expression. */
  path: string;
  place: Place;
  /** The path items that it belongs to: its own, and the one that this refers to. */
  items: readonly Place[];
}

const methods = new Set('get put post delete options head patch trace query'.split(' '));

/** The operations of a map of path items. `kind`: the start of their names. */
export function operationsOf(
  side: Side,
  map: Place | null,
  kind: '' | 'WEBHOOK ' | 'CALLBACK ',
  passedOver: ReadonlySet<string> = new Set(),
): Operation[] {
  return membersOf(side, map).flatMap(([path, written]) => {
    if (path.startsWith('x-') || passedOver.has(path)) return [];
    const target = memberOf(side, written, '$ref') === null ? null : resolvePlace(side, written);
    const items = target === null ? [written] : [written, target];
    const make = (method: string, place: Place): Operation => {
      return { name: `${kind}${method} ${path}`, method, path, place, items };
    };
    const members = items.flatMap((item) => membersOf(side, item));
    const plain = members.filter(([key]) => methods.has(key)).map(([key, place]) => make(key.toUpperCase(), place));
    const more = items.flatMap((item) => membersOf(side, memberOf(side, item, 'additionalOperations')));
    const all = [...plain, ...more.map(([method, place]) => make(method, place))];
    return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
  });
}

/** A path whatever its parameters are called: only their positions are sent. */
export function shapeOf(path: string): string {
  return path.replace(/\{[^{}]*\}/g, '{:}');
}

/** The names of a path's parameters in order. */
export function templateNames(path: string): string[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
}

/** The first of these path items' members of this name. */
export function fromItems(side: Side, { items }: Operation, key: string): Place | null {
  return items.map((item) => memberOf(side, item, key)).find((place) => place !== null) ?? null;
}

/** A text member of a place. Empty if it has none. */
export function textAt(side: Side, place: Place, key: string): string {
  return textOf(memberOf(side, place, key)?.value);
}
