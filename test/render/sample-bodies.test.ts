import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { viewOperation } from '../../src/render/openapi/operation-view.ts';
import { sampleBody } from '../../src/render/openapi/sample-body.ts';
import { curlOf } from '../../src/render/openapi/sample-code.ts';
import type { SampleRequest } from '../../src/render/openapi/sample-request.ts';
import { renderDocument } from '../../src/render/render.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';
import { xmlSample } from '../../src/render/schema/xml-sample.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

/** Bodies that are not JSON: what they look like, and that samples send just that. */

type Code = (request: unknown) => string;
const { languages, parseCurl } = (await import(
  new URL('../../templates/assets/languages.js', import.meta.url).href
)) as { languages: Record<string, Code>; parseCurl(text: string): unknown };

const pet = {
  type: 'object',
  xml: { name: 'pet', namespace: 'https://pets.example', prefix: 'p' },
  properties: {
    id: { type: 'integer', example: 7, xml: { attribute: true } },
    name: { type: 'string', example: 'Rex & <co>' },
    tags: {
      type: 'array',
      xml: { name: 'tags', wrapped: true },
      items: { type: 'string', example: 'dog', xml: { name: 'tag' } },
    },
    photos: { type: 'array', items: { type: 'string', example: 'a.png' } },
  },
};
const upload = {
  type: 'object',
  required: ['note', 'file'],
  properties: {
    note: { type: 'string', example: '@/etc/passwd' },
    file: { type: 'string', format: 'binary' },
    more: { type: 'string' },
  },
};

function documentWith(content: object, answer: object = {}): Record<string, unknown> {
  const responses = { 200: { description: 'ok', content: answer } };
  const paths = { '/pets': { post: { requestBody: { content }, responses } } };
  return { openapi: '3.1.0', info: { title: 'x', version: '1' }, components: { schemas: { Pet: pet } }, paths };
}

function bodyOf(content: object) {
  const document = documentWith(content);
  const value = (document['paths'] as { '/pets': { post: Record<string, unknown> } })['/pets'].post;
  const operation = { method: 'POST', path: '/pets', isWebhook: false, item: {}, value };
  return sampleBody(createSchemas(document, 'openapi', 0), viewOperation(document, operation));
}

const xml = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<p:pet xmlns:p="https://pets.example" id="7">',
  '  <name>Rex &amp; &lt;co&gt;</name>',
  '  <tags>',
  '    <tag>dog</tag>',
  '  </tags>',
  '  <photos>a.png</photos>',
  '</p:pet>',
].join('\n');

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

const multipart = {
  kind: 'multipart' as const,
  fields: [
    { name: 'note', value: '@/etc/passwd', file: null, type: null },
    { name: 'file', value: '', file: 'upload.bin', type: 'application/octet-stream' },
    { name: 'more', value: 'string', file: null, type: null },
  ],
};

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
      'multipart/form-data': {
        schema: { type: 'object', properties: { meta } },
        encoding: { meta: { contentType } },
      },
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

describe('samples, sent to a server', () => {
  const hasCurl = spawnSync('curl', ['--version']).status === 0;
  let folder: string;
  let url: string;
  let received: Promise<{ fields: [string, string][] | null; text: string; type: string }>;
  const server = createServer((request, response) => {
    received = read(request);
    void received.then(() => response.end('ok'));
  });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-samples-'));
    await writeFile(join(folder, 'upload.bin'), '…');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  async function read(request: IncomingMessage) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const type = request.headers['content-type'] ?? '';
    if (!/multipart|urlencoded/.test(type)) return { fields: null, text: body.toString(), type };
    const form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
    const fields = await Promise.all(
      [...form].map(async ([name, value]): Promise<[string, string]> =>
        typeof value === 'string' ? [name, value] : [name, `${value.name} ${await value.text()}`],
      ),
    );
    return { fields, text: '', type: type.replace(/;.*/, '') };
  }

  async function send(name: string, request: SampleRequest): Promise<Awaited<typeof received>> {
    const code = languages[name]!(parseCurl(curlOf(request)));
    if (name === 'javascript')
      await (new Function('console', `return (async () => { ${code} })()`) as (log: object) => Promise<void>)({
        log: () => undefined,
      });
    else await promisify(execFile)('sh', ['-c', `${code} -s --max-time 10`], { cwd: folder });
    return received;
  }

  const tricky = `<@x';"\u202e$(id)\`\\\n&=%`;
  const bodies: [string, SampleRequest['body'], Partial<Awaited<typeof received>>][] = [
    [
      'a form with files',
      {
        kind: 'multipart',
        fields: [...multipart.fields.slice(0, 2), { name: 'more', value: tricky, file: null, type: null }],
      },
      {
        type: 'multipart/form-data',
        fields: [
          ['note', '@/etc/passwd'],
          ['file', 'upload.bin …'],
          ['more', tricky],
        ],
      },
    ],
    ['a form', { kind: 'form', fields: [['a', tricky]] }, { fields: [['a', tricky]] }],
    ['XML', { kind: 'text', type: 'application/xml', text: `@${xml}` }, { text: `@${xml}`, type: 'application/xml' }],
    ['a file', { kind: 'file', type: 'image/png', file: 'upload.bin' }, { text: '…', type: 'image/png' }],
  ];
  for (const [what, body, expected] of bodies)
    test.for(['javascript', ...(hasCurl ? ['curl'] : [])])(`${what}: %s`, async (name) => {
      const headers = body && 'type' in body ? [{ name: 'Content-Type', value: body.type, secret: null }] : [];
      const sent = await send(name, { method: 'POST', url, headers, body });
      // Forms have CRLF (HTML, "multipart/form-data encoding algorithm").
      const fields = sent.fields?.map(([key, value]) => [key, value.replaceAll('\r\n', '\n')]) ?? null;
      expect({ ...sent, fields }).toMatchObject(expected);
    });
});
