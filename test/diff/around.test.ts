// What stands around schemas: paths, servers, statuses, media types, discriminators, ways of writing, webhooks.
import { describe, expect, test } from 'vitest';
import { api, compare, giving, taking, told as toldOf, type Json } from './given.ts';

/** From, to, and what is said: verdict and code of each change, as far as they count. */
type Row = readonly [name: string, before: Json, after: Json, says: readonly string[]];

const ok = { 204: { description: 'Done.' } };
const info = { title: 'Things', version: '1' };
const text = { type: 'string' };

function run(rows: readonly Row[]): void {
  test.each(rows)('%s', (_, before, after, says) => {
    const { changes } = compare(before, after);
    const told = changes.map(({ verdict, code }) => `${verdict} ${code}`).filter((one) => !/schema-(?:added|removed)$/.test(one)); // prettier-ignore
    expect([...new Set(told)].sort(), changes.map(({ message }) => message).join('\n')).toEqual([...says].sort());
  });
}

const paths = (all: Record<string, Json>, rest: Json = {}): Json => ({
  openapi: '3.1.0',
  info,
  paths: Object.fromEntries(Object.entries(all).map(([path, more]) => [path, { get: { responses: ok, ...more } }])),
  ...rest,
});
const at = (...urls: (string | Json)[]) => ({ servers: urls.map((url) => (typeof url === 'string' ? { url } : url)) });
const region = (variable: Json | null, url = 'https://{region}.a.example') =>
  at({ url, ...(variable && { variables: { region: variable } }) });

describe('URLs', () => {
  const swagger = (root: Json, own: Json = {}): Json => ({
    swagger: '2.0',
    info,
    paths: { '/a': { get: { responses: ok, ...own } } },
    ...root,
  });
  run([
    [
      'a last slash is part of a path',
      paths({ '/a/': {} }),
      paths({ '/a': {} }),
      ['breaking operation-removed', 'safe operation-added'],
    ],
    [
      'so it is where a parameter stands before it',
      paths({ '/a/{id}': {} }),
      paths({ '/a/{name}/': {} }),
      ['breaking operation-removed', 'safe operation-added'],
    ],
    [
      'a base path that moves from the server into the paths changes no URL',
      paths({ '/a': {}, '/b': {} }, at('https://a.example/v1')),
      paths({ '/v1/a': {}, '/v1/b': {} }, at('https://a.example')),
      ['safe operation-path-moved'],
    ],
    [
      'and back',
      paths({ '/v1/a': {}, '/v1/b': {} }, at('https://a.example')),
      paths({ '/a': {}, '/b': {} }, at('https://a.example/v1/')),
      ['safe operation-path-moved'],
    ],
    [
      'a base path that moves while another one is new is not the same URL',
      paths({ '/a': {} }, at('https://a.example/v1')),
      paths({ '/v1/a': {} }, at('https://a.example/v1')),
      ['breaking operation-removed', 'safe operation-added'],
    ],
    [
      'a host and a scheme ignore case, and a usual port says nothing',
      paths({ '/a': {} }, at('HTTPS://A.example:443/V')),
      paths({ '/a': {} }, at('https://a.example/V')),
      [],
    ],
    [
      'a server that is written with a slash at its end',
      paths({ '/a': {} }, at('https://a.example/v')),
      paths({ '/a': {} }, at('https://a.example/v/')),
      ['safe server-written'],
    ],
    [
      'a value of a variable that is gone',
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu', 'us'] })),
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu'] })),
      ['risky server-removed'],
    ],
    [
      'a value of a variable that is new',
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu'] })),
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu', 'us'] })),
      ['safe server-added'],
    ],
    [
      'all values of a variable that are others now',
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu'] })),
      paths({ '/a': {} }, region({ default: 'us', enum: ['us'] })),
      ['breaking servers-replaced'],
    ],
    [
      'another default',
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu', 'us'] })),
      paths({ '/a': {} }, region({ default: 'us', enum: ['eu', 'us'] })),
      ['risky server-default-changed'],
    ],
    [
      'another default of a variable with any value',
      paths({ '/a': {} }, region({ default: 'eu' })),
      paths({ '/a': {} }, region({ default: 'us' })),
      ['risky server-default-changed'],
    ],
    [
      'a variable that allows any value now',
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu', 'us'] })),
      paths({ '/a': {} }, region({ default: 'eu' })),
      ['safe server-added'],
    ],
    [
      'a variable that allows listed values only',
      paths({ '/a': {} }, region({ default: 'eu' })),
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu', 'us'] })),
      ['risky server-removed'],
    ],
    [
      'a variable that is written out',
      paths({ '/a': {} }, region({ default: 'eu', enum: ['eu', 'us'] })),
      paths({ '/a': {} }, at('https://us.a.example', 'https://eu.a.example')),
      [],
    ],
    [
      'a variable at the path',
      { ...paths({}), paths: { '/a': { ...region({ default: 'eu', enum: ['eu', 'us'] }), get: { responses: ok } } } },
      { ...paths({}), paths: { '/a': { ...region({ default: 'eu', enum: ['eu'] }), get: { responses: ok } } } },
      ['risky server-removed'],
    ],
    [
      'a port of a variable at the operation',
      paths({ '/a': region({ default: '443', enum: ['443', '8443'] }, 'https://a.example:{region}') }),
      paths({ '/a': region({ default: '8443', enum: ['8443'] }, 'https://a.example:{region}') }),
      ['risky server-removed'],
    ],
    ['the default of servers, written down', paths({ '/a': {} }), paths({ '/a': {} }, at('/')), []],
    [
      'a relative server with its host said',
      paths({ '/a': {} }, at('/v1')),
      paths({ '/a': {} }, at('https://a.example/v1')),
      ['risky server-removed', 'safe server-added'],
    ],
    [
      'schemes of an operation of 2.0',
      swagger({ host: 'a.example', schemes: ['https', 'http'] }, {}),
      swagger({ host: 'a.example', schemes: ['https', 'http'] }, { schemes: ['http'] }),
      ['risky server-removed'],
    ],
    [
      'one of several servers, which another one with variables allows, too',
      paths({ '/a': {} }, at('https://x.example', 'https://{any}.example')),
      paths({ '/a': {} }, at('https://y.example', 'https://{any}.example')),
      ['safe server-removed', 'safe server-added'],
    ],
    [
      'schemes of 2.0 without a host',
      swagger({ basePath: '/v1', schemes: ['https'] }),
      swagger({ basePath: '/v1', schemes: ['http'] }),
      ['breaking servers-replaced'],
    ],
    [
      'basePath of 2.0 that moves into the paths',
      swagger({ host: 'a.example', basePath: '/v1' }),
      { ...swagger({ host: 'a.example' }), paths: { '/v1/a': { get: { responses: ok } } } },
      ['safe operation-path-moved'],
    ],
  ]);
});

describe('fields that were not looked at', () => {
  const swaggerAnswer = (examples: Json): Json => ({
    swagger: '2.0',
    info,
    paths: { '/a': { get: { responses: { 404: { description: 'No.', examples } } } } },
  });
  const form = (more: Json): Json => ({
    swagger: '2.0',
    info,
    paths: { '/a': { post: { consumes: ['multipart/form-data'], parameters: [{ name: 'f', in: 'formData', type: 'array', items: text, ...more }], responses: ok } } }, // prettier-ignore
  });
  const secure = (more: Json) => api({ security: [{ a: [] }] }, { components: { securitySchemes: { a: { type: 'http', scheme: 'basic', ...more } } } }); // prettier-ignore
  run([
    [
      'collectionFormat of a form',
      form({}),
      form({ collectionFormat: 'pipes' }),
      ['unknown request-property-collection-format-set'],
    ],
    ['the usual collectionFormat of a form', form({}), form({ collectionFormat: 'csv' }), []],
    [
      'allowEmptyValue of a form',
      form({}),
      form({ allowEmptyValue: true }),
      ['unknown request-property-allow-empty-value-set'],
    ],
    [
      '$self',
      api({}, { $self: 'https://a.example/a' }),
      api({}, { $self: 'https://a.example/b' }),
      ['risky document-self-changed'],
    ],
    [
      'jsonSchemaDialect',
      api(),
      api({}, { jsonSchemaDialect: 'https://a.example/d' }),
      ['unknown document-dialect-changed'],
    ],
    [
      'the usual jsonSchemaDialect',
      api(),
      api({}, { jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base' }),
      [],
    ],
    [
      'a jsonSchemaDialect that begins like the usual one',
      api({}, { jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base' }),
      api({}, { jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/based' }),
      ['unknown document-dialect-changed'],
    ],
    ['a deprecated scheme of security', secure({}), secure({ deprecated: true }), ['safe security-scheme-deprecated']],
    [
      'a deprecated header',
      api({ responses: { 200: { description: 'So.', headers: { H: { schema: text } } } } }),
      api({ responses: { 200: { description: 'So.', headers: { H: { schema: text, deprecated: true } } } } }),
      ['safe header-deprecated'],
    ],
    [
      'texts of a server',
      paths({ '/a': {} }, at({ url: '/v1', description: 'Old' })),
      paths({ '/a': {} }, at({ url: '/v1', description: 'New' })),
      ['docs server-description-changed'],
    ],
    [
      'texts of a path',
      { ...paths({}), paths: { '/a': { get: { responses: ok } } } },
      { ...paths({}), paths: { '/a': { summary: 'A', get: { responses: ok } } } },
      ['docs path-summary-changed'],
    ],
    [
      'texts of a media type',
      api({ requestBody: { content: { 'text/csv': {} } } }),
      api({ requestBody: { content: { 'text/csv': { description: 'C' } } } }),
      ['docs body-description-changed'],
    ],
    [
      'examples of 2.0 without a schema',
      swaggerAnswer({ 'application/json': 'a' }),
      swaggerAnswer({ 'application/json': 'b' }),
      ['docs body-examples-changed'],
    ],
    [
      '$schema of a part',
      taking(text),
      taking({ ...text, $schema: 'http://json-schema.org/draft-07/schema#' }),
      ['unknown request-body-schema-set'],
    ],
  ]);
});

describe('statuses', () => {
  const body = (...required: string[]) => ({ content: { 'application/json': { schema: { type: 'object', required } } } }); // prettier-ignore
  const answer = (...required: string[]) => ({ description: 'So.', ...body(...required) });
  const of = (responses: Json) => api({ responses });
  const [ab, a] = [answer('a', 'b'), answer('a')];
  run([
    [
      'a status that default described, with another schema',
      of({ 200: a, default: ab }),
      of({ 200: a, 404: a, default: ab }),
      ['breaking response-property-became-optional', 'safe response-other-status-added'],
    ],
    [
      'a status that a range described, with another schema',
      of({ 200: a, '4XX': ab, default: a }),
      of({ 200: a, 404: a, '4XX': ab, default: a }),
      ['breaking response-property-became-optional', 'safe response-other-status-added'],
    ],
    [
      'a range beside default',
      of({ 200: a, default: ab }),
      of({ 200: a, '4XX': a, default: ab }),
      ['breaking response-property-became-optional', 'safe response-other-status-added'],
    ],
    [
      'with the same schema',
      of({ 200: a, default: ab }),
      of({ 200: a, 404: ab, default: ab }),
      ['safe response-other-status-added'],
    ],
    [
      'a range that becomes one of its statuses',
      of({ '2XX': a }),
      of({ 200: a }),
      ['safe response-status-specialized'],
    ],
    [
      'with another schema',
      of({ '2XX': ab }),
      of({ 200: a }),
      ['breaking response-property-became-optional', 'safe response-status-specialized'],
    ],
    ['a status that becomes its range', of({ 200: a }), of({ '2XX': a }), ['risky response-status-generalized']],
    [
      'a status that is described by default now, with another schema',
      of({ 200: a, 404: ab, default: a }),
      of({ 200: a, default: a }),
      ['breaking response-property-became-optional', 'safe response-status-generalized'],
    ],
    [
      'a success beside the default of errors',
      of({ 200: a, default: ab }),
      of({ 200: a, 201: a, default: ab }),
      ['risky response-success-status-added'],
    ],
    [
      'a success that was only described by default',
      of({ default: ab }),
      of({ 200: a, default: ab }),
      ['breaking response-property-became-optional', 'safe response-success-status-added'],
    ],
    [
      'default that was the only success',
      of({ default: a }),
      of({ 404: a }),
      ['breaking response-success-status-removed', 'safe response-other-status-added'],
    ],
    [
      'a default that is gone beside statuses',
      of({ 200: a, default: a }),
      of({ 200: a, 404: a }),
      ['safe response-status-specialized'],
    ],
  ]);
});

test.each([
  ['another component', 'application/xml', 'breaking'],
  ['one in a type of its own', 'application/a+xml', 'breaking'],
  ['what is no XML', 'application/json', 'safe'],
])('the root element of XML has the name of its component: %s', (_, type, verdict) => {
  const named = (name: string) =>
    api(
      { requestBody: { content: { [type]: { schema: { $ref: `#/components/schemas/${name}` } } } } },
      { components: { schemas: { [name]: { type: 'object' } } } },
    );
  expect(compare(named('A'), named('B')).verdict).toBe(verdict);
  expect(compare(named('A'), named('A')).verdict).toBe('none');
});

describe('media types', () => {
  const of = (content: Record<string, Json>) =>
    api({
      responses: {
        200: {
          description: 'So.',
          content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
        },
      },
    });
  const [object, list] = [{ type: 'object' }, { type: 'array' }];
  run([
    [
      'one that a range described, with another schema',
      of({ '*/*': object }),
      of({ '*/*': object, 'application/json': list }),
      ['breaking response-body-type-changed', 'safe response-body-media-type-described'],
    ],
    [
      'and back',
      of({ '*/*': object, 'application/json': list }),
      of({ '*/*': object }),
      ['breaking response-body-type-changed', 'safe response-body-media-type-undescribed'],
    ],
    [
      'with the same schema',
      of({ 'application/*': object }),
      of({ 'application/*': object, 'application/json': object }),
      ['safe response-body-media-type-described'],
    ],
    [
      'another parameter is another type',
      of({ 'application/json;v=1': object }),
      of({ 'application/json;v=2': object }),
      ['breaking response-body-media-type-removed', 'safe response-body-media-type-added'],
    ],
    [
      'one type in two ways of writing',
      of({ 'application/json; charset=utf-8': object, 'application/json': list }),
      of({ 'application/JSON': object, 'APPLICATION/JSON;charset=UTF-8': list }),
      [],
    ],
    [
      'another charset is another type, and UTF-8 is what is usual',
      of({ 'application/json': object }),
      of({ 'application/json;charset=utf-16': object }),
      ['breaking response-body-media-type-removed', 'safe response-body-media-type-added'],
    ],
    [
      'each parameter has its own schema',
      of({ 'application/json;v=1': object, 'application/json;v=2': list }),
      of({ 'application/json;v=2': list, 'application/json;v=1': { ...object, minProperties: 1 } }),
      ['safe response-body-min-properties-set'],
    ],
    [
      'a type with a parameter beside the one without',
      of({ 'application/json': object }),
      of({ 'application/json': object, 'application/json; profile="a"': list }),
      ['breaking response-body-type-changed', 'safe response-body-media-type-described'],
    ],
    [
      'the same parameters in another order, case and quotes',
      of({ 'Application/JSON; v="1"; charset=utf-8; P=x': object }),
      of({ 'application/json;p=x;v=1': object }),
      [],
    ],
  ]);
});

const named = (schemas: Json, version = '3.1.0') => ({ openapi: version, components: { schemas } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('discriminators', () => {
  const pet = (more: Json = {}) => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: text },
    discriminator: { propertyName: 'kind', ...more },
  });
  const child = (required: string[], parent = 'Pet') => ({
    allOf: [ref(parent), { type: 'object', required, properties: { a: text, b: text } }],
  });
  const one = (kind: string) => ({ type: 'object', required: ['kind'], properties: { kind: text, [kind]: text } });
  const either = (mapping: Json | null, ...names: string[]) => ({
    oneOf: names.map(ref),
    discriminator: { propertyName: 'kind', ...(mapping && { mapping }) },
  });
  const cat = { mapping: { cat: '#/components/schemas/Cat' } };
  const two = (root: Json, schemas: Json) => taking(root, named(schemas));
  const [Cat, Dog] = [one('lives'), one('barks')];
  run([
    [
      'a subtype that only the mapping reaches',
      taking(ref('Pet'), named({ Pet: pet(cat), Cat: child([]) })),
      taking(ref('Pet'), named({ Pet: pet(cat), Cat: child(['a']) })),
      ['breaking request-property-became-required'],
    ],
    [
      'one that only its name reaches, below another one',
      giving(ref('Pet'), named({ Pet: pet(), Cat: child([]), Lion: child(['a'], 'Cat') })),
      giving(ref('Pet'), named({ Pet: pet(), Cat: child([]), Lion: child([], 'Cat') })),
      ['breaking response-property-became-optional'],
    ],
    [
      'one beside the schema that is used is not reached',
      giving(ref('Cat'), named({ Pet: pet(), Cat: child([]), Dog: child(['a']) })),
      giving(ref('Cat'), named({ Pet: pet(), Cat: child([]), Dog: child([]) })),
      [],
    ],
    [
      'a subtype that is gone',
      taking(ref('Pet'), named({ Pet: pet(), Cat: child([]), Dog: child([]) })),
      taking(ref('Pet'), named({ Pet: pet(), Cat: child([]) })),
      ['breaking request-schema-discriminator-mapping-removed'],
    ],
    [
      'a subtype that is new in responses',
      giving(ref('Pet'), named({ Pet: pet(), Cat: child([]) })),
      giving(ref('Pet'), named({ Pet: pet(), Cat: child([]), Dog: child([]) })),
      ['breaking response-schema-discriminator-mapping-added'],
    ],
    ['a subtype of 2.0', swaggerPet(['a']), swaggerPet(['a', 'b']), ['breaking request-property-became-required']],
    [
      'defaultMapping of 3.2',
      taking(ref('Pet'), named({ Pet: pet({ defaultMapping: 'Cat' }), Cat }, '3.2.0')),
      taking(
        ref('Pet'),
        named({ Pet: pet({ defaultMapping: 'Cat' }), Cat: { ...Cat, required: ['kind', 'lives'] } }, '3.2.0'),
      ),
      ['breaking request-property-became-required'],
    ],
    [
      'a schema whose name is the value is renamed',
      two(either(null, 'Cat', 'Dog'), { Cat, Dog }),
      two(either(null, 'Feline', 'Dog'), { Feline: Cat, Dog }),
      ['breaking request-body-discriminator-mapping-removed', 'safe request-body-discriminator-mapping-added'],
    ],
    [
      'a schema with a mapping is renamed',
      two(either({ cat: ref('Cat').$ref, dog: 'Dog' }, 'Cat', 'Dog'), { Cat, Dog }),
      two(either({ cat: ref('Feline').$ref, dog: 'Dog' }, 'Feline', 'Dog'), { Feline: Cat, Dog }),
      [],
    ],
    [
      'what the names mean is written down',
      two(either(null, 'Cat', 'Dog'), { Cat, Dog }),
      two(either({ Cat: 'Cat', Dog: ref('Dog').$ref }, 'Cat', 'Dog'), { Cat, Dog }),
      [],
    ],
    [
      'two values change places',
      two(either({ a: 'Cat', b: 'Dog' }, 'Cat', 'Dog'), { Cat, Dog }),
      two(either({ a: 'Dog', b: 'Cat' }, 'Cat', 'Dog'), { Cat, Dog }),
      ['breaking request-body-discriminator-mapping-changed'],
    ],
    [
      'one that is mapped and is no alternative',
      two(either({ lion: 'Lion' }, 'Cat', 'Dog'), { Cat, Dog, Lion: one('roars') }),
      two(either({ lion: 'Lion' }, 'Cat', 'Dog'), { Cat, Dog, Lion: { ...one('roars'), required: ['kind', 'roars'] } }),
      [],
    ],
    [
      'a value means another alternative, as its own is gone',
      two(either({ a: 'Cat', b: 'Dog' }, 'Cat', 'Dog', 'Lion'), { Cat, Dog, Lion: one('roars') }),
      two(either({ a: 'Dog', b: 'Dog' }, 'Dog', 'Lion'), { Dog, Lion: one('roars') }),
      ['breaking request-body-discriminator-mapping-changed', 'breaking request-body-one-of-removed'],
    ],
    [
      'one more alternative is said once',
      giving(either(null, 'Cat', 'Lion'), named({ Cat, Lion: one('roars') })),
      giving(either(null, 'Cat', 'Lion', 'Dog'), named({ Cat, Dog, Lion: one('roars') })),
      ['breaking response-body-one-of-added'],
    ],
    [
      'a union of two that loses one has the same discriminator',
      two(either({ cat: 'Cat', dog: 'Dog' }, 'Cat', 'Dog'), { Cat, Dog }),
      two(either({ cat: 'Cat' }, 'Cat'), { Cat }),
      ['breaking request-body-one-of-removed'],
    ],
    [
      'a union of one that gets another one',
      two(either(null, 'Cat'), { Cat }),
      two(either(null, 'Cat', 'Dog'), { Cat, Dog }),
      ['safe request-body-one-of-added'],
    ],
    [
      'subtypes that become the alternatives of a union were reached before',
      giving(ref('Pet'), named({ Pet: pet(), Cat: child(['a']), Dog: child(['b']) })),
      giving(either(null, 'Cat', 'Dog'), named({ Pet: pet(), Cat: child(['a']), Dog: child(['b']) })),
      ['safe response-body-one-of-removed'],
    ],
    [
      'a subtype that the only alternative does not reach',
      taking(ref('Pet'), named({ Pet: pet(), Cat: child([]), Dog: child([]) })),
      taking(either(null, 'Cat'), named({ Pet: pet(), Cat: child([]), Dog: child([]) })),
      ['breaking request-body-discriminator-mapping-removed', 'safe request-property-added'],
    ],
  ]);

  const asks = ['breaking response-property-became-optional'];
  const sent = (schema: Json, required: string[], more: Json = {}) =>
    giving(schema, named({ Pet: pet(), Cat: child(required), ...more }));
  const wrappers: [string, Json][] = [
    ['beside null', { anyOf: [ref('Pet'), { type: 'null' }] }],
    ['as the only alternative', { oneOf: [ref('Pet')] }],
    ['with a description', { ...ref('Pet'), description: 'A pet.' }],
    ['in allOf', { type: 'object', allOf: [ref('Pet')] }],
  ];
  run([
    ...wrappers.flatMap(([name, wrapper]): Row[] => [
      [`a subtype ${name}`, sent(wrapper, ['a']), sent(wrapper, []), asks],
      [`and behind a name ${name}`, sent(ref('W'), ['a'], { W: wrapper }), sent(ref('W'), [], { W: wrapper }), asks],
    ]),
    [
      'a subtype of another name of the schema',
      giving(ref('Pet'), named({ Pet: pet(), Animal: ref('Pet'), Cat: child(['a'], 'Animal') })),
      giving(ref('Pet'), named({ Pet: pet(), Animal: ref('Pet'), Cat: child([], 'Animal') })),
      asks,
    ],
    [
      'a subtype beside alternatives that have no name',
      giving(ref('Pet'), named({ Pet: { ...pet(), anyOf: [{ required: ['a'] }, { required: ['b'] }] }, Cat: child(['a']) })), // prettier-ignore
      giving(ref('Pet'), named({ Pet: { ...pet(), anyOf: [{ required: ['a'] }, { required: ['b'] }] }, Cat: child([]) })), // prettier-ignore
      asks,
    ],
    [
      'what the names of subtypes mean is written down, and each is used alone, too',
      giving({ properties: { a: ref('Pet'), b: ref('Cat') } }, named({ Pet: pet(), Cat: child([]), Dog: child([]) })),
      giving({ properties: { a: ref('Pet'), b: ref('Cat') } }, named({ Pet: pet({ mapping: { Cat: 'Cat', Dog: 'Dog' } }), Cat: child([]), Dog: child([]) })), // prettier-ignore
      [],
    ],
    [
      'the value of a subtype that is used alone',
      giving(ref('Cat'), named({ Pet: pet(cat), Cat: child([]) })),
      giving(ref('Cat'), named({ Pet: pet({ mapping: { kitty: 'Cat' } }), Cat: child([]) })),
      ['breaking response-schema-discriminator-mapping-added', 'safe response-schema-discriminator-mapping-removed'],
    ],
    [
      'a default is no value of its schema',
      taking(either(null, 'Cat', 'Dog'), named({ Cat, Dog }, '3.2.0')),
      taking({ oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind', defaultMapping: 'Dog' } }, named({ Cat, Dog }, '3.2.0')), // prettier-ignore
      ['safe request-body-discriminator-mapping-added'],
    ],
  ]);

  function swaggerPet(required: string[]): Json {
    const definitions = {
      Pet: { type: 'object', discriminator: 'kind', required: ['kind'], properties: { kind: text } },
      Cat: { allOf: [{ $ref: '#/definitions/Pet' }, { type: 'object', required, properties: { a: text, b: text } }] },
    };
    const parameters = [{ in: 'body', name: 'b', schema: { $ref: '#/definitions/Pet' } }];
    return { swagger: '2.0', info, paths: { '/a': { post: { parameters, responses: ok } } }, definitions };
  }
});

describe('ways of writing', () => {
  const query = (more: Json) => api({ parameters: [{ in: 'query', name: 'q', ...more }] });
  const inPath = (more: Json) => ({ ...paths({ '/a/{q}': { parameters: [{ in: 'path', name: 'q', required: true, ...more }] } }) }); // prettier-ignore
  const header = (more: Json) => api({ responses: { 200: { description: 'So.', headers: { H: more } } } });
  const list = { type: 'array', items: text };
  const object = { type: 'object', properties: { a: text } };
  const parts = (more: Json) => api({ requestBody: { content: { 'multipart/mixed': { schema: list, ...more } } } }, { openapi: '3.2.0' }); // prettier-ignore
  const old = (more: Json): Json => ({
    swagger: '2.0',
    info,
    paths: { '/a': { get: { parameters: [{ in: 'query', name: 'q', type: 'array', ...more }], responses: ok } } },
  });
  const oldHeader = (more: Json): Json => ({
    swagger: '2.0',
    info,
    paths: { '/a': { get: { responses: { 200: { description: 'So.', headers: { H: { type: 'array', items: text, ...more } } } } } } }, // prettier-ignore
  });
  const pairs = { type: 'array', items: text };
  run([
    [
      'a parameter with content instead of a schema',
      query({ schema: object }),
      query({ content: { 'application/json': { schema: object } } }),
      ['breaking request-parameter-style-changed'],
    ],
    [
      'and back, with another schema',
      query({ content: { 'application/json': { schema: object } } }),
      query({ schema: { ...object, required: ['a'] } }),
      ['breaking request-parameter-style-changed', 'breaking request-property-became-required'],
    ],
    [
      'a header with content instead of a schema',
      header({ schema: object }),
      header({ content: { 'application/json': { schema: object } } }),
      ['breaking response-header-style-changed'],
    ],
    [
      'explode of a header with an object',
      header({ schema: object }),
      header({ schema: object, explode: true }),
      ['breaking response-header-style-changed'],
    ],
    ['explode of a list in a header', header({ schema: list }), header({ schema: list, explode: true }), []],
    ['explode of a list in a path', inPath({ schema: list }), inPath({ schema: list, explode: true }), []],
    [
      'deepObject with what it means anyway',
      query({ schema: object, style: 'deepObject' }),
      query({ schema: object, style: 'deepObject', explode: true }),
      [],
    ],
    [
      'prefixEncoding',
      parts({ prefixEncoding: [{ contentType: 'text/plain' }] }),
      parts({ prefixEncoding: [{ contentType: 'text/csv' }] }),
      ['breaking request-body-encoding-content-type-changed'],
    ],
    [
      'itemEncoding',
      parts({ itemEncoding: { contentType: 'text/csv' } }),
      parts({}),
      ['breaking request-body-encoding-content-type-changed'],
    ],
    [
      'a header of an encoding behind a reference',
      parts({ encoding: { a: { headers: { H: { $ref: '#/components/headers/H' } } } } }),
      parts({ encoding: { a: { headers: { H: { $ref: '#/components/headers/H' } } } } }),
      [],
    ],
    [
      'another header of an encoding behind a reference',
      { ...parts({ schema: object, encoding: { a: { headers: { H: { $ref: '#/components/headers/H' } } } } }), components: { headers: { H: { schema: text } } } }, // prettier-ignore
      { ...parts({ schema: object, encoding: { a: { headers: { H: { $ref: '#/components/headers/H' } } } } }), components: { headers: { H: { schema: list } } } }, // prettier-ignore
      ['breaking request-header-type-changed'],
    ],
    [
      'a nested collectionFormat of 2.0',
      old({ items: { ...pairs, collectionFormat: 'csv' } }),
      old({ items: { ...pairs, collectionFormat: 'pipes' } }),
      ['breaking request-parameter-style-changed'],
    ],
    [
      'the default of a nested collectionFormat',
      old({ items: pairs }),
      old({ items: { ...pairs, collectionFormat: 'csv' } }),
      [],
    ],
    [
      'collectionFormat of a header of 2.0',
      oldHeader({}),
      oldHeader({ collectionFormat: 'pipes' }),
      ['breaking response-header-style-changed'],
    ],
    [
      'references by $self',
      giving(
        { $ref: 'https://a.example/api.yaml#/components/schemas/A' },
        { ...named({ A: text }, '3.2.0'), $self: 'https://a.example/api.yaml' },
      ),
      giving(
        { $ref: 'https://a.example/api.yaml#/components/schemas/A' },
        { ...named({ A: list }, '3.2.0'), $self: 'https://a.example/api.yaml' },
      ),
      ['breaking response-schema-type-changed'],
    ],
  ]);
});

describe('what OpenAPI 3 ignores', () => {
  const headers = (version: string, ...all: Json[]) => ({ ...api({ parameters: all.map((one) => ({ in: 'header', name: 'Accept', ...(version === '2.0' ? text : { schema: text }), ...one })) }), ...(version === '2.0' ? { openapi: undefined, swagger: '2.0' } : { openapi: version }) }); // prettier-ignore
  const answer = (more: Json) => api({ responses: { 200: { description: 'So.', headers: { 'content-type': { schema: text, ...more } } } } }); // prettier-ignore
  const rows = ['Accept', 'content-type', 'AUTHORIZATION'].flatMap((name): Row[] => [
    [`a header ${name} that is required`, headers('3.0.3'), headers('3.0.3', { name, required: true }), []],
    [`a header ${name} that is gone`, headers('3.1.0', { name, required: true }), headers('3.1.0'), []],
    [`a header ${name} of another type`, headers('3.1.0', { name }), headers('3.1.0', { name, schema: { type: 'integer' } }), []], // prettier-ignore
    [`a header ${name} of 2.0`, headers('2.0'), headers('2.0', { name, required: true }), ['breaking request-parameter-added-as-required']], // prettier-ignore
  ]);
  run([
    ...rows,
    ['a parameter of such a name that is no header', headers('3.1.0'), headers('3.1.0', { in: 'query', required: true }), ['breaking request-parameter-added-as-required']], // prettier-ignore
    ['a header Content-Type of an answer', answer({ required: true }), answer({ schema: { type: 'integer' } }), []],
  ]);
});

describe('null or an empty list that "not" excludes is no empty text', () => {
  const nullable = { type: ['string', 'null', 'array'] };
  const long = { ...nullable, minLength: 1 };
  test.each([{ const: null }, { enum: [null] }, { enum: [[]] }])('%j', (excluded) => {
    const given = (schema: Json) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema });
    expect(compare(given(long), given({ ...nullable, not: excluded }), 'json-schema').verdict).not.toBe('none');
  });
});

describe('components that no operation uses', () => {
  const of = (components: Json, rest: Json = {}) => api({}, { components, ...rest });
  const schemas = (A: Json, more: Json = {}, rest: Json = {}) => of({ schemas: { A, ...more } }, rest);
  const refersTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const uses = (document: Json, schema: Json) => ({
    ...document,
    ...giving(schema),
    components: document['components'],
  });
  run([
    ['a schema', schemas(text), schemas({ type: 'integer' }), ['risky schema-type-changed']],
    ['its texts', schemas(text), schemas({ ...text, description: 'A.' }), ['docs schema-description-changed']],
    [
      'one that only an extension names',
      of({ schemas: { A: text } }, { 'x-all': refersTo('A') }),
      of({ schemas: { A: { type: 'integer' } } }, { 'x-all': refersTo('A') }),
      ['docs document-extension-changed', 'risky schema-type-changed'],
    ],
    [
      'one that only x-webhooks without operations name',
      of({ schemas: { A: text } }, { openapi: '3.0.3', 'x-webhooks': { sent: { '{$url}': { post: refersTo('A') } } } }),
      of({ schemas: { A: {} } }, { openapi: '3.0.3', 'x-webhooks': { sent: { '{$url}': { post: refersTo('A') } } } }),
      ['risky schema-type-unset'],
    ],
    [
      'a parameter',
      of({ parameters: { P: { name: 'a', in: 'query' } } }),
      of({ parameters: { P: { name: 'b', in: 'query' } } }),
      ['risky component-changed'],
    ],
    ['a response that came', of({}), of({ responses: { R: { description: 'R' } } }), ['safe component-added']],
    [
      'an example',
      of({ examples: { E: { value: 1 } } }),
      of({ examples: { E: { value: 2 } } }),
      ['docs component-changed'],
    ],
    [
      'what it refers to, where an operation uses that',
      uses(schemas(refersTo('B'), { B: text }), refersTo('B')),
      uses(schemas({ allOf: [refersTo('B')] }, { B: { type: 'integer' } }), refersTo('B')),
      ['breaking response-schema-type-changed'],
    ],
    [
      'another that it refers to, also where operations use both',
      uses(schemas(refersTo('B'), { B: text, C: { type: 'integer' } }), { items: [refersTo('B'), refersTo('C')] }),
      uses(schemas(refersTo('C'), { B: text, C: { type: 'integer' } }), { items: [refersTo('B'), refersTo('C')] }),
      ['risky schema-type-changed'],
    ],
    [
      'of OpenAPI 2.0',
      { swagger: '2.0', info, paths: {}, definitions: { A: text }, responses: { R: { description: 'R' } } },
      {
        swagger: '2.0',
        info,
        paths: {},
        definitions: { A: { type: 'integer' } },
        responses: { R: { description: 'S' } },
      },
      ['risky component-changed', 'risky schema-type-changed'],
    ],
  ]);

  test('what stands beside a reference where that has no effect is told, and is no break', () => {
    const beside = (enums: string[]) => ({
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { a: { $ref: '#/definitions/a', enum: enums } },
      definitions: { a: text },
    });
    expect(toldOf(compare(beside(['a', 'b']), beside(['a']), 'json-schema'))).toEqual([
      'docs schema-beside-reference-changed',
    ]);
  });
});

describe('who may call', () => {
  const k = { k: { type: 'http', scheme: 'bearer' } };
  const of = (security: Json[], securitySchemes: Json = k) => api({ security }, { components: { securitySchemes } });
  run([
    [
      'one more way to sign in, where nobody has to',
      of([{}]),
      of([{}, { k: [] }]),
      ['safe security-alternative-added'],
    ],
    ['one less', of([{}, { k: [] }]), of([{}]), ['risky security-alternative-removed']],
    ['a scheme that was not defined', of([{ k: [] }], {}), of([{ k: [] }]), ['safe security-scheme-defined']],
    ['and back', of([{ k: [] }]), of([{ k: [] }], {}), ['risky security-scheme-undefined']],
    ['without a definition before and after', of([{ k: [] }], {}), of([{ k: [] }], {}), []],
    [
      'a scheme that only its name tells apart',
      of([{ k: ['a'] }], {}),
      of([{ k: ['a'] }], { k: { type: 'openIdConnect', openIdConnectUrl: 'https://a.example' } }),
      ['safe security-scheme-defined'],
    ],
  ]);
});

test('of two schemes by which the same is sent, the scopes of both count', () => {
  const securitySchemes = { a: { type: 'http', scheme: 'bearer' }, b: { type: 'http', scheme: 'Bearer' } };
  const calling = (needs: Json) => api({ security: [needs] }, { components: { securitySchemes } });
  const changes = compare(calling({ a: [], b: [] }), calling({ a: ['r'], b: [] }));
  expect(toldOf(changes)).toEqual(['breaking security-scope-added']);
});

test('a scheme that is of another kind now is another one, and has no flows that are gone', () => {
  const calling = (scheme: Json) => api({ security: [{ k: ['r'] }, {}] }, { components: { securitySchemes: { k: scheme } } }); // prettier-ignore
  const flows = { implicit: { authorizationUrl: 'https://a.example', scopes: { r: 'Read.' } } };
  const changes = compare(calling({ type: 'oauth2', flows }), calling({ type: 'http', scheme: 'bearer' }));
  expect(toldOf(changes)).toEqual(['risky security-alternative-removed', 'safe security-alternative-added']);
});

describe('security schemes by address', () => {
  const of = (name: string, more: Json = {}) =>
    api({ security: [{ [name]: ['a'] }] }, {
      openapi: '3.2.0',
      $self: 'https://a.example/api.yaml',
      components: { securitySchemes: { own: { type: 'oauth2', flows: {}, ...more }, other: { type: 'openIdConnect' } } },
    }); // prettier-ignore
  run([
    ['in the document', of('own'), of('#/components/securitySchemes/own'), []],
    ['with that of the document', of('https://a.example/api.yaml#/components/securitySchemes/own'), of('own'), []],
    ['relative to it', of('own'), of('./api.yaml#/components/securitySchemes/own'), []],
    ['of another scheme', of('own'), of('#/components/securitySchemes/other'), ['breaking security-alternative-removed', 'safe security-alternative-added']], // prettier-ignore
    ['that changed', of('own', { deprecated: true }), of('#/components/securitySchemes/own'), ['safe security-scheme-reactivated']], // prettier-ignore
  ]);
});

test('what a required property must be now breaks, also where that is the object around it', () => {
  const node = (more: Json) => ({
    components: { schemas: { Node: { type: 'object', required: ['child'], ...more } } },
  });
  const [root, child] = [{ $ref: '#/components/schemas/Node' }, { $ref: '#/components/schemas/Node' }];
  const [open, said] = [node({}), node({ properties: { child } })];
  expect(compare(taking(root, open), taking(root, said)).verdict).toBe('breaking');
  expect(compare(giving(root, said), giving(root, open)).verdict).toBe('breaking');
});

test('a parameter that is written in JSON is no text', () => {
  const list = (type: string, media: string) => api({ parameters: [{ in: 'query', name: 'q', content: { [media]: { schema: { type } } } }] }); // prettier-ignore
  const verdict = (media: string) => compare(list('integer', media), list('string', media)).verdict;
  expect(['application/json', 'application/vnd.a+json', 'text/plain'].map(verdict)).toEqual(['breaking', 'breaking', 'safe']); // prettier-ignore
});

describe('encodings', () => {
  const properties = { a: text, list: { type: 'array', items: text }, object: { type: 'object' } };
  const form = (encoding: Json, type = 'multipart/form-data', openapi = '3.1.0') =>
    api({ requestBody: { content: { [type]: { schema: { type: 'object', properties }, encoding } } } }, { openapi });
  const given = (encoding: Json) => api({ responses: { 200: { description: 'So.', content: { 'multipart/mixed': { schema: { type: 'object', properties }, encoding } } } } }); // prettier-ignore
  const url = 'application/x-www-form-urlencoded';
  const positions = (more: Json) => api({ requestBody: { content: { 'multipart/mixed': { schema: { type: 'array', prefixItems: [text], items: { type: 'object' } }, ...more } } } }, { openapi: '3.2.0' }); // prettier-ignore
  const headed = (headers: unknown) => form({ a: { headers } });
  // OpenAPI has no headers there.
  const stray = (more: Json) => api({ requestBody: { content: { 'multipart/form-data': { schema: { type: 'object', properties }, headers: { H: { required: true, schema: text } }, ...more } } } }); // prettier-ignore
  const code = 'request-body-encoding';
  run([
    ['a type that is usual', form({}), form({ a: { contentType: 'text/plain' }, list: { contentType: 'text/plain' }, object: { contentType: 'application/json' } }), []], // prettier-ignore
    ['another type', form({}), form({ a: { contentType: 'text/csv' } }), [`breaking ${code}-content-type-changed`]],
    ['a type more', form({ a: { contentType: 'image/png' } }), form({ a: { contentType: 'image/jpeg, image/png' } }), [`safe ${code}-content-type-changed`]], // prettier-ignore
    ['a type less', form({ a: { contentType: 'image/*' } }), form({ a: { contentType: 'image/png' } }), [`breaking ${code}-content-type-changed`]], // prettier-ignore
    ['types in another way', form({ a: { contentType: 'image/png, image/gif' } }), form({ a: { contentType: 'IMAGE/GIF,image/png' } }), []], // prettier-ignore
    ['a type more in answers', given({ a: { contentType: 'image/png' } }), given({ a: { contentType: 'image/*' } }), ['breaking response-body-encoding-content-type-changed']], // prettier-ignore
    ['of what is no property', form({}), form({ b: { contentType: 'text/csv' } }), []],
    ['of a body that has no parts', form({}, 'application/json'), form({ a: { contentType: 'text/csv' } }, 'application/json'), []], // prettier-ignore
    ['a style that is usual', form({}, url), form({ list: { style: 'form', explode: true, allowReserved: false }, a: { style: 'form' } }, url), []], // prettier-ignore
    ['another style', form({}, url), form({ list: { style: 'pipeDelimited' } }, url), [`breaking ${code}-style-changed`]], // prettier-ignore
    ['explode', form({ list: { explode: true } }, url), form({ list: { explode: false } }, url), [`breaking ${code}-style-changed`]], // prettier-ignore
    ['explode of a text', form({}, url), form({ a: { explode: false } }, url), []],
    ['an object in a style instead of JSON', form({}, url), form({ object: { style: 'form' } }, url), [`breaking ${code}-style-changed`]], // prettier-ignore
    ['a type beside a style', form({ list: { style: 'form' } }, url), form({ list: { style: 'form', contentType: 'text/csv' } }, url), []], // prettier-ignore
    ['a style of parts in 3.0', form({}, 'multipart/form-data', '3.0.3'), form({ list: { style: 'pipeDelimited' } }, 'multipart/form-data', '3.0.3'), []], // prettier-ignore
    ['reserved characters', form({}, url), form({ a: { allowReserved: true } }, url), [`safe ${code}-allow-reserved-set`]], // prettier-ignore
    ['no reserved characters', form({ a: { allowReserved: true } }, url), form({}, url), [`breaking ${code}-allow-reserved-unset`]], // prettier-ignore
    ['a header that is required', headed({}), headed({ H: { required: true, schema: text } }), ['breaking request-header-added-as-required']], // prettier-ignore
    ['a header that is optional', headed({}), headed({ H: { schema: text } }), ['safe request-header-added']],
    ['a header of another type', headed({ H: { schema: text } }), headed({ h: { schema: { type: 'integer' } } }), ['breaking request-header-type-narrowed']], // prettier-ignore
    ['a header that is ignored', headed({}), headed({ 'Content-Type': { required: true, schema: text } }), []],
    ['headers of what has no parts', form({}, url), form({ a: { headers: { H: { required: true, schema: text } } } }, url), []], // prettier-ignore
    ['a position', positions({}), positions({ prefixEncoding: [{ contentType: 'text/csv' }] }), [`breaking ${code}-content-type-changed`]], // prettier-ignore
    ['a position as usual', positions({}), positions({ prefixEncoding: [{}], itemEncoding: { contentType: 'application/json' } }), []], // prettier-ignore
    ['the other positions', positions({}), positions({ itemEncoding: { contentType: 'text/csv' } }), [`breaking ${code}-content-type-changed`]], // prettier-ignore
    ['headers of the body, where a part has no encoding', stray({}), stray({ encoding: { a: {} } }), []],
    ['headers that are no map', headed([{ H: { schema: text } }]), headed('none'), []],
    ['an encoding within', form({}), form({ object: { encoding: { a: {} } } }), [`unknown ${code}-changed`]],
  ]);
});

describe('XML', () => {
  const sent = (schema: Json, more: Json = {}, type = 'application/xml') => api({ requestBody: { content: { [type]: { schema } } } }, more); // prettier-ignore
  const property = (xml: Json | null, type?: string) => sent({ type: 'object', properties: { p: { ...text, ...(xml && { xml }) }, l: { type: 'array', items: { ...text, ...(xml && { xml }) } } } }, {}, type); // prettier-ignore
  const component = (xml: Json | null) => sent({ $ref: '#/components/schemas/p' }, { components: { schemas: { p: { type: 'object', ...(xml && { xml }) } } } }); // prettier-ignore
  const usual = { name: 'p', attribute: false, wrapped: false };
  const part = (xml: Json) => ({ 'multipart/form-data': { schema: { properties: { p: { xml } } }, encoding: { p: { contentType: 'text/xml' } } } }); // prettier-ignore
  const old = (xml: Json): Json => ({ swagger: '2.0', info, consumes: ['text/xml'], definitions: { A: { type: 'object', xml } }, paths: { '/a': { post: { parameters: [{ in: 'body', name: 'b', schema: { $ref: '#/definitions/A' } }], responses: ok } } } }); // prettier-ignore
  run([
    ['the usual, written down', property(null), property({ attribute: false, wrapped: false }), []],
    ['the name of a component', component({}), component(usual), []],
    ['another name', component(usual), component({ name: 'q' }), ['breaking request-body-xml-root-changed', 'unknown request-schema-xml-set']], // prettier-ignore
    ['an attribute', component(usual), component({ attribute: true }), ['unknown request-schema-xml-set']],
    ['of a part', api({ requestBody: { content: part({}) } }), api({ requestBody: { content: part({ attribute: true }) } }), ['unknown request-property-xml-set']], // prettier-ignore
    ['of 2.0', old({}), old({ attribute: true }), ['unknown request-schema-xml-set']],
    ...['*/*', 'application/*', 'Application/A+XML; v=1'].map((type): Row => [type, property(null, type), property({ attribute: true }, type), ['unknown request-property-xml-set']]), // prettier-ignore
    ...['application/json', 'text/csv'].map((type): Row => [type, property(null, type), property({ attribute: true }, type), ['docs property-xml-set']]), // prettier-ignore
  ]);
  test('the name of a property', () => {
    expect(toldOf(compare(sent({ properties: { p: text } }), sent({ properties: { p: { ...text, xml: usual } } })))).toEqual([]); // prettier-ignore
    const items = (name: string) => sent({ properties: { p: { type: 'array', items: { ...text, xml: { name } } } } });
    expect(compare(sent({ properties: { p: { type: 'array', items: text } } }), items('p')).verdict).toBe('none');
    expect(compare(items('q'), items('p')).verdict).toBe('unknown');
  });
});

describe('callbacks', () => {
  const of = (all: Json) => api({ callbacks: all });
  const call = { post: { responses: ok } };
  run([
    [
      'another expression is another address',
      of({ done: { '{$request.body#/url}': call } }),
      of({ done: { '{$request.body#/cb}': call } }),
      ['breaking callback-expression-changed'],
    ],
    [
      'another name says nothing',
      of({ done: { '{$request.body#/url}': call } }),
      of({ finished: { '{$request.body#/url}': call } }),
      ['docs callback-renamed'],
    ],
    ['one that is gone', of({ done: { '{$request.body#/url}': call } }), of({}), ['breaking callback-removed']],
    ['one that is new', of({}), of({ done: { '{$request.body#/url}': call } }), ['safe callback-added']],
    [
      'a name may begin with x-',
      of({ 'x-done': { '{$request.body#/url}': call } }),
      of({}),
      ['breaking callback-removed'],
    ],
    ['an address does not', of({ done: { 'x-url': call } }), of({}), ['docs extension-changed']],
  ]);
});

test('a reference to the whole document, as authors mean the schema around it, leads to no schema', () => {
  const schemas = { Filter: { type: 'object', properties: { all: { type: 'array', items: { $recursiveRef: '#' } } } } };
  const [before, after] = [{}, { more: text }].map(
    (more) =>
    taking(ref('Filter'), { components: { schemas: { Filter: { ...schemas.Filter, properties: { ...schemas.Filter.properties, ...more } } } } }), // prettier-ignore
  );
  expect(toldOf(compare(before!, after!))).toEqual(['safe request-property-added']);
});

test('x-webhooks are compared as webhooks, and not as texts, too', () => {
  const [before, after] = ['a', 'b'].map((name) => ({ ...api(), openapi: '3.0.3', 'x-webhooks': { [name]: { post: { responses: ok } } } })); // prettier-ignore
  expect(toldOf(compare(before!, after!)).map((one) => one.split(' ')[1])).toEqual([
    'webhook-removed',
    'webhook-added',
  ]);
});

describe('webhooks', () => {
  const components = { securitySchemes: { a: { type: 'apiKey', in: 'header', name: 'A' }, b: { type: 'http', scheme: 'basic' } } }; // prettier-ignore
  const of = (more: Json) => ({ ...api(), components, webhooks: { done: { post: { responses: ok, ...more } } } });
  const sent = (more: Json | null) => of({ parameters: more ? [{ in: 'header', name: 'H', schema: text, ...more }] : [] }); // prettier-ignore
  const answered = (responses: Json) => of({ responses });
  const headed = (required: boolean | null) =>
    answered({ 204: { description: 'So.', ...(required !== null && { headers: { H: { required, schema: text } } }) } });
  run([
    [
      'a header that was always sent is gone',
      sent({ required: true }),
      sent(null),
      ['breaking response-parameter-removed'],
    ],
    [
      'a name may begin with x-',
      { ...api(), webhooks: { 'x-done': { post: { responses: ok } } } },
      api(),
      ['breaking webhook-removed'],
    ],
    ['a header that was sent sometimes is gone', sent({}), sent(null), ['risky response-parameter-optional-removed']],
    ['a header is sent, too', sent(null), sent({}), ['safe response-parameter-added']],
    ['a header that is always sent', sent(null), sent({ required: true }), ['safe response-parameter-added']],
    ['no credentials are sent any more', of({ security: [{ a: [] }] }), of({}), ['breaking security-removed']],
    ['credentials are sent', of({}), of({ security: [{ a: [] }] }), ['safe security-added']],
    [
      'credentials may be sent, and others',
      of({ security: [{}] }),
      of({ security: [{}, { a: [] }] }),
      ['safe security-alternative-added'],
    ],
    [
      'others may be sent',
      of({ security: [{ a: [] }] }),
      of({ security: [{ a: [] }, { b: [] }] }),
      ['breaking security-alternative-added'],
    ],
    [
      'others are no longer sent',
      of({ security: [{ a: [] }, { b: [] }] }),
      of({ security: [{ a: [] }] }),
      ['safe security-alternative-removed'],
    ],
    [
      'another answer is taken',
      answered(ok),
      answered({ ...ok, 410: { description: 'Gone.' } }),
      ['safe request-other-status-added'],
    ],
    [
      'another success is taken',
      answered(ok),
      answered({ ...ok, 200: { description: 'So.' } }),
      ['safe request-success-status-added'],
    ],
    [
      'an answer is no longer described',
      answered({ ...ok, 410: { description: 'Gone.' } }),
      answered(ok),
      ['risky request-other-status-removed'],
    ],
    [
      'a success is no longer described',
      answered({ ...ok, 200: { description: 'So.' } }),
      answered(ok),
      ['breaking request-success-status-removed'],
    ],
    [
      'any success was taken, and now one',
      answered({ '2XX': { description: 'Done.' } }),
      answered(ok),
      ['breaking request-status-specialized'],
    ],
    ['a header of the answer must be sent', headed(false), headed(true), ['breaking request-header-became-required']],
    ['a header of the answer need not be sent', headed(true), headed(null), ['safe request-header-removed']],
    ['a body is sent', of({}), of({ requestBody: { content: { 'text/plain': {} } } }), ['safe response-body-added']],
    [
      'no body is sent',
      of({ requestBody: { content: { 'text/plain': {} } } }),
      of({}),
      ['breaking response-body-removed'],
    ],
    [
      'a body may be of another type, which nobody asked for',
      of({ requestBody: { content: { 'text/plain': {} } } }),
      of({ requestBody: { content: { 'text/plain': {}, 'text/csv': {} } } }),
      ['breaking response-body-media-type-added'],
    ],
    [
      'a body is no longer of another type',
      of({ requestBody: { content: { 'text/plain': {}, 'text/csv': {} } } }),
      of({ requestBody: { content: { 'text/plain': {} } } }),
      ['safe response-body-media-type-removed'],
    ],
    [
      'a scheme of security that only a callback needs',
      api({ callbacks: { a: { b: { post: { responses: ok, security: [{ a: [] }] } } } } }, { components }),
      api({ callbacks: { a: { b: { post: { responses: ok, security: [{ a: [] }] } } } } }, { components: { securitySchemes: { a: { ...components.securitySchemes.a, name: 'B' } } } }), // prettier-ignore
      ['breaking security-alternative-added', 'safe security-alternative-removed'],
    ],
  ]);
});

describe('from 3.0 to 3.1', () => {
  const old = (schema: Json, make = giving) => ({ ...make(schema), openapi: '3.0.3' });
  const bodies = (version: string, content: Json) => api({ requestBody: { content } }, { openapi: version });
  const specified = 'docs specification-changed';
  const form = (property: Json) => ({ 'multipart/form-data': { schema: { type: 'object', properties: { f: property } } } }); // prettier-ignore
  const binary = { ...text, format: 'binary' };
  run([
    ['byte', old({ ...text, format: 'byte' }), giving({ ...text, contentEncoding: 'base64' }), [specified]],
    ['base64', old({ ...text, format: 'base64' }), giving({ ...text, contentEncoding: 'base64' }), [specified]],
    [
      'byte, taken',
      old({ ...text, format: 'byte' }, taking),
      taking({ ...text, contentEncoding: 'base64' }),
      [specified],
    ],
    ['and back', giving({ ...text, contentEncoding: 'base64' }), old({ ...text, format: 'byte' }), [specified]],
    ['binary', old(binary), giving({ ...text, contentMediaType: 'application/octet-stream' }), [specified]],
    [
      'binary of a form',
      bodies('3.0.3', form(binary)),
      bodies('3.1.0', form({ contentMediaType: 'application/octet-stream' })),
      [specified],
    ],
    ['binary of a form without a word', bodies('3.0.3', form(binary)), bodies('3.1.0', form({})), [specified]],
    [
      'a binary body',
      bodies('3.0.3', { 'image/png': { schema: binary } }),
      bodies('3.1.0', { 'image/png': {} }),
      [specified],
    ],
    [
      'a body that may be anything in JSON',
      old({ properties: { a: binary } }),
      giving({ properties: { a: {} } }),
      [specified, 'breaking response-property-type-unset', 'breaking response-property-format-unset'],
    ],
    ['a text is not bytes', giving({ ...text, format: 'byte' }), giving(text), ['breaking response-body-format-unset']],
  ]);
});

test('since 3.1, a description beside a reference counts, for each that refers', () => {
  const document = (first: string, second: string, version = '3.1.0') => {
    const of = (description: string) => ({ get: { parameters: [{ $ref: '#/components/parameters/Q', description }], responses: { 200: { $ref: '#/components/responses/R', description } } } });
    const components = { parameters: { Q: { name: 'q', in: 'query', description: 'Q', schema: { type: 'string' } } }, responses: { R: { description: 'R' } } };
    return { openapi: version, info: { title: 'a', version: '1' }, paths: { '/a': of(first), '/b': of(second) }, components };
  };
  const changed = toldOf(compare(document('one', 'same'), document('two', 'same')));
  expect(changed).toEqual(['docs parameter-description-changed', 'docs response-description-changed']);
  expect(toldOf(compare(document('same', 'one'), document('same', 'two')))).toEqual(changed);
  expect(toldOf(compare(document('one', 'same', '3.0.3'), document('two', 'same', '3.0.3')))).toEqual([]);
}); // prettier-ignore

test.each([['csv', 'csvx'], [undefined, 'odd'], ['ssv', 'odd']])('an unknown collectionFormat is another one: %s, %s', (from, to) => {
  const document = (collectionFormat: string | undefined) => ({
    swagger: '2.0', info: { title: 'a', version: '1' },
    paths: { '/a': { get: { parameters: [{ name: 'a', in: 'query', type: 'array', items: { type: 'string' }, ...(collectionFormat && { collectionFormat }) }], responses: { 200: { description: 'D' } } } } },
  });
  expect(compare(document(from), document(to)).verdict).not.toBe('none');
  expect(compare(document(undefined), document('csv')).verdict).toBe('none');
}); // prettier-ignore

describe('what editors read, and how a dialect is written', () => {
  const seven = (more: Json, $schema = 'http://json-schema.org/draft-07/schema#'): Json => ({ $schema, ...more });
  const part = (more: Json) => seven({ properties: { a: { ...text, ...more } } });
  test.each([
    ['markdownDescription', 'A *name*'],
    ['markdownEnumDescriptions', ['one']],
    ['defaultSnippets', [{ body: 'x' }]],
    ['errorMessage', 'Not so.'],
    ['allowTrailingCommas', true],
  ])('%s is for people', (keyword, value) => {
    for (const both of [
      [part({}), part({ [keyword]: value })],
      [part({ [keyword]: value }), part({})],
    ] as const)
      expect(compare(...both, 'json-schema').verdict).toBe('docs');
  });
  test('a schema in it that states the same dialect is the same', () => {
    const $schema = 'http://json-schema.org/draft-07/schema';
    expect(toldOf(compare(part({}), part({ $schema }), 'json-schema'))).toEqual([]);
    expect(toldOf(compare(seven({}), seven({}, $schema), 'json-schema'))).toEqual([]);
    const another = 'http://json-schema.org/draft-04/schema#';
    expect(compare(part({}), part({ $schema: another }), 'json-schema').verdict).toBe('unknown');
  });
});

describe('names beside patterns', () => {
  const open = (names: string[], pattern: string, more: Json = { additionalProperties: false }) => ({
    patternProperties: { [pattern]: text },
    properties: Object.fromEntries(names.map((name) => [name, text])),
    ...more,
  });
  test.each([
    ['^x-', 'a', 'breaking property-removed'],
    ['^[b-z]', 'a', 'breaking property-removed'],
    ['^[a-z]+$', 'a', 'unknown property-removed'],
    ['^(?:x|y)', 'a', 'unknown property-removed'],
    ['(', 'a', 'unknown property-removed'],
    ['[z-a]', 'a', 'unknown property-removed'],
    ['^x{2,1}', 'a', 'unknown property-removed'],
    ['^.$', '\u{1f600}', 'unknown property-removed'],
    ['a*a*a*a*a*b', 'aaaaaaaa', 'unknown property-removed'],
  ])('the pattern %s and the name %s', (pattern, name, said) => {
    const [before, after] = [open(['id', name], pattern), open(['id'], pattern)];
    expect(toldOf(compare(before, after, 'json-schema'))).toEqual([said]);
    const added = said.startsWith('breaking') ? 'risky property-added' : 'unknown property-added';
    expect(toldOf(compare(after, before, 'json-schema'))).toEqual([added]);
  });
  test.each([
    ['^[ab]$', 'b', 'unknown'],
    ['^a', '^ab', 'unknown'],
    ['^x-', '^y-', 'safe'],
    ['^ab*', '^ac', 'unknown'],
    ['^b|c', '^ac', 'unknown'],
  ])('beside the pattern %s, %s may restrict what it matches, too: %s', (pattern, more, verdict) => {
    const [before, after] = [[], [more]].map((names) => ({
      additionalProperties: false,
      patternProperties: { [pattern]: {}, ...Object.fromEntries(names.map((name) => [name, text])) },
    }));
    expect(compare(taking(before), taking(after)).verdict).toBe(verdict);
  });

  test('a name that no pattern has may be added where others are allowed', () => {
    const [before, after] = [open(['id'], '^x-', {}), open(['id', 'a'], '^x-', {})];
    expect(toldOf(compare(before, after, 'json-schema'))).toEqual(['safe property-added']);
    expect(compare(before, after, 'json-schema').verdict).toBe('safe');
  });
});

describe('words in allOf beside a reference', () => {
  const said = (description: string, own: string, more: Json = {}) => {
    const part = { allOf: [{ $ref: '#/components/schemas/Arn' }, { description: own, ...more }] };
    const rest = { components: { schemas: { Arn: { ...text, description } } } };
    return giving({ type: 'object', properties: { arn: part } }, rest);
  };
  const changed = 'docs property-description-changed';
  run([
    ['their own', said('A', 'B'), said('A', 'C'), [changed]],
    ["the component's", said('A', 'B'), said('C', 'B'), [changed]],
    ["the component's, where more than words is beside", said('A', 'B', { pattern: '^a' }), said('C', 'B', { pattern: '^a' }), []], // prettier-ignore
  ]);
});

test('words of each component that allOf joins count', () => {
  const joined = (description: string) =>
    giving(
      { allOf: [{ $ref: '#/components/schemas/One' }, { $ref: '#/components/schemas/Other' }] },
      { components: { schemas: { One: { description: 'A' }, Other: { description } } } },
    );
  expect(toldOf(compare(joined('B'), joined('C')))).toEqual(['docs body-description-changed']);
});

describe('words of a property that the schema it extends has, too', () => {
  const rest = { components: { schemas: { Base: { properties: { type: { ...text, description: 'A' } } } } } };
  const said = (description: string) =>
    giving(
      { allOf: [{ $ref: '#/components/schemas/Base' }, { properties: { type: { ...text, description } } }] },
      rest,
    );
  run([['its own description', said('B'), said('C'), ['docs property-description-changed']]]);
});

test('a schema of which operations use only a part counts for what else it has', () => {
  const used = (type: string, part = 'string') =>
    giving(
      { $ref: '#/components/schemas/Pet/properties/name' },
      { components: { schemas: { Pet: { properties: { name: { type: part }, age: { type } } } } } },
    );
  expect(toldOf(compare(used('string'), used('integer')))).toEqual(['risky property-type-changed']);
  expect(toldOf(compare(used('string'), used('string', 'integer')))).toEqual([
    'breaking response-property-type-changed',
  ]);
});

describe('a schema that no operation uses and that extends one of theirs', () => {
  const Base = { properties: { id: text } };
  const extended = (type: string, more: Json = {}) => {
    const Sub = { allOf: [{ $ref: '#/components/schemas/Base' }], properties: { a: { type } } };
    return giving(
      { $ref: '#/components/schemas/Base' },
      { components: { schemas: { Base: { ...Base, ...more }, Sub } } },
    );
  };
  const told = { discriminator: { propertyName: 'id' } };
  run([
    ['is told', extended('string'), extended('integer'), ['risky property-type-changed']],
    ['breaks where a discriminator reaches it', extended('string', told), extended('integer', told), ['breaking response-property-type-changed']], // prettier-ignore
  ]);
});

describe('types that contradict each other are a slip, and what stands beside them counts', () => {
  const slip = (values: string[], more: Json = {}, type: unknown = 'object') =>
    taking({ properties: { p: { type, oneOf: [{ type: 'string', enum: values }, { type: 'null' }], ...more } } });
  const either: unknown = ['object', 'null'];
  run([
    ['its description', slip(['a']), slip(['a'], { description: 'A' }), ['docs property-description-changed']],
    ['values of its branch', slip(['a', 'b']), slip(['a']), ['breaking request-property-enum-value-removed']],
    ['values beside null', slip(['a', 'b'], {}, either), slip(['a'], {}, either), ['breaking request-property-enum-value-removed']], // prettier-ignore
    ['another slip', slip(['a']), slip(['a'], {}, 'boolean'), ['unknown request-property-type-changed']],
    ['null alone is none', taking({ type: 'null', minLength: 1 }), taking({ type: 'null', minLength: 2 }), []],
  ]);
});

describe('x-extensible-enum', () => {
  const listing = (more: Json = {}) => ({ properties: { p: { ...text, ...more } } });
  const [none, list] = [listing(), listing({ 'x-extensible-enum': ['a', 'b'] })];
  const beside = (values: string[]) => taking(listing({ enum: ['a'], 'x-extensible-enum': values }));
  run([
    ['comes in a request', taking(none), taking(list), ['breaking request-property-extensible-enum-set']],
    ['goes in a request', taking(list), taking(none), ['safe request-property-extensible-enum-unset']],
    ['comes in an answer', giving(none), giving(list), ['safe response-property-extensible-enum-set']],
    ['goes in an answer', giving(list), giving(none), ['safe response-property-extensible-enum-unset']],
    ['changes beside an enum', beside(['a']), beside(['b']), ['docs property-extension-changed']],
  ]);
});

describe('definitions within a definition', () => {
  const bundle = (values: string[]) => ({
    properties: { a: { $ref: '#/definitions/base' } },
    definitions: { base: { type: 'string', definitions: { zone: { type: 'string', enum: values } } } },
  });
  test('count, also where nothing refers to them', () => {
    expect(toldOf(compare(bundle(['a', 'b']), bundle(['a']), 'json-schema'))).toEqual([
      'breaking schema-enum-value-removed',
    ]);
    const { definitions: _, ...base } = bundle(['a']).definitions.base;
    const after = { ...bundle(['a']), definitions: { base } };
    expect(toldOf(compare(bundle(['a']), after, 'json-schema'))).toEqual(['risky definition-removed']);
  });
});

test('a listed value that is not of the type beside it is a slip, and counts', () => {
  const listed = (...values: unknown[]) => taking({ properties: { p: { ...text, enum: values } } });
  expect(toldOf(compare(listed(1, 2, 'INFINITY'), listed(1, 'INFINITY')))).toEqual([
    'risky request-property-refused-enum-value-removed',
  ]);
  const part = (...values: unknown[]) => taking({ properties: { p: { allOf: [text, { enum: values }] } } });
  expect(toldOf(compare(part(1, 'a'), part('a')))).toEqual([]);
});
