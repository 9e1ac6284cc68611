import { type JsonObject, isObject } from '../model/json.ts';
import type { Kind } from '../model/kinds.ts';
import type { Published } from '../compile/compile.ts';
import type { Outline, OutlineOperation, OutlineSchema } from '../model/outline.ts';
import type { Digest } from '../model/digest.ts';
import { digestOfValue, entriesOf, listOf, objectOf, parseObject, textOf, dereference } from './json-value.ts';
import { listLimit, operationsOf, summaryOf, type ApiOperation } from './openapi/list-operations.ts';
import { definitionFolders, definitionsOf } from './schema/schemas.ts';
import { firstParagraph, shorten } from './markdown.ts';
import { rulesOf } from './rules.ts';

// Longest text in an outline, in characters.
const nameLength = 1000;
const titleLength = 200;
const summaryLength = 300;
const descriptionLength = 500;
/** The most parameters of one operation that are named. */
const maxParameters = 100;

/**
 * Returns the outline of a published document, or null if it is not a document of its kind. Pure.
 */
export function outlineDocument({ kind, json }: Published): Outline | null {
  const document = parseObject(json);
  if (document === null) return null;
  return outlines[kind](document);
}

const outlines: Record<Kind, (document: JsonObject) => Outline> = {
  openapi: outlineApi,
  'json-schema': outlineSchema,
  'redocly-ruleset': (document) => outlineRuleset(document, 'redocly'),
  'spectral-ruleset': (document) => outlineRuleset(document, 'spectral'),
};

const empty: Omit<Outline, 'title' | 'description'> = {
  operations: [],
  schemas: [],
  tags: [],
  rules: [],
  servers: [],
  truncated: false,
};

function outlineApi(document: JsonObject): Outline {
  const info = objectOf(document['info']);
  const { operations, isCut } = operationsOf(document);
  const digest = rememberDigests();
  const named = entriesOf(objectOf(document['components'])['schemas'] ?? document['definitions']);
  const tags = listOf(document['tags']).filter(isObject);
  const servers = [...serverUrls(document), ...tokenUrls(document)];
  return {
    ...empty,
    title: shorten(textOf(info['title']), titleLength),
    description: firstParagraph(textOf(info['summary']) || textOf(info['description']), descriptionLength),
    operations: operations.map((operation) => outlineOperation(document, operation, digest)),
    schemas: named.slice(0, listLimit).map(([name, schema]) => namedSchema(name, schema)),
    tags: tags
      .slice(0, listLimit)
      .map(({ name, description }) => ({
        name: shorten(textOf(name), titleLength),
        description: firstParagraph(textOf(description), summaryLength),
      })),
    servers: servers.slice(0, listLimit).map((url) => shorten(url, nameLength)),
    truncated: isCut || [named, tags, servers].some(({ length }) => length > listLimit),
  };
}

/** Names of an operation in an outline. Its anchor is made from them. */
export function outlineNames({ method, path, isWebhook, value }: ApiOperation) {
  return {
    method: shorten(isWebhook ? `WEBHOOK ${method}` : method, titleLength),
    path: shorten(path, nameLength),
    id: typeof value['operationId'] === 'string' ? shorten(value['operationId'], nameLength) : null,
  };
}

function outlineOperation(
  document: JsonObject,
  operation: ApiOperation,
  digest: (value: object) => Digest,
): OutlineOperation {
  const { item, value } = operation;
  const { parameters } = item;
  const sunset = textOf(value['x-sunset']);
  return {
    ...outlineNames(operation),
    summary: summaryOf(operation, summaryLength),
    tags: listOf(value['tags']).map((tag) => shorten(textOf(tag), titleLength)),
    parameters: parameterNames(document, [...listOf(parameters), ...listOf(value['parameters'])]),
    deprecated: value['deprecated'] === true,
    ...(sunset !== '' && { sunset: shorten(sunset, titleLength) }),
    digest: isList(parameters) ? digestOfValue([digest(value), digest(parameters)]) : digest(value),
  };
}

function parameterNames(document: JsonObject, written: readonly unknown[]): string[] {
  const names = written
    .slice(0, maxParameters)
    .map((parameter) => shorten(textOf(dereference(document, parameter)?.['name']), titleLength));
  return [...new Set(names.filter((name) => name !== ''))];
}

function isList(value: unknown): value is object {
  return Array.isArray(value);
}

/** Computes each value's digest once, because many operations may refer to the same value. */
function rememberDigests(): (value: object) => Digest {
  const digests = new Map<object, Digest>();
  return (value) => {
    return digests.getOrInsertComputed(value, () => digestOfValue(value));
  };
}

function outlineSchema(document: JsonObject): Outline {
  // Definitions are listed separately, so that a change in one does not count as a change of the
  // document.
  const folders = definitionFolders(document);
  const root = Object.fromEntries(Object.entries(document).filter(([key]) => !folders.includes(key)));
  const named = definitionsOf(document);
  return {
    ...empty,
    title: shorten(textOf(document['title']), titleLength),
    description: firstParagraph(textOf(document['description']), descriptionLength),
    schemas: [namedSchema('', root), ...named.slice(0, listLimit - 1).map(([name, one]) => namedSchema(name, one))],
    truncated: named.length >= listLimit,
  };
}

function namedSchema(name: string, schema: unknown): OutlineSchema {
  const parts = [schema, ...listOf(objectOf(schema)['allOf'])];
  const properties = parts.flatMap((part) => Object.keys(objectOf(objectOf(part)['properties'])));
  return {
    name: shorten(name, nameLength),
    properties: [...new Set(properties)].slice(0, listLimit).map((property) => shorten(property, titleLength)),
    digest: digestOfValue(schema),
  };
}

function outlineRuleset(document: JsonObject, form: 'redocly' | 'spectral'): Outline {
  const { rules, more } = rulesOf(document, form);
  const text = (key: string) => textOf(document[key]) || textOf(document[`x-${key}`]);
  return {
    ...empty,
    title: shorten(text('title'), titleLength),
    description: firstParagraph(text('description'), descriptionLength),
    rules: rules.map(({ name, severity, description, definition }) => ({
      name: shorten(name, nameLength),
      severity,
      description: firstParagraph(description, summaryLength),
      digest: digestOfValue(definition),
    })),
    truncated: more > 0,
  };
}

/** Where tokens are fetched, for the flows that a page can go through. */
function tokenUrls(document: JsonObject): string[] {
  const schemes = entriesOf(objectOf(document['components'])['securitySchemes'] ?? document['securityDefinitions']);
  const flows = schemes.flatMap(([, scheme]) => [
    objectOf(scheme),
    ...Object.values(objectOf(objectOf(scheme)['flows'])),
  ]);
  return [...new Set(flows.map((flow) => textOf(objectOf(flow)['tokenUrl'])).filter(Boolean))];
}

/** Server URLs as written; for a 2.0 document `scheme://host/basePath`. */
export function serverUrls(document: JsonObject): string[] {
  const written = listOf(document['servers']).map((server) => textOf(objectOf(server)['url']));
  const host = textOf(document['host']);
  const base = textOf(document['basePath']);
  if (written.length > 0 || (host === '' && base === '')) return written.filter((url) => url !== '');
  if (host === '') return [base];
  const schemes = listOf(document['schemes']).map(textOf);
  return (schemes.length > 0 ? schemes : ['https']).map((scheme) => `${scheme}://${host}${base}`);
}
