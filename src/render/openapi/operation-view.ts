import { parseExactly } from '../../model/exact-numbers.ts';
import { type JsonObject, isObject } from '../../model/json.ts';
import { parameterKey } from '../../model/openapi-shape.ts';
import type { Example } from '../schema/example.ts';
import { entriesOf, textOf, dereference, createOnce, listOf, objectOf, once } from '../json-value.ts';
import { itemsOf, type ApiOperation } from './list-operations.ts';
import { serversOf, type Server } from './outline-api.ts';

/** A body in the media types that share one schema. */
export interface Media {
  types: string[];
  schema: unknown;
  /** Schema of each item of a sequence (OpenAPI 3.2), or undefined. */
  itemSchema: unknown;
  examples: Example[];
  /** How fields of a form are written, by their names. */
  encoding?: unknown;
}

const maxMedia = 50;
const maxExamples = 20;

/** The examples of a parameter or a body, with those that it refers to. `type`: the media type of what is serialized. */
function examplesOf(document: JsonObject, from: JsonObject, type = ''): Example[] {
  const named = isObject(from['examples'])
    ? entriesOf(from['examples'])
        .slice(0, maxExamples)
        .flatMap(([name, one]) => {
          const example = dereference(document, one);
          if (example === null) return [];
          const value = example['value'] ?? example['dataValue'] ?? deserialized(example['serializedValue'], type);
          const title = textOf(example['summary']) || name;
          if (value !== undefined) return [{ name: title, value, type }];
          const address = textOf(example['externalValue']);
          return address === '' ? [] : [{ name: title, value: address, isElsewhere: true as const, type }];
        })
    : [];
  return from['example'] === undefined ? named : [{ name: '', value: from['example'], type }, ...named];
}

/** The value that a text stands for (OpenAPI 3.2), where it is JSON; else the text. */
function deserialized(text: unknown, type: string): unknown {
  if (typeof text !== 'string' || !isJson(type)) return text;
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

/** Whether it is a media type of JSON (RFC 6839 §3.1). */
export function isJson(type: string): boolean {
  return /^application\/(?:[\w.+-]*\+)?json\b/i.test(type);
}

/** The media types of a body. Those with the same schema and without own examples are combined. */
function mediaOf(document: JsonObject, content: unknown): Media[] {
  return isObject(content) ? once(content, 'media', () => readMedia(document, content)) : [];
}

function readMedia(document: JsonObject, content: JsonObject): Media[] {
  const views: Media[] = [];
  for (const [type, one] of entriesOf(content).slice(0, maxMedia)) {
    const from = dereference(document, one) ?? {};
    const { schema, itemSchema, encoding } = from;
    const examples = examplesOf(document, from, type);
    const same = views.find(
      (media) =>
        isSame(media.schema, schema) && isSame(media.itemSchema, itemSchema) && isSame(media.encoding, encoding),
    );
    if (same === undefined) views.push({ types: [type], schema, itemSchema, examples, encoding });
    else {
      same.types.push(type);
      const texts = new Set(same.examples.map(({ value }) => value));
      const isThere = (value: unknown) => texts.has(value) || same.examples.some((each) => isSame(each.value, value));
      same.examples.push(...examples.filter(({ value }) => !isThere(value)));
    }
  }
  return views;
}

/** Whether two values are equal as written, comparing at most a few hundred values. */
function isSame(one: unknown, other: unknown, progress = { left: 300 }): boolean {
  if (one === other) return true;
  if (progress.left-- < 0 || typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length || one.length > 300) return false;
    return one.every((item, at) => isSame(item, other[at], progress));
  }
  const members = entriesOf(one);
  if (members.length > 300 || members.length !== entriesOf(other).length) return false;
  return members.every(
    ([name, value]) => Object.hasOwn(other, name) && isSame(value, (other as JsonObject)[name], progress),
  );
}

/** A parameter, or a header of a response. */
export interface Parameter {
  name: string;
  /** `path`, `query`, `header`, `cookie`, `querystring`; `formData` in a 2.0 form. */
  place: string;
  isRequired: boolean;
  isDeprecated: boolean;
  description: string;
  schema: unknown;
  examples: Example[];
  /** The parameter as written. */
  from: JsonObject;
}

export interface Body {
  description: string;
  isRequired: boolean;
  media: Media[];
  from: JsonObject;
}

export interface Response {
  status: string;
  description: string;
  headers: Parameter[];
  media: Media[];
  links: { name: string; target: string; description: string }[];
  from: JsonObject;
}

export interface Callback {
  name: string;
  operations: ApiOperation[];
  from: JsonObject;
}

/** One alternative for authorization: all of its schemes are needed. */
export type Requirement = { scheme: string; scopes: string[] }[];

/** An operation of any OpenAPI version, in the terms of the newest. */
export interface OperationView {
  description: string;
  isDeprecated: boolean;
  servers: Server[];
  externalDocs: { url: string; description: string } | null;
  parameters: Parameter[];
  body: Body | null;
  responses: Response[];
}

// Most members read from one operation. No known operation has as many, and no document can fill a
// page with one.
const maxMembers = 500;
const maxCallbacks = 20;

// The same object for all operations without a list, since results are remembered by object.
const none: unknown[] = [];

/**
 * Reads an operation. Resolves references to parameters, bodies, responses and examples, but not to
 * schemas.
 */
export function viewOperation(document: JsonObject, { item, value }: ApiOperation): OperationView {
  const { all, parameters } = parametersOf(document, item['parameters'], value['parameters']);
  const isOld = typeof document['swagger'] === 'string';
  const isOwn = ['servers', 'schemes'].some((key) => listOf(value[key]).length > 0);
  const { servers, schemes } = isOwn ? value : item;
  const { host, basePath } = document;
  return {
    description: textOf(value['description']) || textOf(item['description']),
    isDeprecated: value['deprecated'] === true,
    servers: serversOf(isOld && isOwn ? { host, basePath, schemes } : { servers }).slice(0, maxCallbacks),
    externalDocs: externalDocsOf(value['externalDocs']),
    parameters,
    body: isOld ? oldBody(document, value, all) : bodyOf(document, value['requestBody']),
    responses: entriesOf(value['responses'])
      .slice(0, maxMembers)
      .flatMap(([status, one]) => {
        const from = dereference(document, one);
        return status.startsWith('x-') || from === null ? [] : [responseOf(document, status, from, value)];
      }),
  };
}

/** What callers of an operation need: its own requirements, or those of the document. Who receives webhooks calls nothing. */
export function securityOf(document: JsonObject, { isWebhook, value }: ApiOperation): Requirement[] {
  return requirementsOf(Array.isArray(value['security']) || isWebhook ? value['security'] : document['security']);
}

/** The callbacks of an operation. Those of a callback's operations are not shown. */
export function callbacksOf(document: JsonObject, { value }: ApiOperation): Callback[] {
  return entriesOf(value['callbacks'])
    .slice(0, maxCallbacks)
    .flatMap(([name, one]) => {
      const from = dereference(document, one);
      if (from === null) return [];
      const operations = once(from, 'operations', () => itemsOf(document, from, false, maxCallbacks));
      return operations.length === 0 ? [] : [{ name, operations, from }];
    });
}

/** Security requirements: alternatives, each a list of schemes. */
export function requirementsOf(value: unknown): Requirement[] {
  return listOf(value)
    .slice(0, maxCallbacks)
    .map((one) =>
      entriesOf(one)
        .slice(0, maxCallbacks)
        .map(([scheme, scopes]) => ({ scheme, scopes: listOf(scopes).slice(0, 50).map(textOf) })),
    );
}

export function externalDocsOf(value: unknown): { url: string; description: string } | null {
  const { url, description } = objectOf(value);
  return textOf(url) === '' ? null : { url: textOf(url), description: textOf(description) };
}

interface Parameters {
  /** Each with its place, the body of OpenAPI 2.0 included. */
  all: readonly { place: string; from: JsonObject }[];
  /** Without the body and the form of OpenAPI 2.0. */
  parameters: Parameter[];
}

/**
 * Parameters of a path and of its operation. Those of the operation win by name and place. The same
 * two lists have the same result, since thousands of paths may refer to one.
 */
function parametersOf(document: JsonObject, ofPath: unknown, ofOperation: unknown): Parameters {
  const shared = Array.isArray(ofPath) ? ofPath : none;
  const ofItself = Array.isArray(ofOperation) ? ofOperation : none;
  const besideOwn = once(ofItself, 'beside', createOnce);
  return besideOwn(shared, 'parameters', () => readParameters(document, shared, ofItself));
}

function readParameters(document: JsonObject, ...lists: unknown[][]): Parameters {
  const merged = new Map<string, { place: string; from: JsonObject }>();
  for (const one of lists.flatMap((list) => list.slice(0, maxMembers))) {
    const from = dereference(document, one);
    if (from === null) continue;
    const place = textOf(from['in']) || 'query';
    merged.set(parameterKey(place, textOf(from['name'])), { place, from });
  }
  const all = [...merged.values()];
  const parameters = all.flatMap(({ place, from }) =>
    place === 'body' || place === 'formData' ? [] : [parameterOf(document, from, textOf(from['name']), place)],
  );
  return { all, parameters };
}

function parameterOf(document: JsonObject, from: JsonObject, name: string, place: string): Parameter {
  return once(from, `parameter ${place} ${name}`, () => readParameter(document, from, name, place));
}

function readParameter(document: JsonObject, from: JsonObject, name: string, place: string): Parameter {
  const [content] = mediaOf(document, from['content']);
  return {
    name,
    place,
    isRequired: from['required'] === true || place === 'path',
    isDeprecated: from['deprecated'] === true,
    description: textOf(from['description']),
    schema: from['schema'] ?? content?.schema ?? withoutPlace(from),
    examples: [...examplesOf(document, from), ...(content?.examples ?? [])],
    from,
  };
}

/** Members of a parameter that a schema does not have, or that are shown beside it. */
const besideSchema = new Set(
  'name in required description deprecated example examples content style explode'.split(' '),
);

/** A parameter or header of 2.0 is itself a schema. */
function withoutPlace(from: JsonObject): JsonObject {
  return Object.fromEntries(entriesOf(from).filter(([key]) => !besideSchema.has(key)));
}

function bodyOf(document: JsonObject, value: unknown): Body | null {
  const from = value === undefined ? null : dereference(document, value);
  if (from === null) return null;
  const { description, required, content } = from;
  return { description: textOf(description), isRequired: required === true, media: mediaOf(document, content), from };
}

/** The body of OpenAPI 2.0: the parameter in `body`, or a form of those in `formData`. */
function oldBody(
  document: JsonObject,
  operation: JsonObject,
  parameters: readonly { place: string; from: JsonObject }[],
): Body | null {
  const consumes = typesIn(operation['consumes'] ?? document['consumes']);
  const body = parameters.find(({ place }) => place === 'body');
  if (body !== undefined) {
    const { description, required, schema } = body.from;
    const media = [oldMediaOf(consumes, 'application/json', schema)];
    const from = partOf(body.from, operation);
    return { description: textOf(description), isRequired: required === true, media, from };
  }
  const form = parameters.filter(({ place }) => place === 'formData');
  if (form.length === 0) return null;
  const properties = form.map(({ from }): [string, unknown] => [
    textOf(from['name']),
    { ...withoutPlace(from), description: from['description'] },
  ]);
  const required = form.filter(({ from }) => from['required'] === true).map(({ from }) => from['name']);
  const hasFile = form.some(({ from }) => from['type'] === 'file');
  const usual = hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const schema = { type: 'object', properties: Object.fromEntries(properties), required };
  return {
    description: '',
    isRequired: required.length > 0,
    media: [oldMediaOf(consumes, usual, schema)],
    from: schema,
  };
}

/** The media types of `consumes` or `produces`. */
function typesIn(list: unknown): string[] {
  return listOf(list).slice(0, maxMedia).map(textOf);
}

/** A body of 2.0 in these types, or else in the usual one. */
function oldMediaOf(types: string[], usual: string, schema: unknown, examples: Example[] = []): Media {
  return { types: types.length > 0 ? types : [usual], schema, itemSchema: undefined, examples };
}

function responseOf(document: JsonObject, status: string, from: JsonObject, operation: JsonObject): Response {
  return {
    status,
    description: textOf(from['description']) || textOf(from['summary']),
    headers: once(from, 'headers', () =>
      entriesOf(from['headers'])
        .slice(0, maxMembers)
        .map(([name, one]) => parameterOf(document, dereference(document, one) ?? {}, name, 'header')),
    ),
    media: 'content' in from ? mediaOf(document, from['content']) : oldMedia(document, from, operation),
    links: entriesOf(from['links'])
      .slice(0, maxCallbacks)
      .map(([name, one]) => {
        const link = dereference(document, one) ?? {};
        const target = textOf(link['operationId']) || textOf(link['operationRef']);
        return { name, target, description: textOf(link['description']) };
      }),
    from: partOf(from, operation),
  };
}

/** In 2.0 an operation may name the media types, so that the same part is another one there. */
function partOf(from: JsonObject, operation: JsonObject): JsonObject {
  return operation['consumes'] === undefined && operation['produces'] === undefined ? from : { ...from };
}

/** The body of a 2.0 response: one schema for each type of `produces`, and examples by type. */
function oldMedia(document: JsonObject, { schema, examples }: JsonObject, operation: JsonObject): Media[] {
  const produces = typesIn(operation['produces'] ?? document['produces']);
  const given = entriesOf(examples)
    .slice(0, maxExamples)
    .map(([type, value]) => ({ name: '', value, type }));
  if (schema === undefined && given.length === 0) return [];
  const types = produces.length > 0 ? produces : given.map(({ type }) => type);
  return [oldMediaOf(types, 'application/json', schema, given)];
}
