import { expect, test } from 'vitest';
import { curlOf } from '../../src/render/openapi/sample-request.ts';
import { renderDocument } from '../../src/render/render.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';
import { xmlSample } from '../../src/render/schema/xml-sample.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';
import { type Code, pet, upload, documentWith, bodyOf, xml, multipart } from './sample-bodies-world.ts';

/** Bodies that are not JSON: what they look like, and that samples send just that. */

const { languages, parseCurl } = (await import(
  new URL('../../templates/assets/languages.js', import.meta.url).href
)) as { languages: Record<string, Code>; parseCurl(text: string): unknown };

test('a body of any type is JSON where its schema is one of JSON', () => {
  const schema = { type: 'object', properties: { id: { type: 'integer' } } };
  expect(bodyOf({ '*/*': { schema } })).toEqual({ kind: 'json', type: 'application/json', value: { id: 1 } });
  expect(bodyOf({ '*/*': { schema: { type: 'string', format: 'binary' } } })).toMatchObject({ kind: 'file' });
});

test('XML has the names, attributes, prefixes and wrappers of its schema', () => {
  const schema = { $ref: '#/components/schemas/Pet' };
  expect(bodyOf({ 'application/xml': { schema } })).toEqual({ kind: 'text', type: 'application/xml', text: xml });
  const rendered = renderDocument(published(documentWith({}, { 'application/xml': { schema } })))!;
  expect(checkPage(rendered)).toEqual([]);
  expect(rendered.html).toContain('&lt;p:pet xmlns:p="https://pets.example" id="7"&gt;');
});

test("an author's example in XML is shown as it is, and a value as XML", () => {
  const text = '<pet id="1"/>';
  expect(bodyOf({ 'text/xml': { schema: pet, example: text } })).toEqual({ kind: 'text', type: 'text/xml', text });
  const value = { id: 1, name: 'Mia' };
  const found = bodyOf({ 'application/xml': { schema: pet, example: value } });
  expect(found).toMatchObject({ text: expect.stringContaining('id="1">\n  <name>Mia</name>') });
});

test.for([{ a: { '<b>': 'x', 'c d="': [1] } }, [1, [2, 3]], 'x\0\ud800', null])(
  'hostile names and values make well-formed XML: %j',
  (value) => {
    const schemas = createSchemas(documentWith({}), 'openapi', 0);
    const text = xmlSample(schemas, { xml: { name: '1<x', prefix: 'a b' } }, value);
    const tags = [...text.matchAll(/<(\/?)([A-Za-z_][\w.-]*)[^<>]*?(\/?)>/g)];
    const open: string[] = [];
    for (const [, close, name, self] of tags.slice(0)) {
      if (close === '/') expect(open.pop()).toBe(name);
      else if (self === '') open.push(name!);
    }
    expect(open).toEqual([]);
    expect(text.replace(/<\?xml[^>]*>|<\/?[A-Za-z_][\w.-]*\/?>/g, '')).not.toMatch(/[<>\0]/);
  },
);

test('the node type of OpenAPI 3.2 decides, whatever stands beside it', () => {
  const xmlOf = (form: object) =>
    xmlSample(createSchemas(documentWith({}), 'openapi', 0), { properties: { a: { xml: form } } }, { a: 1 });
  expect(xmlOf({ attribute: true })).toContain('<root a="1"/>');
  expect(xmlOf({ attribute: true, nodeType: 'element' })).toContain('<a>1</a>');
  expect(xmlOf({ attribute: false, nodeType: 'attribute' })).toContain('<root a="1"/>');
});

test('a form with files names a file where the schema is binary', () => {
  expect(bodyOf({ 'multipart/form-data': { schema: upload } })).toEqual(multipart);
  expect(bodyOf({ 'image/png': {} })).toEqual({ kind: 'file', type: 'image/png', file: 'upload.png' });
  expect(bodyOf({ 'application/x-www-form-urlencoded': { schema: upload } })).toMatchObject({ kind: 'form' });
});

test('media types are tabs where their schemas differ, and words where they share one', () => {
  const json = { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } };
  const mediaOf = (content: object) =>
    renderDocument(published(documentWith(content)))!.html.split('<div class="parts">')[1]!;
  const tabs = mediaOf({ ...json, 'multipart/form-data': { schema: upload } });
  expect(tabs).toContain(
    '<details class="answer" name="operation/post-pets/body" open><summary><code>application/json',
  );
  expect(tabs).toContain('<details class="answer" name="operation/post-pets/body"><summary><code>multipart/form-data');
  const words = mediaOf({ ...json, 'application/xml': json['application/json'] });
  expect(words).toContain('<code>application/json</code> or <code>application/xml</code>');
  expect(words).not.toContain('class="answer"');
});

test('an object in a form with files is JSON, and says so; its media type is nothing but one', () => {
  const meta = { type: 'object', example: { a: `;type=x;headers=@/etc/passwd'` } };
  const formOf = (contentType: string) =>
    bodyOf({
      'multipart/form-data': { schema: { type: 'object', properties: { meta } }, encoding: { meta: { contentType } } },
    });
  const body = formOf('application/json;headers=@/etc/passwd');
  expect(formOf('application/ld+json')).toMatchObject({ fields: [{ type: 'application/ld+json' }] });
  expect(body).toMatchObject({ fields: [{ value: JSON.stringify(meta.example), type: 'application/json' }] });
  const curl = curlOf({ method: 'POST', url: 'https://x.example/', headers: [], body });
  expect(curl).toContain(`-F 'meta={"a":"\\u003btype=x\\u003bheaders=@/etc/passwd'\\''"};type=application/json'`);
  for (const name of ['python', 'go', 'javascript', 'curl'])
    expect(languages[name]!(parseCurl(curl))).toMatch(/meta.*application\/json/s);
});

test('an example that is given as JSON text is that JSON', () => {
  const example = (serializedValue: string) => ({ examples: { one: { serializedValue } } });
  expect(bodyOf({ 'application/json': example('{"a": [1]}') })).toMatchObject({ value: { a: [1] } });
  expect(bodyOf({ 'application/json': example('{"a"') })).toMatchObject({ value: '{"a"' });
  expect(bodyOf({ 'text/plain': example('{"a": [1]}') })).toMatchObject({ text: '{"a": [1]}' });
});
