import { sampleBody, type SampleBody } from './sample-body.ts';
import { entriesOf, objectOf, listOf, textOf } from '../json-value.ts';
import type { OperationView, Parameter, Requirement } from './operation-view.ts';
import type { ApiOperation } from './list-operations.ts';
import { serverUrls } from '../outline-document.ts';
import { dereference } from '../local-reference.ts';
import { isSmall, sampleOf } from '../schema/sample-value.ts';
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

/** Creates an example request: required parts only, with examples from the document. */
export function sampleRequest(
  schemas: Schemas,
  { method, path }: ApiOperation,
  view: OperationView,
  security: readonly Requirement[],
): SampleRequest {
  const { document } = schemas;
  const given = (place: string) =>
    view.parameters
      .filter((one) => one.place === place && (one.isRequired || place === 'path'))
      .slice(0, 20)
      .map((one): [string, string] => [one.name, parameterText(schemas, one)]);
  let target = path;
  for (const [name, value] of given('path'))
    target = target.replaceAll(`{${name}}`, () => encodeURIComponent(value.toWellFormed()) || '-');
  const query = new URLSearchParams(given('query')).toString();
  const body = sampleBody(schemas, view);
  const keys = credentials(document, security);
  // A document may describe these as parameters, too (OpenAPI says that those are ignored).
  const known = new Set([...keys.headers, ...contentType(body)].map(({ name }) => name.toLowerCase()));
  const headers = given('header')
    .filter(([name]) => !known.has(name.toLowerCase()))
    .map(([name, value]) => ({ name, value: value.replace(/[^ -~]/g, '?'), secret: null }));
  return {
    method,
    url: `${baseOf(document, view)}${target}${keys.query}${query === '' ? '' : `${keys.query === '' ? '?' : '&'}${query}`}`,
    headers: [...keys.headers, ...headers, ...contentType(body)].filter(({ name }) => isToken(name)).slice(0, 30),
    body,
  };
}

/** The URL of the first server, with the defaults of its variables and without a slash at its end. */
export function baseOf(document: Record<string, unknown>, view: Pick<OperationView, 'servers'>): string {
  const written = view.servers[0] ?? serverUrls(document)[0] ?? '';
  const variables = objectOf(objectOf(listOf(document['servers'])[0])['variables']);
  const url = entriesOf(variables)
    .slice(0, 20)
    .reduce(
      (text, [name, one]) => text.slice(0, 2000).replaceAll(`{${name}}`, () => textOf(objectOf(one)['default'])),
      written,
    );
  const whole = /^https?:\/\//i.test(url)
    ? url
    : `https://example.com${url.startsWith('/') || url === '' ? '' : '/'}${url}`;
  return whole.slice(0, 2000).replace(/\/$/, '');
}

/** A name of a header (RFC 9110 §5.1). curl would read files for `@name`. */
function isToken(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}

function parameterText(schemas: Schemas, { name, schema, examples }: Parameter): string {
  const [example] = examples;
  const value = example !== undefined && isSmall(example.value) ? example.value : sampleOf(schemas, schema);
  const text = Array.isArray(value) ? value.map(textOf).join(',') : textOf(value);
  return text === '' || text === 'string' ? name : text.slice(0, 500);
}

/** curl names the type of forms by itself. */
function contentType(body: SampleBody | null): SampleRequest['headers'] {
  return body === null || !('type' in body) ? [] : [{ name: 'Content-Type', value: body.type, secret: null }];
}

/** The credentials of the first alternative that needs any. */
function credentials(
  document: Record<string, unknown>,
  security: readonly Requirement[],
): { headers: SampleRequest['headers']; query: string } {
  const schemes = objectOf(objectOf(document['components'])['securitySchemes'] ?? document['securityDefinitions']);
  const headers: SampleRequest['headers'] = [];
  let query = '';
  for (const { scheme } of (security.find((one) => one.length > 0) ?? []).slice(0, 5)) {
    const {
      type,
      in: place,
      name,
      scheme: kind,
    } = dereference(document, Object.hasOwn(schemes, scheme) ? schemes[scheme] : null) ?? {};
    const isBasic = type === 'basic' || textOf(kind).toLowerCase() === 'basic';
    if (type === 'apiKey' && place === 'header') headers.push({ name: textOf(name), value: '', secret: 'API_KEY' });
    else if (type === 'apiKey' && place === 'query')
      query = `?${encodeURIComponent(textOf(name).toWellFormed())}=API_KEY`;
    else if (type === 'apiKey') headers.push({ name: 'Cookie', value: `${textOf(name)}=`, secret: 'API_KEY' });
    else if (isBasic) headers.push({ name: 'Authorization', value: 'Basic ', secret: 'CREDENTIALS' });
    else if (type === 'oauth2' || type === 'openIdConnect' || type === 'http')
      headers.push({ name: 'Authorization', value: 'Bearer ', secret: 'TOKEN' });
  }
  return { headers, query };
}
