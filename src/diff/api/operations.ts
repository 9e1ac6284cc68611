import { memberOf, membersOf, resolvePlace, type Place, type Side, itemsOf, placeAt } from '../side.ts';
import { textOf, listOf, objectOf } from '../../render/json-value.ts';
import { isBesidePaths, methods, parameterKey } from '../../model/openapi-shape.ts';
import { own, type JsonObject, isObject } from '../../model/json.ts';

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

/** The operations of a map of path items. `kind`: the start of their names. */
export function operationsOf(
  side: Side,
  map: Place | null,
  kind: '' | 'WEBHOOK ' | 'CALLBACK ',
  passedOver: ReadonlySet<string> = new Set(),
): Operation[] {
  return membersOf(side, map).flatMap(([path, written]) => {
    if (isBesidePaths(path, kind === 'WEBHOOK ') || passedOver.has(path)) return [];
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

// Reads the parts of an operation from any version of OpenAPI into one form. Places stay those of
// the document as published.

/** A parameter or a response's header. */
export interface Parameter {
  in: string;
  name: string;
  isRequired: boolean;
  place: Place;
  schema: Place | null;
  /** By media type, where it has content instead of a schema. */
  content: Content;
  /** How lists and objects are written: `form`, `form exploded`, … */
  style: string;
}

export type Content = ReadonlyMap<string, Media>;

export interface Media {
  place: Place;
  schema: Place | null;
  /** The schema of each item of a stream (`itemSchema` of 3.2). */
  items: Place | null;
}

export interface Body {
  place: Place;
  isRequired: boolean;
  content: Content;
}

export interface Response {
  place: Place;
  headers: ReadonlyMap<string, Parameter>;
  content: Content;
}

function isSwagger({ dialect }: Side): boolean {
  return dialect.name === '2.0';
}

/** The parameters of an operation by `in` and name. Its own win over those of its path. */
export function parametersOf(side: Side, operation: Operation): Map<string, Parameter> {
  const parameters = new Map<string, Parameter>();
  for (const place of rawParameters(side, operation)) {
    const parameter = readParameter(side, place, textAt(side, place, 'in'), textAt(side, place, 'name'));
    if (!['body', 'formData'].includes(parameter.in))
      parameters.set(parameterKey(parameter.in, parameter.name), parameter);
  }
  return parameters;
}

function rawParameters(side: Side, operation: Operation): Place[] {
  const lists = [...operation.items.toReversed(), operation.place].map((owner) => memberOf(side, owner, 'parameters'));
  return lists
    .flatMap((list) => itemsOf(side, list))
    .map((place) => resolvePlace(side, place))
    .filter((place) => place !== null && isObject(place.value)) as Place[];
}

function readParameter(side: Side, place: Place, where: string, name: string): Parameter {
  const value = objectOf(place.value);
  const isRequired = value['required'] === true || where === 'path';
  const common = { in: where, name, isRequired, place };
  if (isSwagger(side)) return { ...common, schema: place, content: new Map(), style: swaggerStyle(value, where) };
  const content = contentOf(side, memberOf(side, place, 'content'));
  return { ...common, schema: memberOf(side, place, 'schema'), content, style: styleOf(value, where) };
}

const defaultStyles: Readonly<Record<string, string>> = {
  query: 'form',
  cookie: 'form',
  path: 'simple',
  header: 'simple',
};

export function styleOf({ style, explode }: JsonObject, where: string): string {
  const name = textOf(style) || (own(defaultStyles, where) ?? 'form');
  if (name === 'deepObject') return name;
  return `${name}${explode === true || (explode === undefined && name === 'form') ? ' exploded' : ''}`;
}

const collectionStyles: Readonly<Record<string, string>> = {
  multi: 'form exploded',
  ssv: 'spaceDelimited',
  pipes: 'pipeDelimited',
  tsv: 'tabDelimited',
};

function swaggerStyle({ collectionFormat, items }: JsonObject, where: string): string {
  const format = textOf(collectionFormat);
  const usual = own(defaultStyles, where) ?? 'form';
  return (format === '' || format === 'csv' ? usual : (own(collectionStyles, format) ?? format)) + listsIn(items);
}

/** How the lists within a list are written. */
function listsIn(items: unknown): string {
  const { type, collectionFormat, items: inner } = objectOf(items);
  return type === 'array' ? ` of ${textOf(collectionFormat) || 'csv'} lists${listsIn(inner)}` : '';
}

/** The body of a request: `requestBody`, or the parameters in `body` and `formData` of 2.0. */
export function bodyOf(side: Side, operation: Operation): Body | null {
  if (isSwagger(side)) return swaggerBody(side, operation);
  const written = memberOf(side, operation.place, 'requestBody');
  const place = written && resolvePlace(side, written);
  if (place === null) return null;
  const isRequired = objectOf(place.value)['required'] === true;
  return { place, isRequired, content: contentOf(side, memberOf(side, place, 'content')) };
}

function swaggerBody(side: Side, operation: Operation): Body | null {
  const all = rawParameters(side, operation);
  const body = all.findLast((place) => textAt(side, place, 'in') === 'body');
  const isRequired = (place: Place) => objectOf(place.value)['required'] === true;
  if (body !== undefined) {
    const media = { place: body, schema: memberOf(side, body, 'schema'), items: null };
    const types = mediaTypes(side, operation, 'consumes', ['application/json']);
    return { place: body, isRequired: isRequired(body), content: new Map(types.map((type) => [type, media])) };
  }
  const fields = all.filter((place) => textAt(side, place, 'in') === 'formData');
  if (fields.length === 0) return null;
  for (const place of fields) {
    side.moved.set(place.value as object, place.pointer);
    const text = `property ${JSON.stringify(textAt(side, place, 'name'))} of the request body`;
    side.labels.set(place.pointer, { role: 'property', text });
  }
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((place) => [textAt(side, place, 'name'), place.value])),
    required: fields.filter(isRequired).map((place) => textAt(side, place, 'name')),
  };
  const hasFile = fields.some((place) => textAt(side, place, 'type') === 'file');
  const types = mediaTypes(side, operation, 'consumes', [
    hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded',
  ]);
  const place: Place = { value: schema, pointer: `${operation.place.pointer}/parameters` };
  const content = new Map(types.map((type): [string, Media] => [type, { place, schema: place, items: null }]));
  return { place, isRequired: schema.required.length > 0, content };
}

function mediaTypes(side: Side, operation: Operation, key: 'consumes' | 'produces', none: string[]): string[] {
  const written = memberOf(side, operation.place, key) ?? placeAt(side, [key]);
  const types = listOf(written?.value)
    .map(textOf)
    .filter((type) => type !== '');
  return types.length > 0 ? types : none;
}

/** The responses of an operation by status. */
export function responsesOf(side: Side, operation: Operation): Map<string, Response> {
  const responses = membersOf(side, memberOf(side, operation.place, 'responses')).filter(
    ([status]) => !status.startsWith('x-'),
  );
  return new Map(
    responses.map(([status, written]): [string, Response] => {
      const place = resolvePlace(side, written) ?? written;
      const headers = headersOf(side, place);
      return [normalStatus(status), { place, headers, content: responseContent(side, operation, place) }];
    }),
  );
}

/** The headers of a response, or of a part of a form. Their names ignore case. */
export function headersOf(side: Side, place: Place | null): Map<string, Parameter> {
  const headers = membersOf(side, place && memberOf(side, place, 'headers'));
  return new Map(
    headers.map(([name, header]): [string, Parameter] => {
      const target = resolvePlace(side, header) ?? header;
      return [name.toLowerCase(), readParameter(side, target, 'header', name)];
    }),
  );
}

function normalStatus(status: string): string {
  return /^[1-5]xx$/i.test(status) ? status.toUpperCase() : status;
}

function responseContent(side: Side, operation: Operation, place: Place): Content {
  if (!isSwagger(side)) return contentOf(side, memberOf(side, place, 'content'));
  const schema = memberOf(side, place, 'schema');
  if (schema === null) return new Map();
  const types = mediaTypes(side, operation, 'produces', ['application/json']);
  return new Map(types.map((type) => [type, { place, schema, items: null }]));
}

function contentOf(side: Side, content: Place | null): Content {
  return new Map(
    membersOf(side, content).map(([type, written]): [string, Media] => {
      const place = resolvePlace(side, written) ?? written;
      return [type, { place, schema: memberOf(side, place, 'schema'), items: memberOf(side, place, 'itemSchema') }];
    }),
  );
}
