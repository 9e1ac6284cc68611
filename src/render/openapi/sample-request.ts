import { bodyTypes, sampleBody, type SampleBody, pathText, plainText, queryText } from './sample-body.ts';
import type { JsonObject } from '../../model/json.ts';
import { entriesOf, objectOf, listOf, textOf, dereference } from '../json-value.ts';
import { securityOf, type OperationView, type Parameter, type Requirement } from './operation-view.ts';
import type { ApiOperation } from './list-operations.ts';
import { securitySchemesOf, serversOf, type Server } from './outline-api.ts';
import { sampleOf, smallIn } from '../schema/sample-value.ts';
import type { Schemas } from '../schema/schemas.ts';

/**
 * An example request for an operation. Every part may come from the document and must be quoted in
 * code.
 */
export interface SampleRequest {
  method: string;
  url: string;
  /** `secret`: name of the variable that the caller must set. */
  headers: { name: string; value: string; secret: string | null }[];
  body: SampleBody | null;
}

/** Creates an example request: required parts only, with examples from the document, and a body of the type. */
export function sampleRequest(
  schemas: Schemas,
  operation: ApiOperation,
  view: OperationView,
  type = bodyTypes(view.body?.media)[0],
): SampleRequest {
  const { document } = schemas;
  const given = (place: string, write: (parameter: Parameter, value: unknown) => string) =>
    view.parameters
      .filter((one) => one.place === place && (one.isRequired || place === 'path'))
      .slice(0, 20)
      .map((one): [string, string] => [one.name, write(one, parameterValue(schemas, one)).slice(0, 2000)]);
  let target = operation.path;
  for (const [name, text] of given('path', pathText)) target = target.replaceAll(`{${name}}`, () => text || '-');
  const body = type === undefined ? null : sampleBody(schemas, type);
  const keys = credentials(document, securityOf(document, operation));
  const query = [
    ...keys.query,
    ...[...given('query', queryText), ...given('querystring', queryText)].map(([, text]) => text),
  ];
  const cookies = [...given('cookie', plainText).map(([name, text]) => `${name}=${text}`), ...keys.cookies];
  const cookie = { name: 'Cookie', value: cookies.join('; '), secret: keys.cookies.length > 0 ? apiKeys[0]! : null };
  // A document may describe these as parameters, too (OpenAPI says that those are ignored).
  const ofKeys = [...keys.headers, ...(cookies.length > 0 ? [cookie] : [])];
  const names = new Set([...ofKeys, ...contentType(body)].map(({ name }) => name.toLowerCase()));
  const headers = given('header', plainText)
    .filter(([name]) => !names.has(name.toLowerCase()))
    .map(([name, value]) => ({ name, value, secret: null }));
  return {
    method: operation.method,
    url: `${baseOf(document, view)}${target}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    headers: [...ofKeys, ...headers, ...contentType(body)]
      // Names of RFC 9110 §5.1: curl would read files for `@name`.
      .filter(({ name }) => /^[\w!#$%&'*+.^`|~-]+$/.test(name))
      .map((header) => ({ ...header, value: header.value.replace(/[^ -~]/g, '?') }))
      .slice(0, 30),
    body,
  };
}

/** Stands for the server in requests, where a document names none. Scripts of pages know it, too. */
export const unknownServer = 'https://SERVER';

/** The URL of the first server as `serverOf` has it, made absolute for a request. */
function baseOf(...given: Parameters<typeof serverOf>): string {
  const url = serverOf(...given);
  return /^https?:\/\//i.test(url) ? url : `${unknownServer}${url.replace(/^(?!\/|$)/, '/')}`;
}

/** The URL of the first server, with the defaults of its variables and without a slash at its end; empty if there is none. */
export function serverOf(document: JsonObject, { servers }: Pick<OperationView, 'servers'>): string {
  const server = servers[0] ?? serversOf(document)[0];
  return server === undefined ? '' : usualUrl(server);
}

/** A server's URL with the defaults of its variables. */
export function usualUrl({ url: written, variables }: Server): string {
  const url = entriesOf(variables)
    .slice(0, 20)
    .reduce((text, [name, one]) => {
      const variable = objectOf(one);
      const chosen = textOf(variable['default']) || textOf(listOf(variable['enum'])[0]);
      return text.slice(0, 2000).replaceAll(`{${name}}`, () => chosen);
    }, written);
  return url.slice(0, 2000).replace(/\/$/, '');
}

/** The value of a parameter; its name where the document says nothing of it. */
function parameterValue(schemas: Schemas, { name, place, schema, examples }: Parameter): unknown {
  const example = smallIn(examples);
  const value = example === undefined ? sampleOf(schemas, schema, 'request', name) : example.value;
  if (typeof value === 'object' && value !== null) return value;
  const text = textOf(value);
  if (text !== '' && text !== 'string') return text.slice(0, 500);
  return place === 'header' && /(?:key|id)$/i.test(name) ? sampleOf(schemas, { type: 'string', format: 'uuid' }) : name;
}

/** curl names the type of forms by itself. */
function contentType(body: SampleBody | null): SampleRequest['headers'] {
  return body === null || !('type' in body) ? [] : [{ name: 'Content-Type', value: body.type, secret: null }];
}

/** Names of variables for keys. Never names from the document, which might be variables with secrets in a shell. */
const apiKeys = ['API_KEY', 'SECOND_API_KEY', 'THIRD_API_KEY'];

/**
 * The credentials of the first alternative that needs any. All but the last of `cookies` are whole; that one ends
 * where its secret begins.
 */
function credentials(document: Record<string, unknown>, security: readonly Requirement[]) {
  const schemes = securitySchemesOf(document);
  const headers: SampleRequest['headers'] = [];
  const query: string[] = [];
  const cookies: string[] = [];
  const authorize = (kind: string, secret: string) => {
    if (headers.every(({ name }) => name !== 'Authorization'))
      headers.push({ name: 'Authorization', value: `${kind} `, secret });
  };
  for (const { scheme } of (security.find((one) => one.length > 0) ?? []).slice(0, 5)) {
    const definition = dereference(document, Object.hasOwn(schemes, scheme) ? schemes[scheme] : null) ?? {};
    const { type, in: place, scheme: kind } = definition;
    const name = textOf(definition['name']);
    const isBasic = type === 'basic' || textOf(kind).toLowerCase() === 'basic';
    const keysSoFar = headers.filter(({ secret }) => apiKeys.includes(secret ?? '')).length;
    if (type === 'apiKey' && place === 'header')
      headers.push({ name, value: '', secret: apiKeys[keysSoFar] ?? apiKeys.at(-1)! });
    else if (type === 'apiKey' && place === 'query') query.push(`${encodeURIComponent(name.toWellFormed())}=API_KEY`);
    else if (type === 'apiKey') cookies.unshift(`${name}=${cookies.length > 0 ? 'API_KEY' : ''}`);
    else if (isBasic) authorize('Basic', 'CREDENTIALS');
    else if (type === 'oauth2' || type === 'openIdConnect' || type === 'http') authorize('Bearer', 'TOKEN');
  }
  return { headers, query, cookies };
}

/**
 * A request as a curl command for a POSIX shell. Text from the document is in single quotes, where
 * shells interpret nothing, and without control characters, which terminals interpret.
 */
export function curlOf({ method, url, headers, body }: SampleRequest): string {
  const parts = [`curl${url.includes('{') || url.includes('[') ? ' --globoff' : ''} ${quoteShell(url)}`];
  const isPlain = body === null ? method === 'GET' : method === 'POST';
  if (!isPlain)
    parts.push(method === 'HEAD' ? '--head' : `-X ${/^[A-Z]+$/.test(method) ? method : quoteShell(method)}`);
  for (const { name, value, secret } of headers)
    parts.push(`-H ${quoteShell(`${oneLine(name)}: ${oneLine(value)}`)}${secret === null ? '' : `"$${secret}"`}`);
  if (body?.kind === 'json') parts.push(`-d ${quoteShell(JSON.stringify(body.value, null, 2))}`);
  if (body?.kind === 'form')
    for (const [name, value] of body.fields) parts.push(`--data-urlencode ${quoteShell(`${name}=${value}`)}`);
  if (body?.kind === 'text') parts.push(`--data-raw ${quoteShell(body.text)}`);
  if (body?.kind === 'file') parts.push(`--data-binary ${quoteShell(`@${body.file}`)}`);
  // Only `--form-string` sends a value that begins with `@` or `<` as it is.
  for (const { name, value, file, type } of body?.kind === 'multipart' ? body.fields : [])
    parts.push(
      file === null && type === null
        ? `--form-string ${quoteShell(`${name}=${value}`)}`
        : // In JSON a semicolon, which ends the value, stands only in strings.
          `-F ${quoteShell(`${name}=${file === null ? value.replaceAll(';', '\\u003b') : `@${file}`};type=${type}`)}`,
    );
  return parts.join(' \\\n  ');
}

function quoteShell(text: string): string {
  return `'${text.replace(/(?!\n)\p{Cc}/gu, '').replaceAll("'", `'\\''`)}'`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 500);
}
