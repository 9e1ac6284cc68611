import { expect, test } from 'vitest';
import { excerptOf } from '../../src/render/excerpt.ts';
import type { Excerpt } from '../../src/compile/compile.ts';

const big = Object.fromEntries(
  Array.from({ length: 400 }, (_, at) => [`f${at}`, { $ref: '#/components/schemas/Wide' }]),
);
const document = {
  openapi: '3.1.0',
  servers: [{ url: 'https://api.test' }],
  security: [{ key: [] }],
  paths: {
    '/nodes/{id}': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      get: { operationId: 'getNode', 'x-internal': 'no', responses: { 200: { $ref: '#/components/responses/Node' } } },
      put: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Big' } } } } },
    },
  },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true, schema: { type: 'integer', example: 7 } } },
    responses: {
      Node: {
        description: 'A node',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } },
      },
    },
    schemas: {
      Node: {
        type: 'object',
        properties: { 'x-name': { type: 'string', example: 'ada' }, next: { $ref: '#/components/schemas/Node' } },
      },
      Wide: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 30 }, (_, at) => [`w${at}`, { type: 'string', description: 'd'.repeat(400) }]),
        ),
      },
      Big: { type: 'object', properties: big },
    },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' }, other: { type: 'http', scheme: 'basic' } },
  },
};

function read(part: Excerpt): Record<string, never> | null {
  const text = excerptOf({ kind: 'openapi', json: Buffer.from(JSON.stringify(document)) }, part);
  return text === null ? null : (JSON.parse(text) as Record<string, never>);
}

test('an operation comes with all that it refers to, and a circle ends in a reference', () => {
  const whole = read({ operation: 'GET /nodes/{id}', as: 'contract' });
  const circle = { $ref: '#/components/schemas/Node' };
  const schema = { type: 'object', properties: { 'x-name': { type: 'string', example: 'ada' }, next: circle } };
  expect(whole).toEqual({
    method: 'GET',
    path: '/nodes/{id}',
    servers: ['https://api.test'],
    pathParameters: [document.components.parameters.Id],
    operation: {
      operationId: 'getNode',
      responses: { 200: { description: 'A node', content: { 'application/json': { schema } } } },
    },
    security: [[{ scheme: 'key', scopes: [] }]],
    securitySchemes: { key: document.components.securitySchemes.key },
    left: ['Node'],
  });
  expect(read({ operation: 'getNode', as: 'contract' })).toEqual(whole);
  expect(read({ operation: 'GET /nodes', as: 'contract' })).toBeNull();
  expect(read({ schema: 'None' })).toBeNull();
});

test('what is too long has fewer references inlined, and names the others', () => {
  const whole = read({ operation: 'PUT /nodes/{id}', as: 'contract' })!;
  expect(JSON.stringify(whole).length).toBeLessThanOrEqual(40_000);
  expect(whole['left']).toEqual(['Wide']);
  const wide = read({ schema: 'Wide' })!;
  expect(JSON.stringify(wide).length).toBeLessThan(12_000);
});

test('examples have a request with curl, without secrets, and bodies of responses', () => {
  const { request, responses } = read({ operation: 'getNode', as: 'examples' })!;
  expect(request).toBe(`curl 'https://api.test/nodes/7' \\\n  -H 'X-Key: '"$API_KEY"`);
  expect(responses).toMatchObject({ 200: { 'x-name': 'ada' } });
});

test('an operation has its own servers, and what a webhook sends needs no credentials of the API', () => {
  const own = { servers: [{ url: 'https://files.test' }] };
  const text = JSON.stringify({
    ...document,
    paths: { '/files': { ...own, get: {} }, '/notes': { get: own } },
    webhooks: { order: { post: {} } },
  });
  const of = (operation: string) =>
    JSON.parse(excerptOf({ kind: 'openapi', json: Buffer.from(text) }, { operation, as: 'contract' })!) as object;
  for (const path of ['/files', '/notes'])
    expect(of(`GET ${path}`)).toMatchObject({ servers: ['https://files.test'], security: [[{ scheme: 'key' }]] });
  expect(of('WEBHOOK POST order')).toMatchObject({ security: [], securitySchemes: {} });
});
