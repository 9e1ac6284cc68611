import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Scope } from '../../model/access.ts';

/** A JSON Schema. */
export type Schema = Record<string, unknown>;

/** One parameter of an operation. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

/** One operation of the description. */
export interface Operation {
  id: string;
  /** In lower case. */
  method: string;
  /** Path template, such as `/v1/apis/{api}`. */
  path: string;
  /** Scope that a key needs; null: no credential is needed. */
  scope: Scope | null;
  parameters: Parameter[];
  /** Position of the request body's schema in the description; null: the operation has no body. */
  body: { pointer: string; required: boolean; /** Whether the body is a file and not JSON. */ isBytes: boolean } | null;
}

/**
 * The management API's OpenAPI document. Requests are validated against it, and `/v1/openapi.json`
 * serves it.
 */
export interface Description {
  document: Schema;
  operations: Operation[];
}

interface PathItem {
  parameters?: unknown[];
  [method: string]: unknown;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * Reads `content/apis/management.yaml`. A build reads it from the JSON that `scripts/bundle.ts` made of it: reading YAML
 * would be a third of the time that a server needs to start.
 */
export function readDescription(): Description {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const document = (
    import.meta.url.endsWith('.js')
      ? JSON.parse(read('./management.json'))
      : parse(read('../../../content/apis/management.yaml'))
  ) as Schema;
  const operations = Object.entries(document['paths'] as Record<string, PathItem>).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [readOperation(document, path, item, method)])),
  );
  return { document, operations };
}

let description: Description | null = null;

/** Returns the description. It is read once in a process. */
export function ownDescription(): Description {
  return (description ??= readDescription());
}

function readOperation(document: Schema, path: string, item: PathItem, method: string): Operation {
  const operation = item[method] as Schema;
  const all = [...(item.parameters ?? []), ...((operation['parameters'] as unknown[] | undefined) ?? [])];
  const body = operation['requestBody'] as { required?: boolean; content: object } | undefined;
  const escaped = path.replaceAll('~', '~0').replaceAll('/', '~1');
  return {
    id: operation['operationId'] as string,
    method,
    path,
    scope: operation['security'] === undefined ? (operation['x-scope'] as Scope) : null,
    parameters: all.map((parameter) => resolveReference(document, parameter) as Parameter),
    body: body
      ? {
          pointer: `/paths/${escaped}/${method}/requestBody/content/application~1json/schema`,
          required: body.required ?? false,
          isBytes: !Object.hasOwn(body.content, 'application/json'),
        }
      : null,
  };
}

/** Resolves a local reference; returns any other value unchanged. */
export function resolveReference(document: Schema, value: unknown): unknown {
  const reference = (value as { $ref?: string }).$ref;
  if (reference === undefined) return value;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Schema)[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}
