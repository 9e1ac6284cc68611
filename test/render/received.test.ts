import { expect, test } from 'vitest';
import { renderDocument } from '../../src/render/render.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

/** What the reader of a reference receives: answers without a body, and what webhooks send. */

const json = (schema: object) => ({ content: { 'application/json': { schema } } });

function pageOf(parts: object): string {
  const rendered = renderDocument(published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, ...parts }))!;
  expect(checkPage(rendered)).toEqual([]);
  return rendered.html;
}

test('a success without a body stands before the errors, and says that it has none', () => {
  const responded = (responses: object) => pageOf({ paths: { '/orders': { post: { responses } } } });
  const error = { description: 'No', ...json({ properties: { why: { type: 'string' } } }) };
  expect(responded({ 202: { description: 'Taken' }, 401: error })).toMatch(
    /open><summary><b[^>]*>202<\/b>.*?<p class="more">No body\.<\/p><\/details><details[^>]*><summary><b[^>]*>401</s,
  );
  expect(responded({ 204: { description: 'Gone' } })).not.toContain('No body');
});

test('a webhook shows what it sends, as its receiver sees it', () => {
  const id = { type: 'integer', readOnly: true, example: 7 };
  const order = { properties: { id, pin: { type: 'string', writeOnly: true } } };
  const html = pageOf({ webhooks: { paid: { post: { requestBody: json(order), responses: {} } } } });
  expect(html).toMatch(
    /<details class="example" open><summary>Body: application\/json<\/summary><pre[^>]*><code>\{\s*"id": 7\s*\}/,
  );
  expect(html).toContain('<code>id</code>');
  expect(html).not.toContain('<code>pin</code>');
});
