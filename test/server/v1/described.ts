import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  readDescription,
  type DescribedOperation,
  type DescribedSchema,
  createRoutes,
  matchRoute,
} from '../../../src/server/v1/api-description.ts';

/** An answer as far as the description speaks of it. */
export interface Seen {
  method: string;
  /** Path and query. */
  target: string;
  status: number;
  headers: Headers;
  text: string;
}

export const description = readDescription();
const routes = createRoutes(description.operations);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(closeRecords(description.document), 'answers');
const compiled = new Map<string, ValidateFunction>();

/** The operation that a request is for, or null. */
function operationOf(method: string, target: string): DescribedOperation | null {
  const matched = matchRoute(routes, target.split('?')[0]!);
  return matched?.route.operations.get(method === 'HEAD' ? 'get' : method.toLowerCase()) ?? null;
}

/** Fields that are on an answer of this status always. */
const always: Record<string, number> = { 'Retry-After': 429, ETag: 304, RateLimit: 200 };

/** How an answer breaks the description; empty when it does not. Records must hold exactly the members that are described. */
export function breaches({ method, target, status, headers, text }: Seen): string[] {
  const found: string[] = [];
  if (!headers.has('x-request-id')) found.push('has no X-Request-Id');
  if (status >= 500) found.push(`is a ${status}: ${text}`);
  const operation = operationOf(method, target);
  if (operation === null) {
    const isRoute = matchRoute(routes, target.split('?')[0]!) !== null;
    const allowed = isRoute ? (method === 'OPTIONS' ? [204, 401, 429] : [401, 405, 429]) : [401, 404, 429];
    if (!allowed.includes(status)) found.push(`is a ${status} of no operation`);
    if (isRoute && (status === 405 || status === 204) && !headers.has('allow')) found.push('has no Allow');
    if (status >= 400) found.push(...checkBody('/components/schemas/Problem', text, method));
    return found;
  }
  const place = `/paths/${operation.path.replaceAll('/', '~1')}/${operation.method}/responses/${status}`;
  const response = lookUp(place);
  if (response === undefined)
    return [...found, `is a ${status}, which ${operation.id} does not describe: ${text.slice(0, 300)}`];
  for (const name of Object.keys((response.node['headers'] as DescribedSchema | undefined) ?? {})) {
    const isAlways = ['Location', 'WWW-Authenticate'].includes(name) || always[name] === status;
    if (isAlways && !headers.has(name)) found.push(`has no ${name}`);
  }
  const content = response.node['content'] as Record<string, DescribedSchema> | undefined;
  const type = headers.get('content-type')?.split(';')[0] ?? null;
  if (content === undefined) {
    if (text !== '') found.push('has a body');
    return found;
  }
  if (type === null || !Object.hasOwn(content, type)) return [...found, `is ${type}`];
  // A file is described by its type alone.
  if (type === 'application/octet-stream' || type.startsWith('text/')) return found;
  return [...found, ...checkBody(`${response.pointer}/content/${type.replaceAll('/', '~1')}/schema`, text, method)];
}

function checkBody(pointer: string, text: string, method: string): string[] {
  if (method === 'HEAD') return text === '' ? [] : ['has a body'];
  const uri = pointer.split('/').map(encodeURIComponent).join('/');
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `answers#${uri}` });
  compiled.set(pointer, validate);
  if (validate(JSON.parse(text))) return [];
  return [`is not as described: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`];
}

/** What a pointer leads to, through references, and the pointer of that. */
function lookUp(pointer: string): { node: DescribedSchema; pointer: string } | undefined {
  let node: unknown = description.document;
  for (const key of pointer.slice(1).split('/')) {
    node = (node as DescribedSchema)[key.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (node === undefined) return undefined;
  }
  const { $ref } = node as { $ref?: string };
  return $ref === undefined ? { node: node as DescribedSchema, pointer } : lookUp($ref.slice(1));
}

/** A copy in which records take no member that is not described, except where `allOf` joins two of them. */
function closeRecords(document: DescribedSchema): DescribedSchema {
  const copy = structuredClone(document);
  const joined = new Set<unknown>();
  const walk = (node: unknown, visit: (node: DescribedSchema) => void): void => {
    if (typeof node !== 'object' || node === null) return;
    if (!Array.isArray(node)) visit(node as DescribedSchema);
    for (const value of Object.values(node)) walk(value, visit);
  };
  const schemas = (copy['components'] as { schemas: Record<string, DescribedSchema> }).schemas;
  walk(schemas, ({ allOf }) => {
    for (const part of (allOf as DescribedSchema[] | undefined) ?? []) {
      joined.add(typeof part['$ref'] === 'string' ? schemas[part['$ref'].split('/').at(-1)!] : part);
    }
  });
  walk(schemas, (node) => {
    if (node['allOf'] !== undefined) node['unevaluatedProperties'] = false;
    else if (node['type'] === 'object' && node['properties'] && !joined.has(node))
      node['additionalProperties'] ??= false;
  });
  return copy;
}
