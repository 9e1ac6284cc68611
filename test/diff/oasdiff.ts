// The checks of oasdiff's catalogue, each with a pair of documents that it is about. A table, so it
// is long; the names alone are in `oasdiff-checks.txt`, and families of keywords in `oasdiff-keywords.ts`.
//
// Names and levels: oasdiff's documentation (`messages.yaml`, and the severity law of its changes model, in which what narrows a
// request or widens a response is an error, what cannot be decided a warning, and all else information). The documents are ours.
import { readFileSync } from 'node:fs';
import { api, giving, taking, type Json } from './given.ts';
import { keywordChecks } from './oasdiff-keywords.ts';

type Make = (part: never) => Json;

/** Name, their level, how documents are made of the parts, the parts before and after, our verdict and code, and why where we differ. */
export type Check = readonly [
  name: string,
  level: 'error' | 'warning' | 'info',
  make: Make,
  before: unknown,
  after: unknown,
  told: string,
  why?: string,
];

const param = (schema: unknown): Json => api({ parameters: [{ in: 'query', name: 'q', schema }] });
const params = (parameters: Json[]): Json => api({ parameters });
const body = (schema: unknown): Json => taking(schema);
const prop = (schema: unknown): Json => taking({ type: 'object', properties: { p: schema } });
const paramProp = (schema: unknown): Json => param({ type: 'object', properties: { p: schema } });
const out = (schema: unknown): Json => giving(schema);
const outProp = (schema: unknown): Json => giving({ type: 'object', properties: { p: schema } });
const op = (operation: Json): Json => api(operation);
const requestBody = (given: Json | undefined): Json => api(given === undefined ? {} : { requestBody: given });
const headers = (all: Json): Json => api({ responses: { 200: { description: 'Done.', headers: all } } });
const responses = (statuses: string[]): Json =>
  api({ responses: Object.fromEntries(statuses.map((status) => [status, { description: status }])) });
const inTypes = (types: string[]): Json =>
  api({ requestBody: { content: Object.fromEntries(types.map((type) => [type, {}])) } });
const media = (given: Json): Json => api({ requestBody: { content: { 'application/json': given } } });
const outMedia = (given: Json): Json =>
  api({ responses: { 200: { description: 'Done.', content: { 'application/json': given } } } });
const xml = (schema: unknown): Json => api({ requestBody: { content: { 'application/xml': { schema } } } });
const outXml = (schema: unknown): Json =>
  api({ responses: { 200: { description: 'Done.', content: { 'application/xml': { schema } } } } });
const header = (schema: unknown): Json => headers({ H: { schema } });
const webhooks = (all: Json): Json => api({}, { webhooks: all });
const outTypes = (types: string[]): Json =>
  api({ responses: { 200: { description: 'Done.', content: Object.fromEntries(types.map((type) => [type, {}])) } } });
const paths = (all: Json): Json => ({ ...api(), paths: all });
const security = (all: Json[]): Json => api({ security: all }, { components: { securitySchemes: schemes } });
const globally = (all: Json[]): Json => api({}, { security: all, components: { securitySchemes: schemes } });
const scheme = (changed: Json): Json =>
  api({ security: [{ o: ['r'] }] }, { components: { securitySchemes: { o: changed } } });
const extensible = (values: string[]): Json => ({ type: 'string', 'x-extensible-enum': values });

const schemes = {
  a: { type: 'apiKey', in: 'header', name: 'A' },
  b: { type: 'http', scheme: 'bearer' },
  o: { type: 'oauth2', flows: {} },
};
const flow = (more: Json): Json => ({
  type: 'oauth2',
  flows: {
    authorizationCode: { authorizationUrl: 'https://a', tokenUrl: 'https://t', scopes: { r: 'read' }, ...more },
  },
});
const string = { type: 'string' };
const q = { in: 'query', name: 'q', schema: string };
const get = { get: { responses: {} } };
const cat = { title: 'Cat', type: 'object', properties: { c: string } };
const dog = { title: 'Dog', type: 'object', properties: { d: string } };
const count = { title: 'Count', type: 'integer' };
const union = (kind: string, ...branches: Json[]): Json => ({ [kind]: branches });
const tag = (discriminator: Json | undefined): Json => ({ type: 'object', ...(discriminator && { discriminator }) });
const object = (required: string[], properties: Json): Json => ({ type: 'object', required, properties });

const allLimits = [
  'max',
  'min',
  'exclusive-max',
  'exclusive-min',
  'max-length',
  'min-length',
  'max-items',
  'min-items',
  'max-properties',
  'min-properties',
];

const textually =
  'Schemas are compared apart from media types, as one often serves several. In JSON the change breaks.';
const announced =
  'Removing it still breaks whoever calls it, and semantic versioning asks for a major version. No day is known here.';
const policy =
  'How long a deprecation must be announced is a policy, not part of the contract. An earlier end is risky.';
const names = 'Generated clients name their functions after it.';
const ignored = 'OpenAPI does not say whether unknown parameters and properties are refused.';
const lost = 'Readers that use it find it missing, although it was optional.';
const behaves = 'Requests without it are treated in another way.';
const pairs = 'A hint for code generators; values are told apart as before.';

/** The names of all their checks. Some rows below are not theirs: the other actions of a limit. */
export const catalogue: ReadonlySet<string> = new Set(
  readFileSync(new URL('oasdiff-checks.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n'),
);

export const checks: readonly Check[] = [
  // Operations
  ['endpoint-added', 'info', paths, { '/a': get }, { '/a': get, '/b': get }, 'safe operation-added'],
  ['endpoint-deprecated', 'info', op, {}, { deprecated: true }, 'safe operation-deprecated'],
  ['endpoint-reactivated', 'info', op, { deprecated: true }, {}, 'safe operation-reactivated'],
  [
    'api-path-removed-without-deprecation',
    'error',
    paths,
    { '/a': get, '/b': get },
    { '/a': get },
    'breaking operation-removed',
  ],
  [
    'api-removed-without-deprecation',
    'error',
    paths,
    { '/a': { ...get, put: {} } },
    { '/a': get },
    'breaking operation-removed',
  ],
  [
    'api-removed-with-deprecation',
    'info',
    paths,
    { '/a': { ...get, put: { deprecated: true } } },
    { '/a': get },
    'breaking deprecated-operation-removed',
    announced,
  ],
  [
    'api-path-removed-with-deprecation',
    'info',
    paths,
    { '/a': get, '/b': { put: { deprecated: true } } },
    { '/a': get },
    'breaking deprecated-operation-removed',
    announced,
  ],
  [
    'api-removed-before-sunset',
    'error',
    paths,
    { '/a': { ...get, put: { deprecated: true, 'x-sunset': '2999-01-01' } } },
    { '/a': get },
    'breaking deprecated-operation-removed',
  ],
  [
    'api-path-removed-before-sunset',
    'error',
    paths,
    { '/a': get, '/b': { put: { deprecated: true, 'x-sunset': '2999-01-01' } } },
    { '/a': get },
    'breaking deprecated-operation-removed',
  ],
  [
    'api-sunset-date-changed-too-small',
    'error',
    op,
    { deprecated: true, 'x-sunset': '2030-02-01' },
    { deprecated: true, 'x-sunset': '2030-01-01' },
    'risky operation-sunset-earlier',
    policy,
  ],
  [
    'sunset-deleted',
    'error',
    op,
    { deprecated: true, 'x-sunset': '2030-02-01' },
    { deprecated: true },
    'risky operation-sunset-unset',
    policy,
  ],
  [
    'api-operation-id-removed',
    'info',
    op,
    { operationId: 'a' },
    { operationId: 'b' },
    'risky operation-id-changed',
    names,
  ],
  ['api-operation-id-added', 'info', op, {}, { operationId: 'b' }, 'safe operation-id-set'],
  ['api-tag-removed', 'info', op, { tags: ['a', 'b'] }, { tags: ['a'] }, 'docs operation-tag-removed'],
  ['api-tag-added', 'info', op, { tags: ['a'] }, { tags: ['a', 'b'] }, 'docs operation-tag-added'],
  [
    'api-schema-removed',
    'info',
    (schemas: Json) => api({}, { components: { schemas } }),
    { A: {} },
    {},
    'safe schema-removed',
  ],

  // Security
  ['api-security-added', 'info', security, [{ a: [] }], [{ a: [] }, { b: [] }], 'safe security-alternative-added'],
  [
    'api-security-removed',
    'error',
    security,
    [{ a: [] }, { b: [] }],
    [{ a: [] }],
    'breaking security-alternative-removed',
  ],
  [
    'api-security-updated',
    'error',
    security,
    [{ a: [] }],
    [{ b: [] }],
    'breaking security-alternative-removed; safe security-alternative-added',
  ],
  [
    'api-global-security-added',
    'info',
    globally,
    [{ a: [] }],
    [{ a: [] }, { b: [] }],
    'safe security-alternative-added',
  ],
  [
    'api-global-security-removed',
    'error',
    globally,
    [{ a: [] }, { b: [] }],
    [{ a: [] }],
    'breaking security-alternative-removed',
  ],
  [
    'api-global-security-scope-added',
    'error',
    globally,
    [{ o: ['r'] }],
    [{ o: ['r', 'w'] }],
    'breaking security-scope-added',
  ],
  ['api-global-security-scope-removed', 'info', globally, [{ o: ['r', 'w'] }], [{ o: ['r'] }], 'safe security-relaxed'],
  ['api-security-scope-added', 'error', security, [{ o: ['r'] }], [{ o: ['r', 'w'] }], 'breaking security-scope-added'],
  ['api-security-scope-removed', 'info', security, [{ o: ['r', 'w'] }], [{ o: ['r'] }], 'safe security-relaxed'],
  [
    'api-security-component-type-changed',
    'info',
    scheme,
    { type: 'http', scheme: 'basic' },
    { type: 'http', scheme: 'bearer' },
    'breaking security-alternative-removed; safe security-alternative-added',
    'Operations that use it need other credentials.',
  ],
  [
    'api-security-component-oauth-url-changed',
    'info',
    scheme,
    flow({}),
    flow({ authorizationUrl: 'https://b' }),
    'risky security-scheme-url-changed',
    'Clients are configured with it.',
  ],
  [
    'api-security-component-oauth-token-url-changed',
    'info',
    scheme,
    flow({}),
    flow({ tokenUrl: 'https://b' }),
    'risky security-scheme-url-changed',
    'Clients are configured with it.',
  ],
  [
    'api-security-component-oauth-scope-added',
    'info',
    scheme,
    flow({}),
    flow({ scopes: { r: 'read', w: 'write' } }),
    'safe security-scheme-scope-added',
  ],
  [
    'api-security-component-oauth-scope-removed',
    'info',
    scheme,
    flow({ scopes: { r: 'read', w: 'write' } }),
    flow({}),
    'risky security-scheme-scope-removed',
    'Clients that ask for it are refused.',
  ],
  [
    'api-security-component-oauth-scope-changed',
    'info',
    scheme,
    flow({}),
    flow({ scopes: { r: 'Read.' } }),
    'docs security-scheme-scope-description-changed',
  ],

  // Parameters
  ['request-parameter-removed', 'warning', params, [q], [], 'risky request-parameter-removed'],
  [
    'request-parameter-removed-with-deprecation',
    'info',
    params,
    [{ ...q, deprecated: true }],
    [],
    'risky request-parameter-removed',
    ignored,
  ],
  [
    'request-parameter-removed-before-sunset',
    'error',
    params,
    [{ ...q, deprecated: true, 'x-sunset': '2999-01-01' }],
    [],
    'risky request-parameter-removed',
    ignored,
  ],
  [
    'new-required-request-parameter',
    'error',
    params,
    [],
    [{ ...q, required: true }],
    'breaking request-parameter-added-as-required',
  ],
  ['new-optional-request-parameter', 'info', params, [], [q], 'safe request-parameter-added'],
  [
    'new-required-request-default-parameter-to-existing-path',
    'error',
    params,
    [],
    [{ ...q, required: true, schema: { type: 'string', default: 'a' } }],
    'breaking request-parameter-added-as-required',
  ],
  [
    'new-optional-request-default-parameter-to-existing-path',
    'info',
    params,
    [],
    [{ ...q, schema: { type: 'string', default: 'a' } }],
    'safe request-parameter-added',
  ],
  [
    'new-request-path-parameter',
    'error',
    params,
    [],
    [{ ...q, in: 'path', required: true }],
    'breaking request-parameter-added-as-required',
  ],
  [
    'request-parameter-became-required',
    'error',
    params,
    [q],
    [{ ...q, required: true }],
    'breaking request-parameter-became-required',
  ],
  [
    'request-parameter-became-optional',
    'info',
    params,
    [{ ...q, required: true }],
    [q],
    'safe request-parameter-became-optional',
  ],
  ['request-parameter-deprecated', 'info', params, [q], [{ ...q, deprecated: true }], 'safe parameter-deprecated'],
  ['request-parameter-reactivated', 'info', params, [{ ...q, deprecated: true }], [q], 'safe parameter-reactivated'],
  [
    'request-parameter-became-enum',
    'error',
    param,
    string,
    { type: 'string', enum: ['a'] },
    'breaking request-parameter-became-enum',
  ],
  [
    'request-parameter-enum-value-removed',
    'error',
    param,
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'breaking request-parameter-enum-value-removed',
  ],
  [
    'request-parameter-enum-value-added',
    'info',
    param,
    { enum: ['a'] },
    { enum: ['a', 'b'] },
    'safe request-parameter-enum-value-added',
  ],
  [
    'request-parameter-x-extensible-enum-value-removed',
    'error',
    param,
    extensible(['a', 'b']),
    extensible(['a']),
    'breaking request-parameter-extensible-enum-value-removed',
  ],
  [
    'request-parameter-pattern-added',
    'error',
    param,
    string,
    { type: 'string', pattern: 'a' },
    'breaking request-parameter-pattern-set',
  ],
  [
    'request-parameter-pattern-removed',
    'info',
    param,
    { type: 'string', pattern: 'a' },
    string,
    'safe request-parameter-pattern-unset',
  ],
  [
    'request-parameter-pattern-changed',
    'warning',
    param,
    { type: 'string', pattern: 'a' },
    { type: 'string', pattern: 'b' },
    'unknown request-parameter-pattern-changed',
  ],
  [
    'request-parameter-pattern-generalized',
    'info',
    param,
    { type: 'string', pattern: 'a' },
    { type: 'string', pattern: '.*' },
    'safe request-parameter-pattern-unset',
  ],
  [
    'request-parameter-default-value-added',
    'info',
    param,
    string,
    { type: 'string', default: 'a' },
    'risky request-parameter-default-set',
    behaves,
  ],
  [
    'request-parameter-default-value-changed',
    'info',
    param,
    { type: 'string', default: 'b' },
    { type: 'string', default: 'a' },
    'risky request-parameter-default-changed',
    behaves,
  ],
  [
    'request-parameter-default-value-removed',
    'info',
    param,
    { type: 'string', default: 'b' },
    string,
    'risky request-parameter-default-unset',
    behaves,
  ],
  [
    'request-parameter-type-changed',
    'error',
    param,
    string,
    { type: 'integer' },
    'breaking request-parameter-type-narrowed',
  ],
  [
    'request-parameter-type-generalized',
    'info',
    param,
    { type: 'integer' },
    { type: 'number' },
    'safe request-parameter-type-generalized',
  ],
  [
    'request-parameter-property-type-changed',
    'warning',
    paramProp,
    string,
    { type: 'integer' },
    'breaking request-property-type-changed',
    'No way of writing an object makes a text a number.',
  ],
  [
    'request-parameter-property-type-generalized',
    'info',
    paramProp,
    { type: 'integer' },
    { type: 'number' },
    'safe request-property-type-generalized',
  ],
  [
    'request-parameter-property-type-specialized',
    'error',
    paramProp,
    { type: 'number' },
    { type: 'integer' },
    'breaking request-property-type-narrowed',
  ],
  [
    'request-header-property-became-required',
    'error',
    params,
    [{ in: 'header', name: 'H', schema: object([], { p: string }) }],
    [{ in: 'header', name: 'H', schema: object(['p'], { p: string }) }],
    'breaking request-property-became-required',
  ],
  [
    'request-header-property-became-enum',
    'error',
    params,
    [{ in: 'header', name: 'H', schema: object([], { p: string }) }],
    [{ in: 'header', name: 'H', schema: object([], { p: { type: 'string', enum: ['a'] } }) }],
    'breaking request-property-became-enum',
  ],
  [
    'new-required-request-header-property',
    'error',
    params,
    [{ in: 'header', name: 'H', schema: object([], {}) }],
    [{ in: 'header', name: 'H', schema: object(['p'], { p: string }) }],
    'breaking request-property-added-as-required',
  ],
  ...limits('request-parameter', param, 'request-parameter', [
    'max',
    'min',
    'exclusive-max',
    'exclusive-min',
    'max-length',
    'min-length',
    'max-items',
    'min-items',
  ]),

  // Bodies
  [
    'request-body-added-required',
    'error',
    requestBody,
    undefined,
    { required: true, content: {} },
    'breaking request-body-added-as-required',
  ],
  ['request-body-added-optional', 'info', requestBody, undefined, { content: {} }, 'safe request-body-added'],
  ['request-body-removed', 'error', requestBody, { content: {} }, undefined, 'breaking request-body-removed'],
  [
    'request-body-became-required',
    'error',
    requestBody,
    { content: {} },
    { required: true, content: {} },
    'breaking request-body-became-required',
  ],
  [
    'request-body-became-optional',
    'info',
    requestBody,
    { required: true, content: {} },
    { content: {} },
    'safe request-body-became-optional',
  ],
  [
    'request-body-media-type-added',
    'info',
    inTypes,
    ['application/json'],
    ['application/json', 'text/csv'],
    'safe request-body-media-type-added',
  ],
  [
    'request-body-media-type-removed',
    'error',
    inTypes,
    ['application/json', 'text/csv'],
    ['application/json'],
    'breaking request-body-media-type-removed',
  ],
  [
    'request-body-became-enum',
    'error',
    body,
    string,
    { type: 'string', enum: ['a'] },
    'breaking request-body-became-enum',
  ],
  [
    'request-body-enum-value-removed',
    'error',
    body,
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'breaking request-body-enum-value-removed',
  ],
  ...limits('request-body', body, 'request-body', allLimits),
  ...limits('request-property', prop, 'request-property', allLimits),
  ...schemaChecks('request', 'body', body, 'request-body'),
  ...keywordChecks('request', 'request-body', body),
  ...schemaChecks('request', 'property', prop, 'request-property'),
  ...keywordChecks('request', 'request-property', prop),

  // Properties of requests
  [
    'new-required-request-property',
    'error',
    body,
    object([], {}),
    object(['p'], { p: string }),
    'breaking request-property-added-as-required',
  ],
  [
    'new-required-request-property-with-default',
    'error',
    body,
    object([], {}),
    object(['p'], { p: { type: 'string', default: 'a' } }),
    'breaking request-property-added-as-required',
  ],
  [
    'new-optional-request-property',
    'info',
    body,
    object([], {}),
    object([], { p: string }),
    'safe request-property-added',
  ],
  [
    'request-property-removed',
    'warning',
    body,
    object([], { p: string }),
    object([], {}),
    'risky request-property-removed-but-tolerated',
  ],
  [
    'request-property-became-required',
    'error',
    body,
    object([], { p: string }),
    object(['p'], { p: string }),
    'breaking request-property-became-required',
  ],
  [
    'request-property-became-required-with-default',
    'error',
    body,
    object([], { p: { default: 'a' } }),
    object(['p'], { p: { default: 'a' } }),
    'breaking request-property-became-required',
  ],
  [
    'request-property-became-optional',
    'info',
    body,
    object(['p'], { p: string }),
    object([], { p: string }),
    'safe request-property-became-optional',
  ],
  [
    'request-property-became-enum',
    'error',
    prop,
    string,
    { type: 'string', enum: ['a'] },
    'breaking request-property-became-enum',
  ],
  [
    'request-property-enum-value-removed',
    'error',
    prop,
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'breaking request-property-enum-value-removed',
  ],
  [
    'request-property-enum-value-added',
    'info',
    prop,
    { enum: ['a'] },
    { enum: ['a', 'b'] },
    'safe request-property-enum-value-added',
  ],
  [
    'request-property-x-extensible-enum-value-removed',
    'error',
    prop,
    extensible(['a', 'b']),
    extensible(['a']),
    'breaking request-property-extensible-enum-value-removed',
  ],
  [
    'request-property-pattern-added',
    'error',
    prop,
    string,
    { type: 'string', pattern: 'a' },
    'breaking request-property-pattern-set',
  ],
  [
    'request-property-pattern-removed',
    'info',
    prop,
    { type: 'string', pattern: 'a' },
    string,
    'safe request-property-pattern-unset',
  ],
  [
    'request-property-pattern-changed',
    'warning',
    prop,
    { type: 'string', pattern: 'a' },
    { type: 'string', pattern: 'b' },
    'unknown request-property-pattern-changed',
  ],
  [
    'request-property-pattern-generalized',
    'info',
    prop,
    { type: 'string', pattern: 'a' },
    { type: 'string', pattern: '.*' },
    'safe request-property-pattern-unset',
  ],
  [
    'request-read-only-property-enum-value-removed',
    'info',
    prop,
    { readOnly: true, enum: ['a', 'b'] },
    { readOnly: true, enum: ['a'] },
    '',
  ],
  [
    'request-read-only-property-max-decreased',
    'info',
    prop,
    { readOnly: true, maximum: 5 },
    { readOnly: true, maximum: 4 },
    '',
  ],
  [
    'request-read-only-property-min-increased',
    'info',
    prop,
    { readOnly: true, minimum: 5 },
    { readOnly: true, minimum: 6 },
    '',
  ],
  [
    'request-read-only-property-max-length-decreased',
    'info',
    prop,
    { readOnly: true, maxLength: 5 },
    { readOnly: true, maxLength: 4 },
    '',
  ],
  [
    'request-optional-property-became-read-only',
    'info',
    prop,
    string,
    { ...string, readOnly: true },
    'risky request-property-became-read-only',
    ignored,
  ],
  [
    'request-optional-property-became-not-read-only',
    'info',
    prop,
    { ...string, readOnly: true },
    string,
    'safe request-property-became-not-read-only',
  ],
  [
    'request-optional-property-became-write-only',
    'info',
    prop,
    string,
    { ...string, writeOnly: true },
    'safe request-property-became-write-only',
  ],
  [
    'request-optional-property-became-not-write-only',
    'info',
    prop,
    { ...string, writeOnly: true },
    string,
    'safe request-property-became-not-write-only',
  ],
  [
    'request-required-property-became-read-only',
    'info',
    body,
    object(['p'], { p: string }),
    object(['p'], { p: { ...string, readOnly: true } }),
    'risky request-property-became-read-only',
    ignored,
  ],
  [
    'request-required-property-became-not-read-only',
    'info',
    body,
    object(['p'], { p: { ...string, readOnly: true } }),
    object(['p'], { p: string }),
    'breaking request-property-became-not-read-only',
    'Requests must send now what they must not send before.',
  ],
  [
    'request-required-property-became-write-only',
    'info',
    body,
    object(['p'], { p: string }),
    object(['p'], { p: { ...string, writeOnly: true } }),
    'safe request-property-became-write-only',
  ],
  [
    'request-required-property-became-not-write-only',
    'info',
    body,
    object(['p'], { p: { ...string, writeOnly: true } }),
    object(['p'], { p: string }),
    'safe request-property-became-not-write-only',
  ],

  // Responses
  [
    'response-success-status-removed',
    'error',
    responses,
    ['200', '201'],
    ['200'],
    'breaking response-success-status-removed',
  ],
  [
    'response-success-status-added',
    'info',
    responses,
    ['200'],
    ['200', '201'],
    'risky response-success-status-added',
    'Clients meet a success that they do not know.',
  ],
  [
    'response-non-success-status-removed',
    'info',
    responses,
    ['200', '404'],
    ['200'],
    'safe response-other-status-removed',
  ],
  ['response-non-success-status-added', 'info', responses, ['200'], ['200', '404'], 'safe response-other-status-added'],
  [
    'response-header-became-optional',
    'error',
    headers,
    { H: { required: true, schema: string } },
    { H: { schema: string } },
    'breaking response-header-became-optional',
  ],
  [
    'required-response-header-removed',
    'error',
    headers,
    { H: { required: true, schema: string } },
    {},
    'breaking response-header-removed',
  ],
  [
    'optional-response-header-removed',
    'info',
    headers,
    { H: { schema: string } },
    {},
    'risky response-header-optional-removed',
    lost,
  ],
  [
    'response-media-type-removed',
    'error',
    outTypes,
    ['application/json', 'text/csv'],
    ['application/json'],
    'breaking response-body-media-type-removed',
  ],
  [
    'response-media-type-added',
    'info',
    outTypes,
    ['application/json'],
    ['application/json', 'text/csv'],
    'safe response-body-media-type-added',
  ],
  [
    'response-media-type-name-changed',
    'error',
    outTypes,
    ['application/json'],
    ['text/csv'],
    'breaking response-body-media-type-removed; safe response-body-media-type-added',
  ],
  [
    'response-media-type-name-generalized',
    'error',
    outTypes,
    ['application/json'],
    ['application/*'],
    'breaking response-body-media-type-generalized',
  ],
  [
    'response-media-type-name-specialized',
    'info',
    outTypes,
    ['application/*'],
    ['application/json'],
    'safe response-body-media-type-specialized',
  ],
  [
    'response-mediatype-enum-value-removed',
    'info',
    out,
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'safe response-body-enum-value-removed',
  ],
  ...limits('response-body', out, 'response-body', allLimits),
  ...limits('response-property', outProp, 'response-property', allLimits),
  ...schemaChecks('response', 'body', out, 'response-body'),
  ...keywordChecks('response', 'response-body', out),
  ...schemaChecks('response', 'property', outProp, 'response-property'),
  ...keywordChecks('response', 'response-property', outProp),

  // Properties of responses
  [
    'response-required-property-removed',
    'error',
    out,
    object(['p'], { p: string }),
    object([], {}),
    'breaking response-property-removed',
  ],
  [
    'response-optional-property-removed',
    'info',
    out,
    object([], { p: string }),
    object([], {}),
    'risky response-property-optional-removed',
    lost,
  ],
  [
    'response-required-property-added',
    'info',
    out,
    object([], {}),
    object(['p'], { p: string }),
    'safe response-property-added',
  ],
  [
    'response-optional-property-added',
    'info',
    out,
    object([], {}),
    object([], { p: string }),
    'safe response-property-added',
  ],
  [
    'response-property-became-optional',
    'error',
    out,
    object(['p'], { p: string }),
    object([], { p: string }),
    'breaking response-property-became-optional',
  ],
  [
    'response-property-became-required',
    'info',
    out,
    object([], { p: string }),
    object(['p'], { p: string }),
    'safe response-property-became-required',
  ],
  [
    'response-property-enum-value-added',
    'warning',
    outProp,
    { enum: ['a'] },
    { enum: ['a', 'b'] },
    'risky response-property-enum-value-added',
  ],
  [
    'response-property-enum-value-removed',
    'info',
    outProp,
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'safe response-property-enum-value-removed',
  ],
  [
    'response-property-pattern-added',
    'info',
    outProp,
    string,
    { type: 'string', pattern: 'a' },
    'safe response-property-pattern-set',
  ],
  [
    'response-property-pattern-removed',
    'error',
    outProp,
    { type: 'string', pattern: 'a' },
    string,
    'breaking response-property-pattern-unset',
  ],
  [
    'response-property-pattern-changed',
    'warning',
    outProp,
    { type: 'string', pattern: 'a' },
    { type: 'string', pattern: 'b' },
    'unknown response-property-pattern-changed',
  ],
  [
    'response-optional-write-only-property-added',
    'info',
    out,
    object([], {}),
    object([], { p: { writeOnly: true } }),
    '',
  ],
  [
    'response-optional-write-only-property-removed',
    'info',
    out,
    object([], { p: { writeOnly: true } }),
    object([], {}),
    '',
  ],
  [
    'response-required-write-only-property-added',
    'info',
    out,
    object([], {}),
    object(['p'], { p: { writeOnly: true } }),
    '',
  ],
  [
    'response-required-write-only-property-removed',
    'info',
    out,
    object(['p'], { p: { writeOnly: true } }),
    object([], {}),
    '',
  ],
  [
    'response-write-only-property-became-optional',
    'info',
    out,
    object(['p'], { p: { writeOnly: true } }),
    object([], { p: { writeOnly: true } }),
    '',
  ],
  [
    'response-write-only-property-became-required',
    'info',
    out,
    object([], { p: { writeOnly: true } }),
    object(['p'], { p: { writeOnly: true } }),
    '',
  ],
  [
    'response-write-only-property-enum-value-added',
    'info',
    outProp,
    { writeOnly: true, enum: ['a'] },
    { writeOnly: true, enum: ['a', 'b'] },
    '',
  ],
  [
    'response-required-property-became-not-write-only',
    'warning',
    out,
    object(['p'], { p: { writeOnly: true } }),
    object(['p'], { p: {} }),
    'safe response-property-became-not-write-only',
    'Responses promise more than before.',
  ],
  [
    'response-required-property-became-write-only',
    'error',
    out,
    object(['p'], { p: {} }),
    object(['p'], { p: { writeOnly: true } }),
    'breaking response-property-became-write-only',
  ],
  [
    'response-optional-property-became-write-only',
    'info',
    outProp,
    {},
    { writeOnly: true },
    'risky response-property-optional-became-write-only',
    lost,
  ],
  [
    'response-optional-property-became-not-write-only',
    'info',
    outProp,
    { writeOnly: true },
    {},
    'safe response-property-became-not-write-only',
  ],
  [
    'response-required-property-became-read-only',
    'info',
    out,
    object(['p'], { p: {} }),
    object(['p'], { p: { readOnly: true } }),
    'safe response-property-became-read-only',
  ],
  [
    'response-required-property-became-not-read-only',
    'info',
    out,
    object(['p'], { p: { readOnly: true } }),
    object(['p'], { p: {} }),
    'safe response-property-became-not-read-only',
  ],
  [
    'response-optional-property-became-read-only',
    'info',
    outProp,
    {},
    { readOnly: true },
    'safe response-property-became-read-only',
  ],
  [
    'response-optional-property-became-not-read-only',
    'info',
    outProp,
    { readOnly: true },
    {},
    'safe response-property-became-not-read-only',
  ],

  // Deprecation
  [
    'endpoint-deprecated-with-sunset',
    'info',
    op,
    {},
    { deprecated: true, 'x-sunset': '2999-01-01' },
    'safe operation-deprecated; safe operation-sunset-set',
  ],
  ['request-property-deprecated', 'info', prop, string, { ...string, deprecated: true }, 'safe property-deprecated'],
  [
    'request-property-deprecated-with-sunset',
    'info',
    prop,
    string,
    { ...string, deprecated: true, 'x-sunset': '2999-01-01' },
    'docs property-extension-changed; safe property-deprecated',
  ],
  ['request-property-reactivated', 'info', prop, { ...string, deprecated: true }, string, 'safe property-reactivated'],
  [
    'response-property-deprecated',
    'info',
    outProp,
    string,
    { ...string, deprecated: true },
    'safe property-deprecated',
  ],
  [
    'response-property-deprecated-with-sunset',
    'info',
    outProp,
    string,
    { ...string, deprecated: true, 'x-sunset': '2999-01-01' },
    'docs property-extension-changed; safe property-deprecated',
  ],
  [
    'response-property-reactivated',
    'info',
    outProp,
    { ...string, deprecated: true },
    string,
    'safe property-reactivated',
  ],

  // Webhooks
  ['webhook-added', 'info', webhooks, {}, { done: get }, 'safe webhook-added'],
  ['webhook-removed', 'error', webhooks, { done: get }, {}, 'breaking webhook-removed'],

  // Values of parameters and headers
  [
    'request-parameter-became-nullable',
    'info',
    param,
    string,
    { type: ['string', 'null'] },
    'safe request-parameter-became-nullable',
  ],
  [
    'request-parameter-became-not-nullable',
    'error',
    param,
    { type: ['string', 'null'] },
    string,
    'breaking request-parameter-became-not-nullable',
  ],
  [
    'request-parameter-property-became-nullable',
    'info',
    paramProp,
    string,
    { type: ['string', 'null'] },
    'safe request-property-became-nullable',
  ],
  [
    'request-parameter-property-became-not-nullable',
    'error',
    paramProp,
    { type: ['string', 'null'] },
    string,
    'breaking request-property-became-not-nullable',
  ],
  [
    'request-parameter-property-enum-value-removed',
    'error',
    paramProp,
    { enum: ['a', 'b'] },
    { enum: ['a'] },
    'breaking request-property-enum-value-removed',
  ],
  [
    'request-parameter-property-enum-value-added',
    'info',
    paramProp,
    { enum: ['a'] },
    { enum: ['a', 'b'] },
    'safe request-property-enum-value-added',
  ],
  [
    'request-parameter-list-of-types-widened',
    'info',
    param,
    { type: 'boolean' },
    { type: ['boolean', 'integer'] },
    'safe request-parameter-type-generalized',
  ],
  [
    'request-parameter-list-of-types-narrowed',
    'error',
    param,
    { type: ['boolean', 'integer'] },
    { type: 'boolean' },
    'breaking request-parameter-type-narrowed',
  ],
  [
    'request-parameter-property-list-of-types-widened',
    'info',
    paramProp,
    string,
    { type: ['string', 'integer'] },
    'safe request-property-type-generalized',
  ],
  [
    'request-parameter-property-list-of-types-narrowed',
    'error',
    paramProp,
    { type: ['string', 'integer'] },
    string,
    'breaking request-property-type-narrowed',
  ],
  ['response-header-added', 'info', headers, {}, { H: { schema: string } }, 'safe response-header-added'],
  [
    'response-header-became-nullable',
    'error',
    header,
    string,
    { type: ['string', 'null'] },
    'breaking response-header-became-nullable',
  ],
  [
    'response-header-became-not-nullable',
    'info',
    header,
    { type: ['string', 'null'] },
    string,
    'safe response-header-became-not-nullable',
  ],
  [
    'response-header-type-changed',
    'error',
    header,
    { type: 'boolean' },
    { type: 'integer' },
    'breaking response-header-type-changed',
  ],
  [
    'response-header-type-generalized',
    'error',
    header,
    { type: 'integer' },
    { type: 'number' },
    'breaking response-header-type-generalized',
  ],
  [
    'response-header-type-specialized',
    'info',
    header,
    { type: 'number' },
    { type: 'integer' },
    'safe response-header-type-narrowed',
  ],
  [
    'response-header-type-compatible',
    'info',
    header,
    string,
    { type: 'integer' },
    'safe response-header-type-narrowed',
  ],

  // Media types
  ['request-body-media-type-schema-added', 'error', media, {}, { schema: string }, 'breaking request-body-type-set'],
  ['request-body-media-type-schema-removed', 'info', media, { schema: string }, {}, 'safe request-body-type-unset'],
  ['response-body-media-type-schema-added', 'info', outMedia, {}, { schema: string }, 'safe response-body-type-set'],
  [
    'response-body-media-type-schema-removed',
    'error',
    outMedia,
    { schema: string },
    {},
    'breaking response-body-type-unset',
  ],
  [
    'request-body-media-type-item-schema-added',
    'error',
    media,
    {},
    { itemSchema: string },
    'breaking request-body-type-set',
  ],
  [
    'request-body-media-type-item-schema-removed',
    'info',
    media,
    { itemSchema: string },
    {},
    'safe request-body-type-unset',
  ],
  [
    'response-body-media-type-item-schema-added',
    'info',
    outMedia,
    {},
    { itemSchema: string },
    'safe response-body-type-set',
  ],
  [
    'response-body-media-type-item-schema-removed',
    'error',
    outMedia,
    { schema: {}, itemSchema: string },
    { schema: {} },
    'breaking response-body-type-unset',
  ],
  [
    'response-body-media-type-item-schema-removed-untyped',
    'error',
    outMedia,
    { itemSchema: string },
    {},
    'breaking response-body-type-unset',
  ],
  [
    'request-body-type-compatible',
    'info',
    xml,
    { type: 'integer' },
    string,
    'breaking request-body-type-changed',
    textually,
  ],
  [
    'request-property-type-compatible',
    'info',
    xml,
    object([], { p: { type: 'integer' } }),
    object([], { p: string }),
    'breaking request-property-type-changed',
    textually,
  ],
  [
    'response-body-type-compatible',
    'info',
    outXml,
    string,
    { type: 'integer' },
    'breaking response-body-type-changed',
    textually,
  ],
  [
    'response-property-type-compatible',
    'info',
    outXml,
    object([], { p: string }),
    object([], { p: { type: 'integer' } }),
    'breaking response-property-type-changed',
    textually,
  ],

  // A body that becomes one of several
  [
    'request-body-wrapped-in-one-of',
    'error',
    body,
    cat,
    union('oneOf', dog, string),
    'breaking request-body-one-of-removed; docs body-title-changed; safe request-body-one-of-added',
  ],
  [
    'request-body-wrapped-in-one-of-original-preserved',
    'warning',
    body,
    cat,
    union('oneOf', cat, dog),
    'docs body-title-changed; unknown request-body-one-of-added',
  ],
  [
    'response-body-wrapped-in-one-of',
    'error',
    out,
    cat,
    union('oneOf', dog, string),
    'breaking response-body-one-of-added; docs body-title-changed; safe response-body-one-of-removed',
  ],
  [
    'response-body-wrapped-in-one-of-original-preserved',
    'error',
    out,
    cat,
    union('oneOf', cat, dog),
    'breaking response-body-one-of-added; docs body-title-changed',
  ],

  // What is read only is not sent
  [
    'request-read-only-property-exclusive-max-decreased',
    'info',
    prop,
    { readOnly: true, exclusiveMaximum: 5 },
    { readOnly: true, exclusiveMaximum: 4 },
    '',
  ],
  [
    'request-read-only-property-max-items-decreased',
    'info',
    prop,
    { readOnly: true, maxItems: 5 },
    { readOnly: true, maxItems: 4 },
    '',
  ],
  [
    'request-read-only-property-max-properties-decreased',
    'info',
    prop,
    { readOnly: true, maxProperties: 5 },
    { readOnly: true, maxProperties: 4 },
    '',
  ],
  [
    'request-read-only-property-exclusive-min-increased',
    'info',
    prop,
    { readOnly: true, exclusiveMinimum: 5 },
    { readOnly: true, exclusiveMinimum: 6 },
    '',
  ],
];

/** Limits: set, unset, increased and decreased. Theirs and ours differ in names only. */
function limits(theirs: string, make: Make, ours: string, kinds: readonly string[]): Check[] {
  const keywords: Record<string, string> = {
    max: 'maximum',
    min: 'minimum',
    'exclusive-max': 'exclusiveMaximum',
    'exclusive-min': 'exclusiveMinimum',
  };
  const codes: Record<string, string> = { ...keywords, 'exclusive-max': 'maximum', 'exclusive-min': 'minimum' };
  return kinds.flatMap((kind): Check[] => {
    const keyword = keywords[kind] ?? kind.replace(/-./, (letters) => letters[1]!.toUpperCase());
    const name = `${ours}-${codes[kind] ?? kind}`;
    const isRequest = theirs.startsWith('request');
    const isUpper = kind.includes('max');
    const judge = (isNarrower: boolean) =>
      isNarrower === isRequest ? (['error', 'breaking'] as const) : (['info', 'safe'] as const);
    const check = (action: string, before: Json, after: Json, isNarrower: boolean): Check => {
      const [level, verdict] = judge(isNarrower);
      return [`${theirs}-${kind}-${action}`, level, make, before, after, `${verdict} ${name}-${action}`];
    };
    return [
      check('set', {}, { [keyword]: 5 }, true),
      check('unset', { [keyword]: 5 }, {}, false),
      check('increased', { [keyword]: 5 }, { [keyword]: 6 }, !isUpper),
      check('decreased', { [keyword]: 5 }, { [keyword]: 4 }, isUpper),
    ];
  });
}

/** Checks that are the same for a body and for a property. */
function schemaChecks(side: 'request' | 'response', what: 'body' | 'property', make: Make, ours: string): Check[] {
  const theirs = `${side}-${what}`;
  const isRequest = side === 'request';
  const [narrows, widens] = isRequest ? (['error', 'info'] as const) : (['info', 'error'] as const);
  const [less, more] = isRequest ? ['breaking', 'safe'] : ['safe', 'breaking'];
  const defaults = isRequest ? 'risky' : 'safe';
  const byDefault = (check: Check): Check =>
    isRequest ? [check[0], check[1], check[2], check[3], check[4], check[5], behaves] : check;
  const tagged = (mapping?: Json) => tag({ propertyName: 'k', ...(mapping && { mapping }) });
  return [
    [
      `${theirs}-became-nullable`,
      widens,
      make,
      string,
      { type: ['string', 'null'] },
      `${more} ${ours}-became-nullable`,
    ],
    [
      `${theirs}-became-not-nullable`,
      narrows,
      make,
      { type: ['string', 'null'] },
      string,
      `${less} ${ours}-became-not-nullable`,
    ],
    [`${theirs}-type-changed`, 'error', make, string, { type: 'integer' }, `breaking ${ours}-type-changed`],
    [
      `${theirs}-type-generalized`,
      widens,
      make,
      { type: 'integer' },
      { type: 'number' },
      `${more} ${ours}-type-generalized`,
    ],
    byDefault([
      `${theirs}-default-value-added`,
      'info',
      make,
      string,
      { type: 'string', default: 'a' },
      `${defaults} ${ours}-default-set`,
    ]),
    byDefault([
      `${theirs}-default-value-changed`,
      'info',
      make,
      { type: 'string', default: 'b' },
      { type: 'string', default: 'a' },
      `${defaults} ${ours}-default-changed`,
    ]),
    byDefault([
      `${theirs}-default-value-removed`,
      'info',
      make,
      { type: 'string', default: 'b' },
      string,
      `${defaults} ${ours}-default-unset`,
    ]),
    ...(['anyOf', 'oneOf'] as const).flatMap((kind): Check[] => {
      const name = kind === 'anyOf' ? 'any-of' : 'one-of';
      return [
        [
          `${theirs}-${name}-added`,
          widens,
          make,
          union(kind, cat, string),
          union(kind, cat, string, count),
          `${more} ${ours}-${name}-added`,
        ],
        [
          `${theirs}-${name}-removed`,
          narrows,
          make,
          union(kind, cat, string, count),
          union(kind, cat, string),
          `${less} ${ours}-${name}-removed`,
        ],
      ];
    }),
    [
      `${theirs}-all-of-added`,
      narrows,
      make,
      { allOf: [string] },
      { allOf: [string, { maxLength: 5 }] },
      `${less} ${ours}-max-length-set`,
    ],
    [
      `${theirs}-all-of-removed`,
      widens,
      make,
      { allOf: [string, { maxLength: 5 }] },
      { allOf: [string] },
      `${more} ${ours}-max-length-unset`,
    ],
    [`${theirs}-discriminator-added`, 'info', make, tag(undefined), tagged(), `risky ${ours}-discriminator-set`, pairs],
    [
      `${theirs}-discriminator-removed`,
      'info',
      make,
      tagged(),
      tag(undefined),
      `risky ${ours}-discriminator-unset`,
      pairs,
    ],
    [
      `${theirs}-discriminator-property-name-changed`,
      'error',
      make,
      tagged(),
      tag({ propertyName: 'l' }),
      `breaking ${ours}-discriminator-property-changed`,
    ],
    [
      `${theirs}-discriminator-mapping-added`,
      widens,
      make,
      tagged({ a: 'A' }),
      tagged({ a: 'A', b: 'B' }),
      `${more} ${ours}-discriminator-mapping-added`,
    ],
    [
      `${theirs}-discriminator-mapping-deleted`,
      narrows,
      make,
      tagged({ a: 'A', b: 'B' }),
      tagged({ a: 'A' }),
      `${less} ${ours}-discriminator-mapping-removed`,
    ],
    [
      `${theirs}-discriminator-mapping-changed`,
      'error',
      make,
      tagged({ a: 'A' }),
      tagged({ a: 'B' }),
      `breaking ${ours}-discriminator-mapping-changed`,
    ],
  ];
}

/** Checks of the catalogue that have no counterpart, and why. */
export const left: readonly [name: string, why: string][] = [
  ...[
    'api-deprecated-sunset-missing',
    'api-deprecated-sunset-parse',
    'api-path-sunset-parse',
    'api-sunset-date-too-small',
    'request-parameter-deprecated-sunset-missing',
    ...['parse', 'date-too-small', 'deleted', 'date-changed-too-small'].map(
      (name) => `request-parameter-sunset-${name}`,
    ),
    ...['request', 'response'].flatMap((side) =>
      ['deprecated-sunset-missing', 'deprecated-sunset-invalid', 'sunset-date-too-small'].map(
        (name) => `${side}-property-${name}`,
      ),
    ),
  ].map((name): [string, string] => [name, policy]),
  ...['api', 'request-property', 'response-property']
    .flatMap((what) => [`${what}-stability-decreased`, `${what}-stability-increased`])
    .concat('api-invalid-stability-level')
    .map((name): [string, string] => [name, 'An extension of that tool. Changes of extensions are shown as texts.']),
  ...['added', 'removed'].map((name): [string, string] => [
    `api-security-component-${name}`,
    'Schemes are compared where operations need them.',
  ]),
  ...['api-version-not-bumped', 'api-version-decreased', 'api-major-version-not-bumped'].map(
    (name): [string, string] => [
      name,
      'About the label of a version, not its document: `compatibility: semver` checks it when a version is published.',
    ],
  ),
];
