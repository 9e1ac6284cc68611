import { describe, expect, test } from 'vitest';
import { curlOf, sampleRequest, type SampleRequest } from '../../src/render/openapi/sample-request.ts';
import { viewOperation } from '../../src/render/openapi/operation-view.ts';
import { renderDocument } from '../../src/render/render.ts';
import { sampleOf } from '../../src/render/schema/sample-value.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';
import { published } from './published.ts';
import { checkPage } from './strict-html.ts';

/** Samples are requests as servers expect them: styles of parameters, forms, credentials, servers. */

type Json = Record<string, unknown>;

function requestOf(operation: Json, document: Json = {}, path = '/pets'): SampleRequest {
  const whole = { openapi: '3.1.0', info: { title: 'x', version: '1' }, ...document };
  const schemas = createSchemas(whole, 'openapi', 0);
  const asked = { method: 'POST', path, isWebhook: false, item: {}, value: operation };
  return sampleRequest(schemas, asked, viewOperation(whole, asked));
}

const list = ['a b', 'c,d'];
const object = { R: 100, G: 'x&y' };

test.for([
  [list, {}, 'p=a%20b&p=c%2Cd'],
  [list, { explode: false }, 'p=a%20b,c%2Cd'],
  [list, { style: 'spaceDelimited' }, 'p=a%20b%20c%2Cd'],
  [list, { style: 'pipeDelimited' }, 'p=a%20b%7Cc%2Cd'],
  [object, {}, 'R=100&G=x%26y'],
  [object, { explode: false }, 'p=R,100,G,x%26y'],
  [object, { style: 'deepObject', explode: true }, 'p%5BR%5D=100&p%5BG%5D=x%26y'],
  ['a/b:c&d', { allowReserved: true }, 'p=a/b:c%26d'],
  [{ a: [1] }, { content: { 'application/json': {} } }, 'p=%7B%22a%22%3A%5B1%5D%7D'],
] as const)('a query parameter %j with %j is %s', ([example, style, expected]) => {
  const more = 'content' in style ? {} : { schema: {} };
  const { url } = requestOf({ parameters: [{ name: 'p', in: 'query', required: true, example, ...more, ...style }] });
  expect(url).toBe(`https://SERVER/pets?${expected}`);
});

test.for([
  ['csv', 'p=a%20b,c%2Cd'],
  ['multi', 'p=a%20b&p=c%2Cd'],
  ['pipes', 'p=a%20b%7Cc%2Cd'],
  [undefined, 'p=a%20b,c%2Cd'],
])('in OpenAPI 2.0 a list with the format %s is %s', ([collectionFormat, expected]) => {
  const parameter = { name: 'p', in: 'query', required: true, type: 'array', default: list, collectionFormat };
  const { url } = requestOf({ parameters: [parameter] }, { openapi: undefined, swagger: '2.0' });
  expect(url).toBe(`https://SERVER/pets?${expected}`);
});

test.for([
  [list, {}, '/a%20b,c%2Cd'],
  [object, { explode: true }, '/R=100,G=x%26y'],
  [list, { style: 'label' }, '/.a%20b,c%2Cd'],
  [object, { style: 'label', explode: true }, '/.R=100.G=x%26y'],
  [list, { style: 'matrix' }, '/;p=a%20b,c%2Cd'],
  [list, { style: 'matrix', explode: true }, '/;p=a%20b;p=c%2Cd'],
  [object, { style: 'matrix', explode: true }, '/;R=100;G=x%26y'],
] as const)('a path parameter %j with %j is %s', ([example, style, expected]) => {
  const parameter = { name: 'p', in: 'path', required: true, example, schema: {}, ...style };
  expect(requestOf({ parameters: [parameter] }, {}, '/{p}').url).toBe(`https://SERVER${expected}`);
});

test('cookies, a query string and lists in headers are sent', () => {
  const { headers, url } = requestOf({
    parameters: [
      { name: 'debug', in: 'cookie', required: true, schema: { type: 'integer', default: 0 } },
      { name: 'X-Ids', in: 'header', required: true, example: [1, 2], schema: {} },
      {
        in: 'querystring',
        name: 'q',
        required: true,
        content: { 'application/x-www-form-urlencoded': { example: { a: 1, b: 'é' } } },
      },
    ],
  });
  expect(headers).toEqual([
    { name: 'Cookie', value: 'debug=0', secret: null },
    { name: 'X-Ids', value: '1,2', secret: null },
  ]);
  expect(url).toBe('https://SERVER/pets?a=1&b=%C3%A9');
});

test('all credentials of an alternative are sent, each with a variable that no document can name', () => {
  const key = (name: string, place: string) => ({ type: 'apiKey', name, in: place });
  const securitySchemes = {
    HOME: key('X-App', 'header'),
    two: key('X-Key', 'header'),
    three: key('id', 'query'),
    four: key('key', 'query'),
    five: key('sid', 'cookie'),
  };
  const security = [{ HOME: [], two: [], three: [], four: [], five: [] }];
  const parameters = [{ name: 'debug', in: 'cookie', required: true, schema: { default: 0 } }];
  const request = requestOf({ security, parameters }, { components: { securitySchemes } });
  expect(request.headers).toEqual([
    { name: 'X-App', value: '', secret: 'API_KEY' },
    { name: 'X-Key', value: '', secret: 'SECOND_API_KEY' },
    { name: 'Cookie', value: 'debug=0; sid=', secret: 'API_KEY' },
  ]);
  expect(request.url).toBe('https://SERVER/pets?id=API_KEY&key=API_KEY');
  expect(curlOf(request)).toContain(`-H 'Cookie: debug=0; sid='"$API_KEY"`);
});

test('the variables of a server are those of the server that is called', () => {
  const servers = (host: string) => [{ url: `https://{host}/v1`, variables: { host: { default: host } } }];
  const nameless = { description: 'No URL yet.', variables: { host: { default: 'wrong.example' } } };
  expect(requestOf({}, { servers: [nameless, ...servers('all.example')] }).url).toBe('https://all.example/v1/pets');
  expect(requestOf({ servers: servers('own.example') }, { servers: servers('all.example') }).url).toBe(
    'https://own.example/v1/pets',
  );
});

describe('forms', () => {
  const bodyOf = (type: string, media: Json) => requestOf({ requestBody: { content: { [type]: media } } }).body;

  test('a list is a field as often as it has items, and an object as its encoding says', () => {
    const example = { ids: [1, 2], flat: ['a', 'b'], meta: { k: 'v' }, deep: { k: 'v' }, expand: [{ a: ['x'] }] };
    const deepObject = { style: 'deepObject', explode: true };
    const encoding = { flat: { style: 'form', explode: false }, deep: deepObject, expand: deepObject };
    expect(bodyOf('application/x-www-form-urlencoded', { example, encoding })).toEqual({
      kind: 'form',
      fields: [
        ['ids', '1'],
        ['ids', '2'],
        ['flat', 'a,b'],
        ['meta', '{"k":"v"}'],
        ['deep[k]', 'v'],
        ['expand[0][a][0]', 'x'],
      ],
    });
  });

  test('a part is a file of the type that its encoding names', () => {
    const schema = {
      type: 'object',
      properties: {
        photo: { type: 'string', format: 'binary' },
        scan: {},
        tags: { type: 'array', items: { type: 'string' } },
      },
    };
    const encoding = { photo: { contentType: 'image/png, image/jpeg' }, scan: { contentType: 'application/pdf' } };
    const example = { photo: '', scan: null, tags: ['a', 'b'] };
    expect(bodyOf('multipart/form-data', { schema, encoding, example })).toEqual({
      kind: 'multipart',
      fields: [
        { name: 'photo', value: '', file: 'upload.png', type: 'image/png' },
        { name: 'scan', value: '', file: 'upload.pdf', type: 'application/pdf' },
        { name: 'tags', value: 'a', file: null, type: null },
        { name: 'tags', value: 'b', file: null, type: null },
      ],
    });
  });
});

test('an example that is elsewhere is a link, and no value of a sample', () => {
  const examples = { far: { summary: 'A far one', externalValue: 'https://files.example/pet.json' } };
  const schema = { type: 'object', properties: { name: { type: 'string', example: 'Rex' } } };
  const content = { 'application/json': { schema, examples } };
  const post = { requestBody: { content }, responses: { 200: { description: 'ok', content } } };
  expect(requestOf(post).body).toMatchObject({ value: { name: 'Rex' } });
  const rendered = renderDocument(
    published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/pets': { post } } }),
  )!;
  expect(checkPage(rendered)).toEqual([]);
  expect(rendered.html.match(/<a href="https:\/\/files\.example\/pet\.json"/g)).toHaveLength(2);
  expect(rendered.html.match(/Rex/g)!.length).toBeGreaterThanOrEqual(2);
});

test("an author's own samples are shown", () => {
  const get = { 'x-codeSamples': [{ lang: 'Python', source: 'print("<own>")' }, null, { lang: 'C', source: {} }] };
  const rendered = renderDocument(
    published({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/pets': { get } } }),
  )!;
  expect(checkPage(rendered)).toEqual([]);
  expect(rendered.html).toContain('Sample: Python');
  expect(rendered.html).toContain('print("&lt;own&gt;")');
  expect(rendered.html).not.toContain('Sample: C');
});

const schemaWith = (schema: Json) =>
  createSchemas({ components: { schemas: { Id: { type: 'string', readOnly: true } } }, schema }, 'openapi', 0);

test.for<[Json, unknown]>([
  [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }, ['string', 1]],
  [{ items: { type: 'boolean' } }, [true]],
  [{ type: 'string', minLength: 8 }, 'stringst'],
  [{ type: 'string', maxLength: 2 }, 'st'],
  [{ type: 'string', format: 'constructor' }, 'string'],
  [{ type: 'integer', exclusiveMinimum: 4 }, 5],
  [{ type: 'integer', minimum: 4, exclusiveMinimum: true }, 5],
  [{ type: 'integer', maximum: 0 }, 0],
  [{ type: 'number', multipleOf: 0.25 }, 0.25],
  [{ type: ['null', 'integer'] }, 1],
  [{ const: null }, null],
  [{ properties: { id: { $ref: '#/components/schemas/Id' }, name: { type: 'string' } } }, { name: 'string' }],
])('a sample of %j is %j', ([schema, expected]) => {
  expect(sampleOf(schemaWith(schema), schema)).toEqual(expected);
});

test('a sample looks up few references, however many the members of its members have, and fewer once a page has many', () => {
  let looks = 0;
  const level = (n: number): object => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 12 }, (_, m) => [`p${m}`, { $ref: `#/components/schemas/s${n + 1}` }]),
    ),
  });
  const schemas = { ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`s${n}`, level(n)])), s12: {} };
  const document = Object.defineProperty({}, 'components', {
    enumerable: true,
    get: () => {
      looks++;
      return { schemas };
    },
  });
  const around = createSchemas(document, 'openapi', 1000);
  looks = 0;
  sampleOf(around, { $ref: '#/components/schemas/s0' }, 'response');
  expect(looks).toBeLessThan(600);
  looks = 0;
  for (let count = 0; count < 300; count++) sampleOf(around, { $ref: '#/components/schemas/s0' }, 'response');
  expect(looks).toBeLessThan(20_000);
});
