import { type JsonObject, isObject } from '../model/json.ts';
import { eachNode, joinPointer } from '../model/pointer.ts';
import { textOf, objectOf, pointerKeys } from '../render/json-value.ts';

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

/** `$schema` as it is compared: an empty fragment changes nothing (JSON Schema 2019-09 §8.1.1). */
export function dialectText($schema: unknown): string {
  return textOf($schema).replace(/#$/, '');
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
  /** What the value is, where it is not what stands there. */
  form?: string;
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
  root: Resource;
  /** The document and its embedded schemas that have an `$id`, by their addresses. Made when first needed. */
  resources: Map<string, Resource> | null;
  /** Named schemas by the pointer of each schema in their `allOf`. Made when first needed. */
  children: Map<string, Place[]> | null;
  /** Whether a media type may be XML, or is not known. Null: nobody asked. */
  mayBeXml: boolean | null;
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

/** Reads a document. `json`: what it was parsed from. */
export function createSide(document: JsonObject, dialect: Dialect, json: Uint8Array): Side {
  const own = textOf(document['openapi'] === undefined ? document[idKeyword(dialect)] : document['$self']);
  const root: Resource = { value: document, pointer: '', base: URL.parse(own, noBase)?.href ?? noBase };
  const maps = { labels: new Map(), moved: new Map(), targets: new Map(), nulls: new Map() };
  const side: Side = { document, dialect, ...maps, root, resources: null, children: null, mayBeXml: null };
  if (mayHaveIds(side, Buffer.from(json.buffer, json.byteOffset, json.byteLength)))
    root.value = side.document = rebase(side, root, root) as JsonObject;
  return side;
}

/** Whether values may be written in XML: an API names its media types, and a schema does not. */
export function mayBeXml(side: Side): boolean {
  const isXml = (type: unknown) => /^(?:\*$|[^/]+\/.*(?:xml|\*))/i.test(textOf(type));
  const { document } = side;
  if (side.mayBeXml === null) {
    side.mayBeXml = (document['openapi'] ?? document['swagger']) === undefined;
    eachNode(document, (node) => {
      const { contentType, consumes, produces, ...others } = node as JsonObject;
      side.mayBeXml ||= [contentType, consumes, produces].flat().some(isXml) || Object.keys(others).some(isXml);
    });
  }
  return side.mayBeXml;
}

/** Whether the text has the keyword that begins an embedded schema, besides that of its root. */
function mayHaveIds({ document, dialect }: Side, json: Buffer): boolean {
  const key = idKeyword(dialect);
  const first = json.indexOf(`"${key}"`);
  return first >= 0 && (!Object.hasOwn(document, key) || json.indexOf(`"${key}"`, first + 1) >= 0);
}

function idKeyword({ name }: Dialect): 'id' | '$id' {
  return name === 'draft-04' ? 'id' : '$id';
}

/** The member of a place, or null if it has none of this name. */
export function memberOf(side: Side, { value, pointer }: Place, key: string | number): Place | null {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
  const member = (value as JsonObject)[key];
  const isMoved = side.moved.size > 0 && typeof member === 'object' && member !== null;
  const moved = isMoved ? side.moved.get(member) : undefined;
  return { value: member, pointer: moved ?? joinPointer(pointer, key) };
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
export function targetOf(side: Side, reference: string): Place | null {
  // An API is no schema, which authors mean by it.
  if (reference === '#') return (side.document['openapi'] ?? side.document['swagger']) ? null : rootOf(side);
  if (reference.startsWith('#/')) {
    const target = side.targets.get(reference) ?? placeAt(side, pointerKeys(reference));
    if (target !== null) side.targets.set(reference, target);
    return target;
  }
  return targetFrom(side, side.root, reference);
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
        const target = referenceOf(part.value) === '' ? null : resolvePlace(side, part);
        if (target) side.children.getOrInsertComputed(target.pointer, () => []).push(place);
      }
  }
  return (parent && side.children.get(parent.pointer)) ?? [];
}

/** A document, or an embedded schema that has an `$id`. */
interface Resource extends Place {
  /** Its address (`$self`, `$id`), from which relative references start. */
  base: string;
  /** What is named in it, by the fragments of references. Made when first needed. */
  anchors?: ReadonlyMap<string, Place>;
}

const noBase = 'https://none.invalid/';

function resourceAt({ dialect }: Side, place: Place, around: Resource): Resource {
  const id = isObject(place.value) && place.pointer !== '' ? textOf(place.value[idKeyword(dialect)]) : '';
  if (id === '' || id.startsWith('#')) return around;
  return { ...place, base: URL.parse(id, around.base)?.href ?? around.base };
}

/** A value in which references from within an embedded schema that has an `$id` start at the document's root. */
function rebase(side: Side, place: Place, around: Resource): unknown {
  const { value } = place;
  if (typeof value !== 'object' || value === null) return value;
  const resource = resourceAt(side, place, around);
  const members = Object.keys(value).map((key): [string, unknown] => {
    const member = memberOf(side, place, key)!;
    const isReference = key === '$ref' && resource.pointer !== '' && typeof member.value === 'string';
    return [key, isReference ? fromRoot(side, resource, textOf(member.value)) : rebase(side, member, resource)];
  });
  if (members.every(([key, member]) => member === (value as JsonObject)[key])) return value;
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

/** Authors of APIs also mean the document: a reference that leads to nothing in the schema stays as it is. */
function fromRoot(side: Side, resource: Resource, reference: string): string {
  const target = targetFrom(side, resource, reference);
  return target === null ? reference : `#${target.pointer}`;
}

/** The target of a reference that stands in a resource. Null if it leads to nothing. */
function targetFrom(side: Side, from: Resource, reference: string): Place | null {
  const [address, fragment] = (URL.parse(reference, from.base)?.href ?? reference).split(/#(.*)/s);
  const isLocal = reference.startsWith('#') || address === from.base.replace(/#.*/s, '');
  const resource = isLocal ? from : (side.resources ??= resourcesIn(side)).get(address!);
  if (resource === undefined) return null;
  if (!fragment) return resource;
  if (!fragment.startsWith('/')) return (resource.anchors ??= anchorsIn(side, resource)).get(fragment) ?? null;
  return pointerKeys(`#${fragment}`).reduce<Place | null>((one, key) => one && memberOf(side, one, key), resource);
}

function* placesIn(side: Side, root: Resource): Generator<[Place, Resource]> {
  const stack: [Place, Resource][] = [[root, root]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    yield next;
    const [place, resource] = next;
    if (typeof place.value !== 'object' || place.value === null) continue;
    for (const key of Object.keys(place.value)) {
      const member = memberOf(side, place, key)!;
      stack.push([member, resourceAt(side, member, resource)]);
    }
  }
}

function resourcesIn(side: Side): Map<string, Resource> {
  const resources = new Map<string, Resource>();
  for (const [place, resource] of placesIn(side, side.root))
    if (place.pointer === resource.pointer) resources.getOrInsert(resource.base.replace(/#.*/s, ''), resource);
  return resources;
}

function anchorsIn(side: Side, root: Resource): Map<string, Place> {
  const anchors = new Map<string, Place>();
  for (const [place] of placesIn(side, root)) {
    const { $id, id, $anchor, $dynamicAnchor } = objectOf(place.value);
    for (const name of [$anchor, $dynamicAnchor, ...[$id, id].map((uri) => /^#(.+)$/s.exec(textOf(uri))?.[1])])
      if (typeof name === 'string') anchors.getOrInsert(name, place);
  }
  return anchors;
}
