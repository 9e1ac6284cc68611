import { expect } from 'vitest';
import { renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const json = (schema: object) => ({ content: { 'application/json': { schema } } });

export const text = { type: 'string' };

/** The HTML of the first operation, whose request and 200 response have these schemas. */
export function operationOf(schemas: object, request: object, response: object = text, copies = 1): string {
  const operation = { requestBody: json(request), responses: { 200: { description: 'Done', ...json(response) } } };
  const paths = Object.fromEntries(Array.from({ length: copies }, (_, at) => [`/p${at}`, { post: operation }]));
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, components: { schemas } };
  const rendered = renderDocument(published(document))!;
  expect(checkPage(rendered)).toEqual([]);
  return /<section class="operation".*?<\/section>/s.exec(rendered.html)![0];
}

export const fields = (html: string) => [...html.matchAll(/<li><code>([^<]*)<\/code>/g)].map(([, name]) => name);
