import { oneLine } from '../../model/escape.ts';
import type { Digest } from '../../model/digest.ts';
import { type JsonObject, isObject } from '../../model/json.ts';
import type { Outline, OutlineOperation } from '../../model/outline.ts';
import { dereference, digestOfValue, entriesOf, listOf, objectOf, once, textOf } from '../json-value.ts';
import { firstParagraph } from '../markdown.ts';
import { empty, listLimit, longest, namedSchema } from '../outline.ts';
import { operationsOf, summaryOf, type ApiOperation } from './list-operations.ts';

/** Most names of parameters, and of tags, that an outline has of one operation. */
const maxNames = 100;
/** Characters of such names in all: thousands of paths may refer to one operation. */
const longestNames = 10_000_000;

/** The outline of an API. */
export function outlineApi(document: JsonObject): Outline {
  const info = objectOf(document['info']);
  const { operations, isCut } = operationsOf(document);
  let left = longestNames;
  const outlines = operations.map((operation): OutlineOperation => {
    const one = outlineOperation(document, operation);
    for (const { length } of [...one.tags, ...one.parameters]) left -= length;
    return left < 0 ? { ...one, tags: [], parameters: [] } : one;
  });
  const named = schemasOf(document);
  const tags = listOf(document['tags']).filter(isObject);
  const servers = [...serversOf(document).map(({ url }) => url), ...tokenUrls(document)];
  return {
    ...empty,
    title: oneLine(textOf(info['title']), longest.title),
    description: firstParagraph(textOf(info['summary']) || textOf(info['description']), longest.description),
    operations: outlines,
    schemas: named.slice(0, listLimit).map(([name, schema]) => namedSchema(name, schema)),
    tags: tags
      .slice(0, listLimit)
      .map(({ name, description }) => ({
        name: oneLine(textOf(name), longest.title),
        description: firstParagraph(textOf(description), longest.summary),
      })),
    servers: servers.slice(0, listLimit).map((url) => oneLine(url, longest.name)),
    truncated: isCut || left < 0 || [named, tags, servers].some(({ length }) => length > listLimit),
  };
}

/** Names of an operation in an outline. Its anchor is made from them. */
export function outlineNames({ method, path, isWebhook, value }: ApiOperation) {
  return {
    method: oneLine(isWebhook ? `WEBHOOK ${method}` : method, longest.title),
    path: oneLine(path, longest.name),
    id: typeof value['operationId'] === 'string' ? oneLine(value['operationId'], longest.name) : null,
  };
}

function outlineOperation(document: JsonObject, operation: ApiOperation): OutlineOperation {
  const { item, value } = operation;
  const { parameters } = item;
  const names = [...parameterNames(document, parameters), ...parameterNames(document, value['parameters'])];
  const sunset = textOf(value['x-sunset']);
  return {
    ...outlineNames(operation),
    summary: summaryOf(operation, longest.summary),
    tags: namesIn(value['tags'], (tag) => tag),
    parameters: [...new Set(names.filter((name) => name !== ''))].slice(0, maxNames),
    deprecated: value['deprecated'] === true,
    ...(sunset !== '' && { sunset: oneLine(sunset, longest.title) }),
    digest: Array.isArray(parameters) ? digestOfValue([digest(value), digest(parameters)]) : digest(value),
  };
}

/** The digest of a value, which many operations may have. */
function digest(value: object): Digest {
  return once(value, 'digest', () => digestOfValue(value));
}

function parameterNames(document: JsonObject, written: unknown): string[] {
  return namesIn(written, (parameter) => dereference(document, parameter)?.['name']);
}

/** The names in a list, which many operations may have. */
function namesIn(written: unknown, nameOf: (one: unknown) => unknown): string[] {
  if (!Array.isArray(written)) return [];
  return once(written, 'names', () =>
    written.slice(0, maxNames).map((one) => oneLine(textOf(nameOf(one)), longest.title)),
  );
}

/** The named schemas of an API. */
export function schemasOf(document: JsonObject): readonly [string, unknown][] {
  return entriesOf(objectOf(document['components'])['schemas'] ?? document['definitions']);
}

/** The security schemes of an API, by name. */
export function securitySchemesOf(document: JsonObject): JsonObject {
  return objectOf(objectOf(document['components'])['securitySchemes'] ?? document['securityDefinitions']);
}

/** Where tokens are fetched, for the flows that a page can go through. */
function tokenUrls(document: JsonObject): string[] {
  const schemes = Object.values(securitySchemesOf(document));
  const flows = schemes.flatMap((scheme) => [scheme, ...Object.values(objectOf(objectOf(scheme)['flows']))]);
  return [...new Set(flows.map((flow) => textOf(objectOf(flow)['tokenUrl'])).filter(Boolean))];
}

/** A server as written: its URL may have variables. */
export interface Server {
  url: string;
  /** Markdown. */
  description: string;
  variables: unknown;
}

/** The servers that a document or a part of it names, but those without a URL; for 2.0 `scheme://host/basePath`. */
export function serversOf({ servers, schemes, host: name, basePath }: JsonObject): readonly Server[] {
  // Thousands of operations may have the same ones.
  if (Array.isArray(servers) && servers.length > 0) return once(servers, 'servers', () => readServers(servers));
  const host = textOf(name);
  const base = textOf(basePath);
  const names = listOf(schemes).slice(0, 20).map(textOf);
  const old = (names.length > 0 ? names : ['https']).map((scheme) => `${scheme}://${host}${base}`);
  const urls = host !== '' ? old : base !== '' ? [base] : [];
  return urls.map((url) => ({ url, description: '', variables: undefined }));
}

function readServers(written: readonly unknown[]): Server[] {
  return written
    .map(objectOf)
    .map(({ url, description, variables }) => ({ url: textOf(url), description: textOf(description), variables }))
    .filter(({ url }) => url !== '');
}
