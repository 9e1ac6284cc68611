import { type JsonObject, isObject } from '../model/json.ts';
import { textOf, objectOf, pointerKeys, resolveLocal } from '../render/json-value.ts';

/** How a document's schemas are read. */
interface Dialect {
  /** Equal names: equal meaning. */
  name: string;
  /** Whether members beside `$ref` count. */
  hasSiblings: boolean;
  /** The member that adds null to `type`, or null. */
  nullable: 'nullable' | 'x-nullable' | null;
  /** Whether `exclusiveMinimum` and `exclusiveMaximum` are booleans. */
  hasExclusiveFlags: boolean;
  /** Whether `items` may be a list, with `additionalItems` for the rest. */
  hasListItems: boolean;
}

const modern = { hasSiblings: true, nullable: null, hasExclusiveFlags: false, hasListItems: false } as const;

/** The dialect of an OpenAPI document. */
export function dialectOfApi(document: JsonObject): Dialect {
  if (document['swagger'] !== undefined)
    return { name: '2.0', hasSiblings: false, nullable: 'x-nullable', hasExclusiveFlags: true, hasListItems: false };
  if (textOf(document['openapi']).startsWith('3.0'))
    return { name: '3.0', hasSiblings: false, nullable: 'nullable', hasExclusiveFlags: true, hasListItems: false };
  const schemas = textOf(document['jsonSchemaDialect']);
  return /draft-|2019-09/.test(schemas) ? dialectOfSchema({ $schema: schemas }) : { name: '3.1', ...modern };
}

/** The dialect of a JSON Schema. Without `$schema` it is the newest. */
export function dialectOfSchema(document: JsonObject): Dialect {
  const uri = textOf(document['$schema']);
  const draft = /draft-0?(\d)/.exec(uri)?.[1];
  if (draft === '3' || draft === '4')
    return { name: 'draft-04', hasSiblings: false, nullable: null, hasExclusiveFlags: true, hasListItems: true };
  if (draft !== undefined) return { ...modern, name: 'draft-07', hasSiblings: false, hasListItems: true };
  if (uri.includes('2019-09')) return { ...modern, name: '2019-09', hasListItems: true };
  return { name: '2020-12', ...modern };
}

/** A value of a document and its JSON Pointer. */
export interface Place {
  value: unknown;
  pointer: string;
}

/** One of the two documents that are compared. */
export interface Side {
  document: JsonObject;
  dialect: Dialect;
  /** Names of places for people, by pointer: `query parameter "limit"`. */
  labels: Map<string, Label>;
  /** Pointers of values that are compared in another place than they are written, such as a form's fields. */
  moved: Map<object, string>;
  /** Targets of references from the root, once found. */
  targets: Map<string, Place>;
  /** Places by their `$id` and `$anchor`. Made when first needed. */
  ids: Map<string, Place> | null;
  /** Named schemas by the pointer of each schema in their `allOf`. Made when first needed. */
  children: Map<string, Place[]> | null;
  /** Whether schemas allow null, once judged. Null: it cannot be told, or is being judged. */
  nulls: Map<object, boolean | null>;
}

/** What a place is. */
export interface Label {
  /** Part of a change's code: `parameter`, `body`, `header`, `schema`. */
  role: string;
  /** Within a sentence: `the request body`. */
  text: string;
}

export function createSide(document: JsonObject, dialect: Dialect): Side {
  const maps = { labels: new Map(), moved: new Map(), targets: new Map(), nulls: new Map() };
  const side: Side = { document, dialect, ...maps, ids: null, children: null };
  side.document = rebase(side, rootOf(side), null) as JsonObject;
  return side;
}

/** The member of a place, or null if it has none of this name. */
export function memberOf(side: Side, { value, pointer }: Place, key: string | number): Place | null {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
  const member = (value as JsonObject)[key];
  const isMoved = side.moved.size > 0 && typeof member === 'object' && member !== null;
  const moved = isMoved ? side.moved.get(member) : undefined;
  return { value: member, pointer: moved ?? `${pointer}/${escapeKey(String(key))}` };
}

/** The members of a place that is an object, in document order. */
export function membersOf(side: Side, place: Place | null): [string, Place][] {
  if (place === null || !isObject(place.value)) return [];
  return Object.keys(place.value).map((key) => [key, memberOf(side, place, key)!]);
}

/** The items of a place that is a list. */
export function itemsOf(side: Side, place: Place | null): Place[] {
  if (place === null || !Array.isArray(place.value)) return [];
  return place.value.map((_, index) => memberOf(side, place, index)!);
}

/** Reads along keys from the root. Null if a member is absent. */
export function placeAt(side: Side, keys: readonly (string | number)[]): Place | null {
  return keys.reduce<Place | null>((place, key) => place && memberOf(side, place, key), rootOf(side));
}

export function rootOf({ document }: Side): Place {
  return { value: document, pointer: '' };
}

/** The reference of an object: `$ref`, `$dynamicRef` or `$recursiveRef`. Empty if it has none. */
export function referenceOf(value: unknown): string {
  if (!isObject(value)) return '';
  const { $ref, $dynamicRef, $recursiveRef } = value;
  return textOf($ref) || textOf($dynamicRef) || textOf($recursiveRef);
}

/** Follows references, at most 20 of them, with the texts that stand beside them since 3.1. Null if they lead to nothing. */
export function resolvePlace(side: Side, place: Place): Place | null {
  let target: Place | null = place;
  let beside: JsonObject = {};
  for (let hops = 0; target !== null && referenceOf(target.value) !== ''; hops++) {
    if (hops === 20) return null;
    const { description, summary } = objectOf(target.value);
    if (side.dialect.hasSiblings)
      beside = {
        ...(description !== undefined && { description }),
        ...(summary !== undefined && { summary }),
        ...beside,
      };
    target = targetOf(side, referenceOf(target.value));
  }
  if (target === null || Object.keys(beside).length === 0) return target;
  return { ...target, value: { ...objectOf(target.value), ...beside } };
}

/** The target of a reference. Null if it leads to nothing. */
export function targetOf(side: Side, written: string): Place | null {
  const reference = withinSelf(side, written);
  if (reference === '#') return rootOf(side);
  if (reference.startsWith('#/')) {
    const target = side.targets.get(reference) ?? placeAt(side, pointerKeys(reference));
    if (target !== null) side.targets.set(reference, target);
    return target;
  }
  return (side.ids ??= idsIn(side, rootOf(side))).get(reference.replace(/#$/, '')) ?? null;
}

/** A reference by the document's own address (`$self` of OpenAPI 3.2) is one into it. */
function withinSelf({ document }: Side, reference: string): string {
  const self = textOf(document['$self']);
  if (self === '' || reference.startsWith('#') || document['openapi'] === undefined) return reference;
  const base = 'https://none.invalid/';
  const [own, target] = [URL.parse(self, base), URL.parse(reference, URL.parse(self, base) ?? base)];
  if (own === null || target === null || own.href.replace(/#.*/, '') !== target.href.replace(/#.*/, ''))
    return reference;
  return reference.includes('#') ? reference.slice(reference.indexOf('#')) : '#';
}

/** The folder of the named schemas of an API. */
function schemasOf(side: Side): Place | null {
  return placeAt(side, side.dialect.name === '2.0' ? ['definitions'] : ['components', 'schemas']);
}

/** A schema that a `discriminator` names: by a reference, or by the name of a component. */
export function targetOfMapping(side: Side, mapped: string): Place | null {
  const folder = schemasOf(side);
  return (folder && memberOf(side, folder, mapped)) ?? targetOf(side, mapped);
}

/** The named schemas whose `allOf` has a schema: its subtypes where it has a discriminator. */
export function childrenOf(side: Side, parent: Place | null): readonly Place[] {
  if (side.children === null) {
    side.children = new Map();
    for (const [, place] of membersOf(side, schemasOf(side)))
      for (const part of itemsOf(side, memberOf(side, place, 'allOf'))) {
        const target = referenceOf(part.value) === '' ? null : targetOf(side, referenceOf(part.value));
        const known = target && side.children.get(target.pointer);
        if (known) known.push(place);
        else if (target) side.children.set(target.pointer, [place]);
      }
  }
  return (parent && side.children.get(parent.pointer)) ?? [];
}

/** An embedded schema that has an `$id`, with its ids and anchors once they are asked for. */
type Resource = Place & { ids?: ReadonlyMap<string, Place> };

/** A value in which references from within an embedded schema that has an `$id` start at the document's root. */
function rebase(side: Side, place: Place, around: Resource | null): unknown {
  const { value, pointer } = place;
  if (typeof value !== 'object' || value === null) return value;
  const id = isObject(value) && pointer !== '' ? textOf(value[side.dialect.name === 'draft-04' ? 'id' : '$id']) : '';
  const resource = id === '' || id.startsWith('#') ? around : { ...place };
  const members = Object.keys(value).map((key): [string, unknown] => {
    const member = memberOf(side, place, key)!;
    const isReference = key === '$ref' && resource !== null && typeof member.value === 'string';
    return [key, isReference ? fromRoot(side, resource, textOf(member.value)) : rebase(side, member, resource)];
  });
  if (members.every(([key, member]) => member === (value as JsonObject)[key])) return value;
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

/** Authors of APIs also mean the document: a reference that leads to nothing in the schema stays as it is. */
function fromRoot(side: Side, resource: Resource, reference: string): string {
  if (!reference.startsWith('#')) return reference;
  if (/^#(?:$|\/)/.test(reference))
    return resolveLocal(objectOf(resource.value), reference) === undefined
      ? reference
      : `#${resource.pointer}${reference.slice(1)}`;
  const target = (resource.ids ??= idsIn(side, resource)).get(reference);
  return target === undefined ? reference : `#${target.pointer}`;
}

/** What has an id or an anchor at a place or below it. */
function idsIn(side: Side, root: Place): Map<string, Place> {
  const ids = new Map<string, Place>();
  const stack = [root];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    if (isObject(place.value)) {
      const { $id, id, $anchor, $dynamicAnchor } = place.value;
      for (const uri of [$id, id])
        if (typeof uri === 'string' && uri !== '') setOnce(ids, uri.replace(/#$/, ''), place);
      for (const name of [$anchor, $dynamicAnchor]) if (typeof name === 'string') setOnce(ids, `#${name}`, place);
    }
    if (typeof place.value !== 'object' || place.value === null) continue;
    for (const key of Object.keys(place.value)) stack.push(memberOf(side, place, key)!);
  }
  return ids;
}

function setOnce(ids: Map<string, Place>, name: string, place: Place): void {
  if (!ids.has(name)) ids.set(name, place);
}

export function escapeKey(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}
