import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import type { Scope } from '../../model/access.ts';
import { closest } from '../../model/errors.ts';
import { decodeSegment } from '../../model/escape.ts';
import { followPointer, joinPointer } from '../../model/pointer.ts';
import type { Config } from '../../config.ts';
import type { BodyLimits } from '../body/json-body.ts';

/** A JSON Schema. */
export type DescribedSchema = Record<string, unknown>;

/** One parameter of an operation. */
export interface DescribedParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: DescribedSchema;
}

/** One operation of the description. */
export interface DescribedOperation {
  id: string;
  /** In lower case. */
  method: string;
  /** Path template, such as `/v1/apis/{api}`. */
  path: string;
  /** Scope that a key needs; null: no credential is needed. */
  scope: Scope | null;
  /** Whether it is about the person who asks, whatever the organization. */
  isPersonal: boolean;
  parameters: DescribedParameter[];
  /** Forms of the console that ask it (`x-form`). */
  forms: readonly object[];
  /** The page of the console that shows its list (`x-list`). Null: none, or one with code of its own. */
  list: object | null;
  /** Commands that ask it (`x-command`). */
  commands: readonly object[];
  /** Position of the request body's schema in the description; null: the operation has no body. */
  body: { pointer: string; required: boolean; /** Whether the body is a file and not JSON. */ isBytes: boolean } | null;
}

/**
 * The management API's OpenAPI document. Requests are validated against it, and `/v1/openapi.json`
 * serves it.
 */
export interface Description {
  document: DescribedSchema;
  operations: DescribedOperation[];
}

interface PathItem {
  parameters?: unknown[];
  [method: string]: unknown;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * Reads `content/apis/management.yaml`. A build reads it from the JSON that `scripts/bundle.ts` made of it, since reading
 * YAML takes a tenth of a second.
 */
export function readDescription(): Description {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const document = (
    import.meta.url.endsWith('.js')
      ? JSON.parse(read('./management.json'))
      : load(read('../../../content/apis/management.yaml'))
  ) as DescribedSchema;
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

function readOperation(document: DescribedSchema, path: string, item: PathItem, method: string): DescribedOperation {
  const operation = item[method] as DescribedSchema;
  const all = [...(item.parameters ?? []), ...((operation['parameters'] as unknown[] | undefined) ?? [])];
  const body = operation['requestBody'] as { required?: boolean; content: object } | undefined;
  return {
    id: operation['operationId'] as string,
    method,
    path,
    scope: operation['security'] === undefined ? (operation['x-scope'] as Scope) : null,
    isPersonal: /^\/v1\/(?:me(?:\/|$)|organizations$)/.test(path),
    parameters: all.map((parameter) => resolveInDescription(document, parameter) as DescribedParameter),
    forms: (operation['x-form'] ?? []) as object[],
    list: (operation['x-list'] ?? null) as object | null,
    commands: (operation['x-command'] ?? []) as object[],
    body: body
      ? {
          pointer: joinPointer('', 'paths', path, method, 'requestBody', 'content', 'application/json', 'schema'),
          required: body.required ?? false,
          isBytes: !Object.hasOwn(body.content, 'application/json'),
        }
      : null,
  };
}

/** Resolves a local reference; returns any other value unchanged. */
export function resolveInDescription(document: DescribedSchema, value: unknown): unknown {
  const reference = (value as { $ref?: string }).$ref;
  return reference === undefined ? value : followPointer(document, reference.slice(1));
}

/** A path of the description with its operations. */
export interface PathRoute {
  template: string;
  segments: string[];
  /** By method in lower case. */
  operations: Map<string, DescribedOperation>;
}

/** Groups operations by path. */
export function createRoutes(operations: readonly DescribedOperation[]): PathRoute[] {
  return [...Map.groupBy(operations, ({ path }) => path)].map(([template, all]) => ({
    template,
    segments: template.split('/'),
    operations: new Map(all.map((operation) => [operation.method, operation])),
  }));
}

/** The route of a raw path with its decoded parameters; null if there is none. */
export function matchRoute(
  routes: readonly PathRoute[],
  path: string,
): { route: PathRoute; values: Record<string, string> } | null {
  if (path.length > 2048) return null;
  const segments = path.split('/');
  for (const route of routes) {
    const values = matchSegments(route.segments, segments);
    if (values) return { route, values };
  }
  return null;
}

/** Parameters that take the rest of a path, with its slashes. */
const takesRest = ['{page}', '{file}'];

/** The decoded parameters of a path that fits a template, by their names; null if it does not. */
export function matchSegments(template: readonly string[], all: readonly string[]): Record<string, string> | null {
  const last = template.at(-1) ?? '';
  const hasRest = takesRest.includes(last) && all.length >= template.length;
  const rest = hasRest ? decodeRest(all.slice(template.length - 1)) : null;
  const segments = hasRest ? [...all.slice(0, template.length - 1), ''] : all;
  if (template.length !== segments.length) return null;
  const values: Record<string, string> = {};
  for (const [index, wanted] of template.entries()) {
    const segment = segments[index]!;
    if (!wanted.startsWith('{')) {
      if (segment !== wanted) return null;
      continue;
    }
    const value = hasRest && wanted === last ? rest : decodeSegment(segment);
    if (value === null) return null;
    values[wanted.slice(1, -1)] = value;
  }
  return values;
}

/** The rest of a path, decoded. Clients may encode its slashes (RFC 3986 §2.2). */
function decodeRest(segments: readonly string[]): string | null {
  const parts = segments.flatMap((segment) => segment.split(/%2f/i)).map(decodeSegment);
  return parts.includes(null) ? null : parts.join('/');
}

/** The methods of a route for `Allow`. */
export function allowedMethods({ operations }: PathRoute): string {
  const allowed = [...operations.keys()].flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return [...allowed, 'OPTIONS'].join(', ');
}

/**
 * The message for an unknown path, with the nearest route if one is similar. Only for clients that
 * may know the routes.
 */
export function noRoute(routes: readonly PathRoute[], path: string): string {
  const shown = path.slice(0, 200);
  const segments = shown.split('/');
  const candidates = routes.map((route) =>
    route.segments.map((wanted, index) => (wanted.startsWith('{') ? (segments[index] ?? wanted) : wanted)).join('/'),
  );
  return `The route ${shown} does not exist.${closest(shown, candidates)} /v1/openapi.json describes every route.`;
}

/** Largest body without a document, in bytes. */
export const plainBodyBytes = 1024 * 1024;

/** The most bytes beside a document: the files that it refers to. */
const besideDocumentBytes = 8 * 1024 * 1024;

/** Most values and names in such a body. */
const plainBodyNodes = 50_000;

/**
 * Largest body with a document, in bytes. The document may be a JSON string, whose escapes can
 * double its size.
 */
export function documentBodyBytes({ limits }: Pick<Config, 'limits'>): number {
  return 2 * limits.fileBytes + 65_536;
}

/** Whether the operation's body contains a document. */
export function takesDocument({ id }: DescribedOperation): boolean {
  return /^(?:publish|compare|replay|check)/.test(id);
}

/**
 * Limits of the operation's body. A document may be as deep as the configuration allows, inside the
 * object around it.
 */
export function bodyLimits(config: Config, operation: DescribedOperation): BodyLimits {
  const plain = { depth: 20, nodes: plainBodyNodes };
  if (!takesDocument(operation)) return { ...plain, bytes: plainBodyBytes };
  const { depth, nodes } = config.limits;
  // A node of a document is a value and perhaps its name.
  return {
    ...plain,
    bytes: documentBodyBytes(config),
    document: { depth: depth + 1, nodes: 2 * nodes + 100, rest: besideDocumentBytes },
  };
}
