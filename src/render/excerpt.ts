import { cut } from '../model/escape.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { holdsOf } from '../model/openapi-shape.ts';
import type { Excerpt, Published } from '../compile/compile.ts';
import { readableKinds } from './render.ts';
import { createSchemas } from './schema/schemas.ts';
import { entriesOf, listOf, parseObject, textOf, resolveLocal } from './json-value.ts';
import { operationsOf, type ApiOperation } from './openapi/list-operations.ts';
import { isJson, securityOf, viewOperation } from './openapi/operation-view.ts';
import { outlineNames, securitySchemesOf, serversOf } from './openapi/outline-api.ts';
import { sampleOf, smallIn } from './schema/sample-value.ts';
import { curlOf, sampleRequest } from './openapi/sample-request.ts';

/** The longest excerpt, in characters. A longer one has fewer references inlined. */
const budget = 40_000;
/** How deep references are inlined: as deep as the budget allows. */
const depths = [10, 6, 4, 3, 2, 1, 0];
/** Characters of a text, and of a description that is inside of the part. */
const longest = { text: 2000, inside: 300 };

/**
 * A part of a published document as JSON text, with what it refers to in place of the references.
 * Where that would be too long, or goes in circles, a reference stays, and `left` names those
 * schemas. Null if the document has no such part. Pure; no document makes it throw.
 */
export function excerptOf({ kind, json }: Pick<Published, 'kind' | 'json'>, part: Excerpt): string | null {
  const document = parseObject(json);
  const schemas = document && readableKinds[kind].schemas?.(document);
  if (document === null || !schemas) return null;
  const make = 'schema' in part ? schemaIn(schemas, part.schema) : operationIn(document, part, json.byteLength);
  if (make === null) return null;
  for (const depth of depths) {
    const inline = createInline(document, depth);
    const made = make(inline.value);
    if (inline.isOver()) continue;
    const left = inline.left();
    const text = JSON.stringify({ ...made, ...(left.length > 0 && { left }) });
    if (text.length <= budget) return text;
  }
  return JSON.stringify({ error: 'This part is too long to show, even without what it refers to.' });
}

/** Writes a part with a function that inlines references in a value. */
type Make = (inline: (value: unknown) => unknown) => JsonObject;

function schemaIn(schemas: readonly (readonly [string, unknown])[], name: string): Make | null {
  const found = schemas.find(([each]) => each === name);
  return found === undefined ? null : (inline) => ({ name, schema: inline(found[1]) });
}

function operationIn(
  document: JsonObject,
  { operation: name, as }: Exclude<Excerpt, { schema: string }>,
  bytes: number,
): Make | null {
  const operation = operationsOf(document).operations.find((each) => {
    const { method, path, id } = outlineNames(each);
    return `${method} ${path}` === name || id === name;
  });
  if (operation === undefined) return null;
  return as === 'examples'
    ? () => exampleOf(document, operation, bytes)
    : (inline) => contractOf(document, operation, inline);
}

function contractOf(document: JsonObject, operation: ApiOperation, inline: (value: unknown) => unknown): JsonObject {
  const { method, path } = outlineNames(operation);
  const { value, item } = operation;
  const security = securityOf(document, operation);
  const needed = new Set(security.flatMap((one) => one.map(({ scheme }) => scheme)));
  const { servers } = viewOperation(document, operation);
  const shared = listOf(item['parameters']);
  return {
    method,
    path,
    servers: (servers.length > 0 ? servers : serversOf(document)).slice(0, 5).map(({ url }) => url),
    ...(shared.length > 0 && { pathParameters: inline(shared) }),
    operation: inline(value),
    security,
    securitySchemes: inline(
      Object.fromEntries(entriesOf(securitySchemesOf(document)).filter(([name]) => needed.has(name))),
    ),
  };
}

/** Inlines references of a document to this depth, as long as there is room. */
function createInline(document: JsonObject, deepest: number) {
  let room = budget * 2;
  const left = new Set<string>();

  function inline(value: unknown, depth: number, within: readonly string[], map: string | null): unknown {
    if (room <= 0) return null;
    if (typeof value === 'string') return spend(value, longest.text);
    if (Array.isArray(value)) return value.map((one) => inline(one, depth + 1, within, null));
    if (!isObject(value)) {
      room -= 6;
      return value;
    }
    const reference = map !== null ? '' : textOf(value['$ref']);
    if (reference.startsWith('#')) {
      const target = resolveLocal(document, reference);
      if (within.length >= deepest || within.includes(reference) || !isObject(target)) {
        left.add(reference.split('/').at(-1)!);
        room -= reference.length;
        return { $ref: reference };
      }
      const { $ref: _, ...beside } = value;
      return inline({ ...target, ...beside }, depth, [...within, reference], null);
    }
    const members = entriesOf(value).filter(([key, member]) => holdsOf(map, key, member) !== 'extension');
    return Object.fromEntries(
      members.map(([key, member]) => {
        room -= key.length + 4;
        if (map === null && key === 'description' && typeof member === 'string')
          return [key, spend(member, depth === 0 ? longest.text : longest.inside)];
        return [key, inline(member, depth + 1, within, holdsOf(map, key, member) === 'map' ? key : null)];
      }),
    );
  }

  function spend(text: string, max: number): string {
    const short = cut(text.toWellFormed(), max);
    room -= short.length + 3;
    return short;
  }

  return {
    value: (value: unknown) => inline(value, 0, [], null),
    isOver: () => room <= 0,
    left: () => [...left].slice(0, 100),
  };
}

/** A request of an operation with curl, and the JSON bodies of its responses: the author's examples, else made ones. */
function exampleOf(document: JsonObject, operation: ApiOperation, bytes: number): JsonObject {
  const schemas = createSchemas(document, 'openapi', bytes);
  const view = viewOperation(document, operation);
  const responses = view.responses.slice(0, 10).map(({ status, media }) => {
    const json = media.find(({ types }) => types.some(isJson));
    return [status, json ? (smallIn(json.examples)?.value ?? sampleOf(schemas, json.schema, 'response')) : null];
  });
  const { method, path } = outlineNames(operation);
  return {
    method,
    path,
    request: operation.isWebhook ? null : curlOf(sampleRequest(schemas, operation, view)),
    responses: Object.fromEntries(responses) as JsonObject,
  };
}
