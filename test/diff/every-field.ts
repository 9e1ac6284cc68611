// Documents that use every field of OpenAPI 2.0 to 3.2, and every keyword of JSON Schema.
import type { Json } from './given.ts';

const text = { type: 'string' };
const object = { type: 'object', properties: { a: text, b: { type: 'array', items: text } } };
const docs = { description: 'More', url: 'https://a.example/docs' };
const example = {
  summary: 'One',
  description: 'An example',
  value: 'a',
  dataValue: 'a',
  serializedValue: 'a',
  externalValue: 'https://a.example/example',
};
const server = (name: string) => ({
  url: `https://{region}.${name}.example/v1`,
  name,
  description: name,
  variables: { region: { default: 'eu', enum: ['eu', 'us'], description: 'Where' } },
});
const header = { description: 'H', required: true, deprecated: true, schema: object, style: 'simple', explode: true };
const encoding = {
  headers: { H: header },
  style: 'spaceDelimited',
  explode: true,
  allowReserved: true,
  encoding: { a: { contentType: 'text/plain' } },
  prefixEncoding: [{ contentType: 'text/plain' }],
  itemEncoding: { contentType: 'text/plain' },
};
const media = { description: 'M', schema: object, itemSchema: object, examples: { one: example } };
// A style is written instead of a media type.
const form = {
  schema: { type: 'object', properties: { a: { type: 'array', items: text }, b: text } },
  example: { a: ['a'] },
  encoding: { a: encoding, b: { contentType: 'text/csv' } },
};
const lists = {
  schema: { type: 'array', prefixItems: [text], items: text },
  prefixEncoding: [{ contentType: 'text/csv' }],
  itemEncoding: { contentType: 'text/html' },
};
const body = (content: Json) => ({ description: 'B', required: true, content });
const answer = {
  summary: 'Yes',
  description: 'So.',
  headers: { H: header, C: { content: { 'application/json': { schema: object } } }, E: { schema: text, example: 'a' } },
  content: { 'application/json': media },
  links: {
    L: {
      operationId: 'getThing',
      parameters: { id: '$response.body#/a' },
      requestBody: '$response.body',
      description: 'Next',
      server: server('links'),
    },
    R: { operationRef: '#/paths/~1ref/get' },
  },
};
const parameters = (place: string) => [
  { name: 'plain', in: place, description: 'P', required: true, deprecated: true, schema: object, style: 'form', explode: false, allowReserved: true, allowEmptyValue: true, example: { a: 'a' } }, // prettier-ignore
  { name: 'other', in: place, content: { 'application/json': { schema: object } }, examples: { one: example } },
];
const flow = (name: string) => ({
  authorizationUrl: `https://a.example/${name}`,
  deviceAuthorizationUrl: `https://a.example/${name}/device`,
  tokenUrl: `https://a.example/${name}/token`,
  refreshUrl: `https://a.example/${name}/refresh`,
  scopes: { read: 'Reads', write: 'Writes' },
});
const operation = (id: string): Json => ({
  tags: ['things'],
  summary: 'Does it',
  description: 'It does',
  externalDocs: docs,
  operationId: id,
  deprecated: true,
  responses: { 200: answer, default: { description: 'No.' } },
  security: [{ key: [] }, { oauth: ['read'] }],
  servers: [server(id)],
});
const short = { responses: { 204: { description: 'Done.' } } };
const whole = {
  ...operation('postThing'),
  parameters: parameters('query'),
  requestBody: body({
    'application/json': media,
    'multipart/form-data': form,
    'multipart/mixed': lists,
    'text/csv': { $ref: '#/components/mediaTypes/M' },
  }),
};

const keyScheme = { key: { type: 'apiKey', name: 'Key', in: 'header', description: 'K', deprecated: true } };
const schemes = {
  ...keyScheme,
  http: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  oauth: {
    type: 'oauth2',
    oauth2MetadataUrl: 'https://a.example/oauth',
    flows: Object.fromEntries(
      ['implicit', 'password', 'clientCredentials', 'authorizationCode', 'deviceAuthorization'].map((name) => [
        name,
        flow(name),
      ]),
    ),
  },
  oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://a.example/oidc' },
  mtls: { type: 'mutualTLS' },
};
const head = { openapi: '3.2.0', info: { title: 'T', version: '1' } };

/** The root, paths and security of OpenAPI 3.x. */
const root: Json = {
  openapi: '3.2.0',
  $self: 'https://a.example/api.yaml',
  jsonSchemaDialect: 'https://a.example/dialect',
  info: {
    title: 'T',
    summary: 'S',
    description: 'D',
    termsOfService: 'https://a.example/terms',
    contact: { name: 'A', url: 'https://a.example', email: 'a@a.example' },
    license: { name: 'MIT', identifier: 'MIT', url: 'https://a.example/license' },
    version: '1',
  },
  servers: [server('root'), { url: 'https://b.example' }],
  tags: [{ name: 'things', summary: 'T', description: 'D', externalDocs: docs, parent: 'all', kind: 'nav' }],
  externalDocs: docs,
  security: [{ key: [] }, { http: [] }, { oauth: ['read'] }, { oidc: [] }, { mtls: [] }],
  paths: {
    '/things/{id}': {
      summary: 'Things',
      description: 'All of them',
      servers: [server('path')],
      parameters: [{ name: 'id', in: 'path', required: true, schema: object, style: 'label' }],
      get: short,
      put: short,
      post: short,
      delete: short,
      options: short,
      head: short,
      patch: short,
      trace: short,
      query: short,
      additionalOperations: { COPY: short },
    },
    '/ref': { $ref: '#/components/pathItems/Ref' },
    '/reached': {
      post: {
        parameters: [{ $ref: '#/components/parameters/P', summary: 'S', description: 'D' }],
        requestBody: { $ref: '#/components/requestBodies/B' },
        responses: { 200: { $ref: '#/components/responses/Answer' } },
        callbacks: { C: { $ref: '#/components/callbacks/C' } },
      },
    },
  },
  webhooks: { done: { post: short } },
  components: {
    schemas: { A: text },
    responses: {
      Answer: {
        description: 'A',
        headers: { H: { $ref: '#/components/headers/H' } },
        links: { L: { $ref: '#/components/links/L' } },
      },
    },
    parameters: { P: { name: 'p', in: 'cookie', schema: { $ref: '#/components/schemas/A' } } },
    examples: { E: { value: 1 } },
    requestBodies: { B: body({ 'text/csv': { $ref: '#/components/mediaTypes/M' } }) },
    headers: { H: header },
    securitySchemes: schemes,
    links: { L: { operationId: 'getThing' } },
    callbacks: { C: { '{$url}': { post: short } } },
    pathItems: { Ref: { get: short } },
    mediaTypes: { M: { schema: text, examples: { E: { $ref: '#/components/examples/E' } } } },
  },
};

/** One operation of OpenAPI 3.x with all that it may have. */
const called: Json = {
  ...head,
  paths: { '/things': { post: whole } },
  components: {
    securitySchemes: { key: schemes.key, oauth: { type: 'oauth2', flows: { password: flow('called') } } },
    mediaTypes: { M: { schema: text } },
  },
};

/** The same operation as one that the API calls. */
const sent: Json = {
  ...head,
  webhooks: { done: { post: { ...whole, parameters: parameters('header') } } },
  components: called['components'],
};
const calls: Json = {
  ...head,
  paths: {
    '/things': { post: { ...short, callbacks: { done: { '{$request.query.plain}': { post: operation('called') } } } } },
  },
  components: { securitySchemes: { key: schemes.key, oauth: { type: 'oauth2', flows: { password: flow('called') } } } },
};

/** Documents of 3.x by what they are of. Together they have all fields that its versions know. */
export const modern: Readonly<Record<string, Json>> = { root, called, sent, calls };

const items = (more: Json = {}) => ({
  type: 'array',
  items: { type: 'string', format: 'date', default: 'a', enum: ['a', 'b'], maxLength: 9, minLength: 1, pattern: 'a' },
  collectionFormat: 'pipes',
  default: ['a'],
  maxItems: 9,
  minItems: 1,
  uniqueItems: true,
  ...more,
});
const limits = { maximum: 8, exclusiveMaximum: true, minimum: 2, exclusiveMinimum: true, multipleOf: 2, default: 4 };
const oldSchema = {
  ...object,
  title: 'T',
  xml: { name: 'x', namespace: 'n', prefix: 'p', attribute: true, wrapped: true },
};

/** OpenAPI 2.0. */
export const old: Json = {
  swagger: '2.0',
  info: {
    title: 'T',
    description: 'D',
    termsOfService: 'https://a.example/terms',
    contact: { name: 'A', url: 'https://a.example', email: 'a@a.example' },
    license: { name: 'MIT', url: 'https://a.example/license' },
    version: '1',
  },
  host: 'a.example',
  basePath: '/v1',
  schemes: ['https', 'http'],
  consumes: ['text/xml'],
  produces: ['text/xml'],
  tags: [{ name: 'things', description: 'D', externalDocs: docs }],
  externalDocs: docs,
  security: [{ key: [] }, { basic: [] }, { a: ['read'] }, { i: ['read'] }, { p: ['read'] }, { c: ['read'] }],
  paths: {
    '/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, type: 'integer', ...limits }],
      get: { responses: short.responses },
      put: {
        parameters: [{ name: 'b', in: 'body', schema: object }],
        responses: { 200: { description: 'Yes', schema: object } },
      },
      delete: short,
      options: short,
      head: short,
      patch: short,
      post: {
        tags: ['things'],
        summary: 'S',
        description: 'D',
        externalDocs: docs,
        operationId: 'post',
        deprecated: true,
        consumes: ['application/json'],
        produces: ['application/json'],
        schemes: ['https'],
        security: [{ key: [] }],
        parameters: [
          { name: 'q', in: 'query', description: 'Q', required: true, allowEmptyValue: true, ...items() },
          { name: 'n', in: 'query', type: 'array', items: { type: 'array', collectionFormat: 'pipes', items: { type: 'integer', ...limits } } }, // prettier-ignore
          { name: 'h', in: 'header', ...items() },
          { name: 'b', in: 'body', description: 'B', required: true, schema: oldSchema },
        ],
        responses: {
          200: {
            description: 'Yes',
            schema: oldSchema,
            headers: { H: { description: 'H', ...items() }, N: { type: 'integer', ...limits } },
            examples: { 'application/json': { a: 'a' } },
          },
          default: { description: 'No' },
        },
      },
    },
    '/forms': {
      post: {
        consumes: ['multipart/form-data'],
        parameters: [
          { name: 'f', in: 'formData', description: 'F', required: true, allowEmptyValue: true, ...items() },
          { name: 'u', in: 'formData', type: 'file' },
        ],
        responses: short.responses,
      },
    },
    '/ref': { $ref: '#/paths/~1forms' },
    '/reached': { post: { parameters: [{ $ref: '#/parameters/P' }], responses: { 200: { $ref: '#/responses/R' } } } },
  },
  definitions: { A: text },
  parameters: { P: { name: 'p', in: 'query', type: 'string' } },
  responses: { R: { description: 'R', schema: { $ref: '#/definitions/A' } } },
  securityDefinitions: {
    key: { type: 'apiKey', name: 'Key', in: 'header', description: 'K' },
    basic: { type: 'basic', description: 'B' },
    i: { type: 'oauth2', flow: 'implicit', authorizationUrl: 'https://a.example/a', scopes: { read: 'R' } },
    p: { type: 'oauth2', flow: 'password', tokenUrl: 'https://a.example/t', scopes: { read: 'R' } },
    c: { type: 'oauth2', flow: 'application', tokenUrl: 'https://a.example/t', scopes: { read: 'R' } },
    a: {
      type: 'oauth2',
      flow: 'accessCode',
      authorizationUrl: 'https://a.example/a',
      tokenUrl: 'https://a.example/t',
      scopes: { read: 'R' },
    },
  },
};

/** Schemas with a keyword, with another value of it, and without it. */
export interface Sample {
  /** What stands beside it. */
  base?: Json;
  values: readonly [unknown, unknown];
  /** The named schemas that it may refer to. */
  schemas?: Json;
}

const both = [{ type: 'string' }, { type: 'integer' }];
const array = { type: 'array' };
const number = { type: 'number' };
const named = {
  schemas: { A: { type: 'object', properties: { a: text } }, B: { type: 'object', properties: { a: number } } },
};
const target = (name: string) => `#/components/schemas/${name}`;

/** Every keyword of JSON Schema 2020-12 and of schemas in OpenAPI 3.1 and later. */
export const keywords: Readonly<Record<string, Sample>> = {
  $ref: { values: [target('A'), target('B')], ...named },
  $dynamicRef: { values: [target('A'), target('B')], ...named },
  $id: { values: ['https://a.example/a', 'https://a.example/b'] },
  $schema: { values: ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#'] },
  $anchor: { values: ['a', 'b'] },
  $dynamicAnchor: { values: ['a', 'b'] },
  $vocabulary: { values: [{ 'https://a.example/a': true }, { 'https://a.example/b': true }] },
  $comment: { values: ['a', 'b'] },
  $defs: { values: [{ a: text }, { a: number }] },
  definitions: { values: [{ a: text }, { a: number }] },
  $recursiveRef: { values: [target('A'), target('B')], ...named },
  $recursiveAnchor: { values: [true, false] },
  type: { values: ['string', 'integer'] },
  const: { values: ['a', 'b'] },
  enum: { values: [['a'], ['b']] },
  multipleOf: { base: number, values: [2, 3] },
  maximum: { base: number, values: [5, 6] },
  exclusiveMaximum: { base: number, values: [5, 6] },
  minimum: { base: number, values: [5, 6] },
  exclusiveMinimum: { base: number, values: [5, 6] },
  maxLength: { base: text, values: [5, 6] },
  minLength: { base: text, values: [5, 6] },
  pattern: { base: text, values: ['^a', '^b'] },
  format: { base: text, values: ['date', 'uuid'] },
  contentEncoding: { base: text, values: ['base64', 'base32'] },
  contentMediaType: { base: text, values: ['text/csv', 'text/html'] },
  contentSchema: { base: { ...text, contentMediaType: 'application/json' }, values: [text, number] },
  maxItems: { base: array, values: [5, 6] },
  minItems: { base: array, values: [5, 6] },
  uniqueItems: { base: array, values: [true, false] },
  items: { base: array, values: [text, number] },
  prefixItems: { base: array, values: [[text], [number]] },
  unevaluatedItems: { base: array, values: [text, number] },
  contains: { base: array, values: [text, number] },
  maxContains: { base: { ...array, contains: text }, values: [5, 6] },
  minContains: { base: { ...array, contains: text }, values: [5, 6] },
  maxProperties: { base: { type: 'object' }, values: [5, 6] },
  minProperties: { base: { type: 'object' }, values: [5, 6] },
  required: { base: object, values: [['a'], ['b']] },
  dependentRequired: { base: object, values: [{ a: ['b'] }, { b: ['a'] }] },
  dependentSchemas: { base: object, values: [{ a: { required: ['b'] } }, { b: { required: ['a'] } }] },
  dependencies: { base: object, values: [{ a: ['b'] }, { b: ['a'] }] },
  properties: { base: { type: 'object' }, values: [{ a: text }, { a: number }] },
  patternProperties: { base: { type: 'object' }, values: [{ '^a': text }, { '^a': number }] },
  additionalProperties: { base: object, values: [text, number] },
  unevaluatedProperties: { base: object, values: [text, number] },
  propertyNames: { base: object, values: [{ maxLength: 5 }, { maxLength: 6 }] },
  allOf: { values: [[text], [number]] },
  'x-extensible-enum': { base: text, values: [['a'], ['b']] },
  anyOf: { values: [both, [...both, { type: 'boolean' }]] },
  oneOf: { values: [both, [...both, { type: 'boolean' }]] },
  not: { base: text, values: [{ const: 'a' }, { const: 'b' }] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  if: { base: { then: { required: ['a'] } }, values: [{ required: ['b'] }, { required: ['c'] }] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { base: { if: { required: ['a'] } }, values: [{ required: ['b'] }, { required: ['c'] }] },
  else: { base: { if: { required: ['a'] } }, values: [{ required: ['b'] }, { required: ['c'] }] },
  title: { values: ['a', 'b'] },
  description: { values: ['a', 'b'] },
  default: { base: text, values: ['a', 'b'] },
  deprecated: { base: text, values: [true, false] },
  readOnly: { base: text, values: [true, false] },
  writeOnly: { base: text, values: [true, false] },
  examples: { base: text, values: [['a'], ['b']] },
  example: { base: text, values: ['a', 'b'] },
  externalDocs: { values: [docs, { url: 'https://b.example' }] },
  xml: { values: [{ name: 'a' }, { name: 'b', attribute: true }] },
  discriminator: { base: object, values: [{ propertyName: 'a' }, { propertyName: 'b' }] },
};

/** Those that OpenAPI 3.0 has, and 3.1 has not or reads in another way. */
export const keywords30: Readonly<Record<string, Sample>> = {
  nullable: { base: text, values: [true, false] },
  exclusiveMaximum: { base: { ...number, maximum: 5 }, values: [true, false] },
  exclusiveMinimum: { base: { ...number, minimum: 5 }, values: [true, false] },
  format: { base: text, values: ['byte', 'binary'] },
};
