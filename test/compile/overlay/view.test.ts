/* oxlint-disable unicorn/no-thenable -- `then` is a keyword of JSON Schema */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keepAudience } from '../../../src/compile/overlay/audience.ts';
import { runCompile } from '../../../src/compile/run.ts';
import type { View } from '../../../src/model/artifact.ts';
import { timesAsMany } from '../../sample.ts';
import { limits } from '../limits.ts';
import { giveOnce } from '../run.ts';

const ok = { 200: { description: 'Done.' } };
const giving = (ref: string) => ({
  200: { description: 'D', content: { 'application/json': { schema: { $ref: ref } } } },
});
const info = { title: 'Pay', version: '1.0.0' };

/** What is published of these files, the first of which is the document. */
async function publishedAs(files: Record<string, unknown>, view: View) {
  const entry = Object.keys(files)[0]!;
  const texts = Object.entries(files).map(
    ([path, text]) => [path, typeof text === 'string' ? text : JSON.stringify(text)] as const,
  );
  const { artifact, report } = await runCompile(
    { type: 'apis', entry, validation: 'strict', ruleset: null, limits, view },
    giveOnce(Object.fromEntries(texts)),
  );
  const textOf = (format: string) =>
    Buffer.from(
      artifact?.representations.find((each) => each.format === format && each.coding === 'identity')?.bytes ?? [],
    ).toString();
  const json = textOf('json');
  return {
    value: (json === '' ? null : JSON.parse(json)) as Record<string, never>,
    yaml: textOf('yaml'),
    removed: artifact?.removed ?? [],
    problems: report.problems
      .filter(({ rule }) => !/^(?:operation|info|tag|license|server|unused)/.test(rule))
      .map(({ rule, severity, message, file, line }) => `${severity} ${rule} ${file}:${line} ${message}`),
  };
}

const overlay = (...actions: object[]) => ({ overlay: '1.0.0', info: { title: 'T', version: '1' }, actions });
const audience = { overlays: [], audience: 'public' };

test('overlays are applied in order, before references are followed', async () => {
  const files = {
    'api.yaml':
      'openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0 }\npaths:\n  /a:\n    get: { responses: { 200: { description: Done. } } }\n  /b:\n    get: { $ref: missing.yaml }\n',
    'a.json': overlay({ target: '$.paths["/b"]', remove: true }),
    'b.json': overlay(
      { target: '$.paths["/a"].get.responses', update: { 404: { $ref: 'more.yaml#/gone' } } },
      { target: '$.paths["/b"]', remove: true },
    ),
    'more.yaml': 'gone: { description: Gone. }',
  };
  const { value, yaml, removed, problems } = await publishedAs(files, {
    overlays: ['a.json', 'b.json'],
    audience: null,
  });
  expect(value['paths']).toEqual({
    '/a': { get: { responses: { 200: { description: 'Done.' }, 404: expect.anything() } } },
  });
  expect(JSON.stringify(value)).toContain('Gone.');
  expect(yaml).toMatch(/^openapi: "3\.1\.0"\ninfo:\n {2}title: Pay\n/);
  expect(removed).toEqual(['GET /b']);
  expect(problems).toEqual([
    expect.stringMatching(/^warning overlay-unmatched b\.json:1 actions\[1\] matches nothing/),
    expect.stringMatching(/^info overlay-removed api\.yaml:1 .* leave out 1 operation of the document/),
  ]);
});

test('an overlay that is none, that is missing, or that cannot be applied rejects the document', async () => {
  const api = { openapi: '3.1.0', info, paths: {} };
  const problemsOf = async (second?: unknown) =>
    (
      await publishedAs(
        { 'api.json': api, ...(second !== undefined && { 'o.json': second }) },
        { overlays: ['o.json'], audience: null },
      )
    ).problems.join();
  expect(await problemsOf()).toContain('error file-missing o.json:1');
  expect(await problemsOf(api)).toContain('is not an OpenAPI Overlay');
  expect(await problemsOf(overlay())).toContain('at least one action');
  expect(await problemsOf(overlay({ target: '$', remove: true }))).toContain('removes the whole document');
  expect(await problemsOf(overlay({ target: '$', update: { paths: 5 } }))).toMatch(
    /error (?:schema|struct) api\.json:1/,
  );
});

test('a file is read wherever a view names it, also the document and one overlay twice', async () => {
  const of = (example: object, overlays: string[], named: string | null) => {
    const post = {
      requestBody: { content: { 'application/json': { schema: { type: 'string' }, examples: { example } } } },
    };
    const api = { openapi: '3.1.0', info, tags: [], paths: { '/a': { post: { ...post, responses: ok } } } };
    const again = overlay({ target: '$.tags', update: { name: 'more' } });
    return publishedAs({ 'api.json': api, 'again.json': again }, { overlays, audience: named });
  };
  const fine = { value: 'text' };
  expect((await of(fine, ['api.json'], null)).problems.join()).toContain('is not an OpenAPI Overlay');
  expect((await of(fine, ['again.json', 'again.json'], null)).value['tags']).toHaveLength(2);
  for (const named of [null, 'public'])
    expect(await of({ externalValue: 'again.json' }, ['again.json'], named)).toMatchObject({
      value: {
        paths: {
          '/a': {
            post: {
              requestBody: {
                content: { 'application/json': { examples: { example: { value: { overlay: '1.0.0' } } } } },
              },
            },
          },
        },
      },
      problems: [],
    });
});

test('an audience gets what is not marked for others, and nothing that only that used', async () => {
  const document = {
    openapi: '3.1.0',
    info: { ...info, 'x-audience': 'company' },
    tags: [{ name: 'a' }, { name: 'admin' }, { name: 'unused' }],
    paths: {
      '/a': {
        parameters: [{ name: 'debug', in: 'query', 'x-internal': true, schema: { type: 'string' } }],
        get: { tags: ['a'], responses: giving('#/components/schemas/Open') },
        delete: {
          tags: ['admin'],
          'x-internal': true,
          security: [{ root: [] }],
          responses: giving('#/components/schemas/Secret'),
        },
      },
      '/admin': { post: { 'x-audience': ['company', 'partner'], responses: ok } },
      '/shared': { $ref: 'more.json#/item' },
      '/all': { get: { 'x-audience': ['public', 'partner'], 'x-internal': false, responses: ok } },
    },
    webhooks: {
      gone: { post: { 'x-internal': true, responses: ok } },
      'x-gone': { post: { 'x-internal': true, responses: ok } },
    },
    components: {
      securitySchemes: { root: { type: 'http', scheme: 'basic' } },
      schemas: {
        Open: {
          type: 'object',
          required: ['id', 'margin', 'deep'],
          properties: {
            id: { type: 'string', example: { 'x-internal': true } },
            margin: { type: 'number', 'x-internal': true },
            deep: { $ref: '#/components/schemas/Marked' },
            'x-internal': { type: 'boolean' },
          },
        },
        Marked: { type: 'object', 'x-internal': true, properties: { inner: { $ref: '#/components/schemas/Inner' } } },
        Inner: { type: 'string' },
        Secret: { type: 'object', properties: { next: { $ref: '#/components/schemas/Secret' } } },
        Never: { type: 'string' },
      },
    },
  };
  const more = { item: { get: { 'x-internal': true, responses: ok }, put: { responses: ok } } };
  const { value, removed } = await publishedAs({ 'api.json': document, 'more.json': more }, audience);
  const { paths, components, tags } = value as unknown as typeof document & { webhooks?: object };
  expect(JSON.stringify(Object.entries(paths).map(([path, item]) => [path, Object.keys(item)]))).toBe(
    '[["/a",["parameters","get"]],["/shared",["put"]],["/all",["get"]]]',
  );
  expect(paths['/a'].parameters).toEqual([]);
  expect(Object.keys(components.schemas)).toEqual(['Open', 'Never']);
  expect(components.schemas.Open.required).toEqual(['id']);
  expect(Object.keys(components.schemas.Open.properties)).toEqual(['id', 'x-internal']);
  expect(Object.keys(components.securitySchemes)).toEqual([]);
  expect([tags.map(({ name }) => name), value['webhooks']]).toEqual([['a', 'unused'], {}]);
  expect(removed.sort()).toEqual([
    'DELETE /a',
    'GET /shared',
    'POST /admin',
    'WEBHOOK POST gone',
    'WEBHOOK POST x-gone',
  ]);
  expect(
    Object.keys(
      (await publishedAs({ 'api.json': document, 'more.json': more }, { overlays: [], audience: 'internal' })).value[
        'paths'
      ] ?? {},
    ),
  ).toEqual(['/a', '/shared']);
});

test('what only hidden operations use goes too where its name is percent-encoded in references', async () => {
  const answering = (ref: string) => ({ 200: { description: 'D', schema: { $ref: ref } } });
  const document = {
    swagger: '2.0',
    info,
    paths: {
      '/hidden': { get: { 'x-internal': true, responses: answering('#/definitions/Page%C2%ABSecret%C2%BB') } },
      '/tilde': { get: { 'x-internal': true, responses: answering('#/definitions/a~b') } },
      '/both': { get: { 'x-internal': true, responses: answering('#/definitions/Page«Pet»') } },
      '/open': { get: { responses: answering('#/definitions/Page%C2%ABPet%C2%BB') } },
    },
    definitions: { 'Page«Secret»': { type: 'object' }, 'a~b': { type: 'object' }, 'Page«Pet»': { type: 'object' } },
  };
  const { value, problems } = await publishedAs({ 'api.json': document }, audience);
  expect(problems).toEqual([
    'info overlay-removed api.json:1 Overlays and the audience leave out 3 operations of the document.',
  ]);
  expect(Object.keys(value['definitions']!)).toEqual(['Page«Pet»']);
});

test('problems of the result are shown at their place in the file', async () => {
  const text =
    'openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0 }\npaths:\n  /a:\n    get: { responses: {} , x-internal: true }\n  /b:\n    get:\n      responses: { 200: {} }\n';
  const { problems } = await publishedAs({ 'api.yaml': text }, audience);
  expect(problems.filter((one) => one.startsWith('error')).join()).toMatch(/api\.yaml:8/);
});

test('a part that the view leaves out is not quoted where it cannot be read', async () => {
  const [head, tail] = [
    'openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0 }\npaths:\n',
    '    get: { x-internal: true }\n',
  ];
  const broken = { 'api.yaml': `${head}  /topsecret: { get: "topsecret\n  /topsecret:\n${tail}` };
  const unread = { 'api.yaml': `${head}${tail.replace('get', '  /topsecret')}`, 'o.json': '{"topsecret": topsecret}' };
  for (const [files, view] of [
    [broken, audience],
    [unread, { overlays: ['o.json'], audience: null }],
  ] as [Record<string, string>, View][]) {
    const { problems } = await publishedAs(files, view);
    expect(problems.join()).toMatch(/The file fails the check/);
    expect(problems.join()).not.toContain('topsecret');
  }
});

test.each([['yes'], ['true'], ['false'], ['no'], [1], [0], [null], [[]], [{}]])(
  'x-internal: %j excludes, and the check says that it cannot be read',
  async (mark) => {
    const get = { 'x-internal': mark, operationId: 'hidden', responses: ok };
    const document = { openapi: '3.1.0', info, paths: { '/a': { get, put: { responses: ok } } } };
    const { value, problems } = await publishedAs({ 'api.json': document }, audience);
    expect(Object.keys(value['paths']!['/a'])).toEqual(['put']);
    expect(problems[0]).toMatch(/^warning audience api\.json:1 1 mark of the document cannot be read/);
    expect(problems.join()).not.toContain('hidden');
    const kept = await publishedAs({ 'api.json': document }, { overlays: [], audience: 'internal' });
    expect(Object.keys(kept.value['paths']!['/a'])).toEqual(['get', 'put']);
  },
);

test.each([[null], [1], [true], [{}], [{ public: true }], [[]], [[['public']]], [''], ['Public'], ['public, partner']])(
  'x-audience: %j does not name the audience',
  async (mark) => {
    const get = { 'x-audience': mark, responses: ok };
    const document = { openapi: '3.1.0', info, paths: { '/a': { get, put: { responses: ok } } } };
    const { value, problems } = await publishedAs({ 'api.json': document }, audience);
    expect(Object.keys(value['paths']!['/a'])).toEqual(['put']);
    const isText = typeof mark === 'string' || JSON.stringify(mark) === '[]';
    expect(problems.filter((problem) => problem.startsWith('warning audience'))).toHaveLength(isText ? 0 : 1);
  },
);

test('data of examples is left alone, and so are names that look like marks', async () => {
  const marked = [{ 'x-internal': true, id: 1 }, { 'x-audience': 'x' }];
  const schema = {
    type: 'object',
    properties: { 'x-internal': { type: 'string' }, 'x-audience': { type: 'string' } },
    examples: marked,
    example: marked[0],
    default: marked[1],
  };
  const media = { schema, examples: { one: { value: marked } } };
  const document = {
    openapi: '3.1.0',
    info,
    paths: { '/a': { get: { responses: { 200: { description: 'D', content: { 'application/json': media } } } } } },
  };
  const { value } = await publishedAs({ 'api.json': document }, audience);
  expect(JSON.parse(JSON.stringify(value['paths'])) as unknown).toEqual(document.paths);
  const old = {
    swagger: '2.0',
    info,
    paths: { '/a': { get: { responses: { 200: { description: 'D', examples: { 'application/json': marked[0] } } } } } },
  };
  expect((await publishedAs({ 'api.json': old }, audience)).value['paths']).toEqual(old.paths);
});

test('nothing that is gone is named in what is left', async () => {
  const internal = { 'x-internal': true };
  const goneProperties = { 'gone-property': { type: 'string', ...internal }, kept: { type: 'string' } };
  const media = (schema: object, more = {}) => ({ 'multipart/form-data': { schema, ...more } });
  const links = {
    byId: { operationId: 'gone-operation' },
    byPlace: { operationRef: '#/paths/~1gone-path/get' },
    kept: { operationId: 'kept' },
  };
  const document = {
    openapi: '3.2.0',
    info,
    tags: [{ name: 'gone-tag', ...internal }, { name: 'kept', parent: 'gone-tag' }, { name: 'gone-unused-tag' }],
    'x-tagGroups': [
      { name: 'All', tags: ['kept', 'gone-tag'] },
      { name: 'gone-group', tags: ['gone-unused-tag'] },
    ],
    security: [{ 'gone-scheme': [] }, { kept: [] }],
    paths: {
      '/gone-path': { get: { operationId: 'gone-operation', ...internal, tags: ['gone-unused-tag'], responses: ok } },
      '/a': {
        post: {
          operationId: 'kept',
          tags: ['gone-tag', 'kept'],
          security: [{ kept: [], 'gone-scheme': [] }, { kept: [] }],
          requestBody: {
            content: media(
              { $ref: '#/components/schemas/Own' },
              { encoding: { 'gone-property': { contentType: 'text/plain' }, kept: { contentType: 'text/plain' } } },
            ),
          },
          responses: {
            200: {
              description: 'D',
              headers: { 'gone-header': { schema: { type: 'string' }, ...internal } },
              content: media({ $ref: '#/components/schemas/Union' }),
              links,
            },
          },
        },
      },
    },
    components: {
      securitySchemes: {
        'gone-scheme': { type: 'http', scheme: 'basic', ...internal },
        kept: { type: 'http', scheme: 'bearer' },
      },
      schemas: {
        Own: {
          type: 'object',
          properties: goneProperties,
          required: ['gone-property', 'kept'],
          dependentRequired: { 'gone-property': ['kept'], kept: ['gone-property'] },
          dependentSchemas: { 'gone-property': { type: 'object' } },
        },
        Part: { type: 'object', properties: goneProperties },
        Whole: {
          allOf: [
            { $ref: '#/components/schemas/Part' },
            { required: ['gone-property', 'kept'] },
            { not: { required: ['gone-property'] }, else: { dependentRequired: { kept: ['gone-property', 'kept'] } } },
          ],
          discriminator: { propertyName: 'gone-property' },
        },
        'gone-schema': { type: 'object', ...internal },
        Union: {
          oneOf: [
            { $ref: '#/components/schemas/Whole' },
            { $ref: '#/components/schemas/Own' },
            { $ref: '#/components/schemas/gone-schema' },
          ],
          discriminator: {
            propertyName: 'kept',
            mapping: { 'gone-value': '#/components/schemas/gone-schema', w: 'Whole' },
            defaultMapping: 'gone-schema',
          },
        },
      },
    },
  };
  const { value, yaml, problems } = await publishedAs({ 'api.json': document }, audience);
  expect(JSON.stringify(value).match(/.{40}gone.{20}/g) ?? []).toEqual([]);
  expect(yaml + problems.join()).not.toContain('gone');
  const post = (value['paths'] as unknown as typeof document.paths)['/a'].post;
  expect([post.security, post.tags, value['security']]).toEqual([[{ kept: [] }], ['kept'], [{ kept: [] }]]);
  expect(Object.keys(post.responses[200].links)).toEqual(['kept']);
  const { Whole, Own } = (value['components'] as unknown as typeof document.components).schemas;
  expect([Whole.allOf[1], Own.required]).toEqual([{ required: ['kept'] }, ['kept']]);
});

const marked = { type: 'string', 'x-internal': true };
const lacking = { type: 'object', properties: { secretA: marked, b: { type: 'string' } } };
const within = { type: 'object', properties: { o: lacking, k: { type: 'string' } } };
const inO = (said: object) => ({ properties: { o: said } });
const secretOnly = { properties: { secretA: { const: 1 } } };
const needing = { required: ['secretA'] };
const part = (schema: object, schemas: object = {}) => ({ taken: schema, components: { schemas } });
const two = { type: 'object', properties: { b: { type: 'string' } } };
test.each<[where: string, parts: { taken?: object; more?: object; components?: object }]>([
  ['a condition', part({ ...lacking, if: secretOnly, then: { required: ['b'] } })],
  ['what follows from one', part({ ...lacking, if: { required: ['b'] }, then: secretOnly })],
  ['an exclusion', part({ ...lacking, not: secretOnly })],
  ['a dependent schema', part({ ...lacking, dependentSchemas: { b: secretOnly } })],
  [
    'an alternative within the schema',
    part({ ...lacking, oneOf: [secretOnly, { properties: { b: { const: 'x' } } }] }),
  ],
  ['another schema of a member', part({ allOf: [within, inO(needing)] })],
  ['a condition of a member', part({ ...within, if: inO(secretOnly), then: { required: ['k'] } })],
  ['what is demanded of a member', part({ ...within, if: { required: ['k'] }, then: inO(needing) })],
  ['an exclusion of a member', part({ ...within, not: inO(needing) })],
  ['another schema of items', part({ allOf: [{ type: 'array', items: lacking }, { items: needing }] })],
  ['what some item is', part({ type: 'array', items: lacking, contains: needing })],
  ['a reference by anchor', part({ ...two, properties: { ...two.properties, c: { $ref: '#secretOne' } } }, { Secret: { ...marked, $anchor: 'secretOne' } })], // prettier-ignore
  ['a dynamic reference', part({ ...two, properties: { ...two.properties, c: { $dynamicRef: '#secretOne' } } }, { Secret: { ...marked, $dynamicAnchor: 'secretOne' } })], // prettier-ignore
  ['a reference into it', part({ ...two, properties: { ...two.properties, c: { $ref: '#/components/schemas/Secret/properties/x' } } }, { Secret: { ...marked, properties: { x: true } } })], // prettier-ignore
  ['an address in security', { more: { security: [{ '#/components/securitySchemes/secretKey': [] }, { 'https://a.example/api#/components/securitySchemes/secretKey': [] }, { b: [] }] }, components: { securitySchemes: { secretKey: { type: 'http', scheme: 'basic', 'x-internal': true }, b: { type: 'http', scheme: 'bearer' } } } }], // prettier-ignore
  ['the URL of a server', { more: { servers: [{ url: 'https://{secretVar}.a.example', variables: { secretVar: { default: 'x', 'x-internal': true } } }, { url: 'https://{b}.a.example', variables: { b: { default: 'x' } } }] } }], // prettier-ignore
])('nothing that is gone is named in %s', async (_, { taken, more, components }) => {
  const requestBody = { content: { 'application/json': { schema: taken ?? two } } };
  const paths = { '/a': { post: { requestBody, responses: ok } } };
  const api = { openapi: '3.2.0', info, ...more, components, paths };
  const { value, yaml, problems } = await publishedAs({ 'api.json': api }, audience);
  expect(JSON.stringify(value)).toContain('"b"');
  expect([JSON.stringify(value), yaml, ...problems].join()).not.toMatch(/secret/i);
});

test('what needs a security scheme that is left out is not published as open to all', async () => {
  const document = {
    openapi: '3.1.0',
    info,
    paths: { '/a': { get: { security: [{ secret: [] }], responses: ok } } },
    components: { securitySchemes: { secret: { type: 'http', scheme: 'basic', 'x-internal': true } } },
  };
  const { value, problems } = await publishedAs({ 'api.json': document }, audience);
  expect(value).toBeNull();
  expect(problems).toEqual([
    expect.stringMatching(/^error audience api\.json:1 .* accepts only security schemes that are left out/),
  ]);
});

test('nothing that is gone is named in expressions of callbacks and links, nor in extensions', async () => {
  const internal = { 'x-internal': true };
  const text = { type: 'string' };
  const media = (schema: object) => ({ 'application/json': { schema } });
  const item = { post: { responses: ok } };
  const document = {
    openapi: '3.1.0',
    info,
    'x-routes': [{ path: '/gone-path', target: 'a' }],
    'x-kept': ['/a', 'kept', 'Order'],
    tags: [{ name: 'gone-tag', ...internal }],
    paths: {
      'x-order': ['/a', '/gone-path'],
      '/gone-path': { get: { operationId: 'goneOperation', ...internal, responses: ok } },
      '/a': {
        post: {
          'x-calls': 'See goneOperation, and kept.',
          parameters: [{ name: 'gone-query', in: 'query', schema: text, ...internal }],
          requestBody: { content: media({ $ref: '#/components/schemas/Order' }) },
          responses: {
            200: {
              description: 'D',
              content: media({ $ref: '#/components/schemas/Order' }),
              links: {
                all: {
                  operationId: 'kept',
                  parameters: { id: '$response.body#/shared', 'gone-query': '1', kept: '$response.body#/kept' },
                  requestBody: '$response.body#/goneInside/a',
                },
              },
            },
          },
          callbacks: {
            done: {
              '{$request.body#/shared}/x': item,
              '{$request.query.gone-query}': item,
              '{$request.body#/kept}?id={$request.body#/goneInside}': item,
              '{$request.body#/kept}': item,
            },
            all: { '{$request.body#/shared}': item },
          },
        },
        get: { operationId: 'kept', responses: ok, 'x-sort': { by: { goneInside: 'asc' } } },
      },
    },
    components: {
      schemas: {
        Order: {
          type: 'object',
          'x-order': ['goneInside', 'kept'],
          'x-kept': { kept: 1 },
          properties: { shared: { ...text, ...internal }, goneInside: { type: 'object', ...internal }, kept: text, 'x-name': text },
        },
        Other: { type: 'object', properties: { shared: text } },
      },
    },
  };
  const { value, yaml } = await publishedAs({ 'api.json': document }, audience);
  expect(yaml.match(/.*gone.*/g) ?? []).toEqual([]);
  const left = value as unknown as typeof document;
  const { post } = left.paths['/a'];
  expect(post.callbacks).toEqual({ done: { '{$request.body#/kept}': item } });
  expect(post.responses[200].links.all).toEqual({ operationId: 'kept', parameters: { kept: '$response.body#/kept' } });
  expect([left['x-kept'], left.components.schemas.Order['x-kept']]).toEqual([['/a', 'kept', 'Order'], { kept: 1 }]);
  expect(Object.keys(left.components.schemas.Order.properties)).toEqual(['kept', 'x-name']);
}); // prettier-ignore

test('a default, a constant or a listed value keeps no member that is gone, however it is reached', async () => {
  const secret = { id: 'a', gone: 'SECRET', kept: 1 };
  const a = {
    type: 'object',
    properties: { id: { type: 'string' }, gone: { type: 'string', 'x-internal': true }, kept: {} },
    default: secret,
    propertyNames: { enum: ['id', 'gone', 'kept'] },
    enum: [secret, { id: 'b' }, { id: 'a', kept: 1 }],
  };
  const reference = { $ref: '#/components/schemas/A' };
  const around = {
    type: 'object',
    properties: { one: reference, many: { type: 'array', items: { allOf: [reference, { const: secret }] } }, few: reference }, // prettier-ignore
    additionalProperties: reference,
    default: { one: secret, many: [secret], other: secret, gone: 'mine' },
    if: { properties: { one: { const: secret }, few: { $ref: '#/components/schemas/Few' } } },
    not: { properties: { many: { items: { enum: [secret] } } } },
    dependentSchemas: { one: { default: { one: secret } } },
  };
  const media = { 'application/json': { schema: { $ref: '#/components/schemas/Around' } } };
  const paths = { '/a': { get: { responses: { 200: { description: 'D', content: media } } } } };
  const document = {
    openapi: '3.1.0',
    info,
    paths,
    components: { schemas: { A: a, Around: around, Few: { enum: [secret] } } },
  };
  const { value, yaml } = await publishedAs({ 'api.json': document }, audience);
  expect(yaml).not.toContain('SECRET');
  expect(yaml.match(/gone/g)).toHaveLength(1);
  const left = { id: 'a', kept: 1 };
  expect(value['components']).toMatchObject({
    schemas: {
      A: { default: left, enum: [left, { id: 'b' }] },
      Around: { default: { one: left, many: [left], other: left, gone: 'mine' } },
    },
  });
});

test.each(['by mapping', 'by name', 'by allOf'])(
  'a value of a discriminator goes with the alternative that it names (%s); one that is only called so is data and stays',
  async (how) => {
    const value = how === 'by mapping' ? 'sec' : 'Secret';
    const base = how === 'by allOf' ? { allOf: [{ $ref: '#/components/schemas/Pet' }] } : {};
    const one = (kind: string, more = {}) => ({
      ...base,
      type: 'object',
      properties: { is: { const: kind }, ...more },
    });
    const refs = ['Cat', 'Secret'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const discriminator = {
      propertyName: 'kind',
      ...(how === 'by mapping' && { mapping: { cat: '#/components/schemas/Cat', sec: '#/components/schemas/Secret' } }),
    };
    const schemas = {
      Pet: {
        type: 'object',
        properties: { kind: { $ref: '#/components/schemas/Kind' }, other: { enum: ['cat', value] } },
        ...(how !== 'by allOf' && { oneOf: refs }),
        discriminator,
      },
      Kind: { type: 'string', enum: ['cat', 'Cat', value], default: value },
      Cat: one('cat', { kind: { enum: ['cat', 'Cat', value] } }),
      Secret: { ...one('secret'), 'x-internal': true },
    };
    const get = { responses: { 200: { description: 'D', content: { 'application/json': { schema: { oneOf: [...refs, { $ref: '#/components/schemas/Pet' }] } } } } } }; // prettier-ignore
    const document = { openapi: '3.1.0', info, paths: { '/a': { get } }, components: { schemas } };
    const { value: left } = await publishedAs({ 'api.json': document }, audience);
    expect(left['components']).toMatchObject({
      schemas: {
        Pet: { properties: { other: { enum: ['cat', value] } } },
        Kind: { type: 'string', enum: ['cat', 'Cat'] },
        Cat: { properties: { kind: { enum: ['cat', 'Cat'] } } },
      },
    });
    expect(left['components']).not.toHaveProperty('schemas.Kind.default');
  },
);

test('a discriminator whose listed values all name what is hidden allows nothing, not any text', async () => {
  const kinds = { kind: { type: 'string', enum: ['Secret'], default: 'Secret', description: 'Always Secret.' } };
  const schemas = {
    Pet: { type: 'object', required: ['kind'], properties: kinds, discriminator: { propertyName: 'kind' } },
    Secret: { 'x-internal': true, allOf: [{ $ref: '#/components/schemas/Pet' }] },
    Dog: { allOf: [{ $ref: '#/components/schemas/Pet' }], properties: { kind: { const: 'Secret' } } },
    Cat: { allOf: [{ $ref: '#/components/schemas/Pet' }], properties: { kind: { oneOf: [{ const: 'Cat' }, { const: 'Secret' }] } } }, // prettier-ignore
  };
  const paths = Object.fromEntries(
    ['Pet', 'Dog', 'Cat'].map((name) => [`/${name}`, { get: { responses: giving(`#/components/schemas/${name}`) } }]),
  );
  const document = { openapi: '3.1.0', info, paths, components: { schemas } };
  const { value } = await publishedAs({ 'api.json': document }, audience);
  expect(value['components']).toMatchObject({
    schemas: {
      Pet: { required: ['kind'], properties: { kind: { not: {} } } },
      Dog: { properties: { kind: { not: {} } } },
      Cat: { properties: { kind: { oneOf: [{ const: 'Cat' }, { not: {} }] } } },
    },
  });
  expect(JSON.stringify(value['components'])).not.toContain('Secret');

  // Swagger 2.0 has no `not`.
  const { kind } = schemas.Pet.properties;
  const definitions = {
    Pet: { ...schemas.Pet, properties: { kind: { ...kind } }, discriminator: 'kind' },
    Secret: { 'x-internal': true, allOf: [{ $ref: '#/definitions/Pet' }] },
  };
  const responses = { 200: { description: 'D', schema: { $ref: '#/definitions/Pet' } } };
  const older = { swagger: '2.0', info, paths: { '/a': { get: { responses } } }, definitions };
  const { value: left, problems } = await publishedAs({ 'api.json': older }, audience);
  expect(problems.filter((problem) => problem.startsWith('error'))).toEqual([]);
  expect(left['definitions']).toMatchObject({
    Pet: { properties: { kind: { type: 'string', minLength: 1, maxLength: 0 } } },
  });
  expect(JSON.stringify(left['definitions'])).not.toContain('Secret');
});

test('a schema whose alternatives are all hidden is hidden itself', async () => {
  const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const schemas = {
    Pet: {
      type: 'object',
      required: ['one', 'other'],
      properties: { one: { oneOf: [to('Secret')] }, two: to('Either'), other: { anyOf: [to('Either'), { type: 'null' }] } }, // prettier-ignore
      allOf: [to('Secret')],
    },
    Either: { anyOf: [to('Secret'), to('Around')] },
    Around: { type: 'object', oneOf: [to('Secret')] },
    Secret: { type: 'object', 'x-internal': true },
    Itself: { oneOf: [to('Itself')] },
  };
  const paths = Object.fromEntries(
    ['Pet', 'Itself'].map((name) => [`/${name}`, { get: { responses: giving(`#/components/schemas/${name}`) } }]),
  );
  const document = { openapi: '3.1.0', info, paths, components: { schemas } };
  const { value } = await publishedAs({ 'api.json': document }, audience);
  expect(value['components']).toEqual({
    schemas: {
      Pet: { type: 'object', required: ['other'], properties: { other: { anyOf: [{ type: 'null' }] } } },
      Itself: { oneOf: [to('Itself')] },
    },
  });
});

const hidden = { $ref: '#/components/schemas/Hidden' };
const kept = { type: 'string' };

/** What an audience gets of a schema `S`, which a request has. */
async function leftOf(schema: object, openapi = '3.1.0') {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/S' } } };
  const document = {
    openapi,
    info,
    paths: { '/a': { post: { requestBody: { content }, responses: ok } } },
    components: { schemas: { Hidden: { type: 'object', 'x-internal': true }, S: schema } },
  };
  const { value, problems } = await publishedAs({ 'api.json': document }, audience);
  expect(JSON.stringify([value, problems])).not.toContain('Hidden');
  return (value?.['components'] as { schemas?: Record<string, object> } | undefined)?.schemas?.['S'] ?? problems;
}

test.each([
  ['an array of it', { type: 'array', items: hidden, minItems: 1 }],
  ['a list with it at one place', { type: 'array', prefixItems: [kept, hidden, kept] }],
  ['a map of it', { type: 'object', additionalProperties: hidden }],
  ['maps of arrays of it', { type: 'object', patternProperties: { '^x': { type: 'array', items: hidden } } }],
  ['what it alone is made of', { description: 'D', allOf: [hidden] }],
  ['an object with nothing else', { type: 'object', properties: { one: hidden }, required: ['one'], additionalProperties: false }], // prettier-ignore
  ['all but it', { not: hidden }],
])('what only a hidden schema describes is hidden with it: %s', async (_, schema) => {
  const rest = { type: 'object', properties: { kept } };
  const { properties } = rest;
  expect(await leftOf({ ...rest, properties: { ...properties, gone: schema }, required: ['gone'] })).toEqual(rest);
  expect(await leftOf(schema)).toEqual([expect.stringMatching(/^error audience api\.json:1 .*all that describes it/)]);
});

test('a schema that says something besides what is hidden stays', async () => {
  const properties = { items: hidden, schema: kept, not: kept, if: { type: 'object', properties: { oneOf: kept } } };
  const { items: _, ...left } = properties;
  expect(await leftOf({ properties, additionalProperties: hidden, allOf: [hidden], contains: hidden })).toEqual({
    properties: left,
  });
});

test('a parameter or a header of a hidden schema goes, and a body is refused at its line', async () => {
  const media = (...types: string[]) => ({
    content: Object.fromEntries(types.map((type) => [type, { schema: type === 'text/plain' ? kept : hidden }])),
  });
  const documentOf = (one: object, other: object) =>
    [
      JSON.stringify({ openapi: '3.0.3', info, components: { schemas: { Hidden: { 'x-internal': true } } } }).slice(0, -1), // prettier-ignore
      `"paths": {"/a": {"post": {"parameters": [{"name": "q", "in": "query", "schema": ${JSON.stringify(hidden)}}],`,
      `"requestBody": ${JSON.stringify(one)},`,
      `"responses": {"200": ${JSON.stringify({ description: 'D', headers: { X: { schema: hidden } }, ...other })}}}}}}`,
    ].join(',\n');
  const of = (one: object, other: object) => publishedAs({ 'api.json': documentOf(one, other).replaceAll(',,', ',') }, audience); // prettier-ignore
  const { value } = await of(media('text/plain', 'application/json'), media('application/json', 'text/plain'));
  expect(value['paths']).toEqual({
    '/a': {
      post: {
        parameters: [],
        requestBody: media('text/plain'),
        responses: { 200: { description: 'D', headers: {}, ...media('text/plain') } },
      },
    },
  });
  const { value: none, problems } = await of(media('application/json'), media('application/json', 'text/xml'));
  expect(none).toBeNull();
  expect(problems.map((each) => each.slice(0, 36))).toEqual([
    'error audience api.json:3 What this ',
    'error audience api.json:4 What this ',
  ]);

  const parameters = [{ name: 'body', in: 'body', schema: { $ref: '#/definitions/Hidden' } }];
  const responses = { 200: { description: 'D', schema: { type: 'array', items: { $ref: '#/definitions/Hidden' } } } };
  const definitions = { Hidden: { 'x-internal': true } };
  const older = { swagger: '2.0', info, paths: { '/a': { post: { parameters, responses } } }, definitions };
  const refused = await publishedAs({ 'api.json': older }, audience);
  expect(refused.problems).toEqual([
    expect.stringContaining('all that describes it'),
    expect.stringContaining('all that describes it'),
  ]);
});

test('an operation whose path names a hidden parameter is refused at its line, and no other', async () => {
  const parameter = (name: string, more: object = {}) => ({ name, in: 'path', required: true, schema: kept, ...more });
  const gone = { 'x-internal': true };
  const responses = { 200: { description: 'D' } };
  const paths = {
    '/{shard}/a': { parameters: [parameter('shard', gone)], get: { responses }, put: { ...gone, responses } },
    '/{shard}/b/{id}': { get: { parameters: [{ $ref: '#/components/parameters/Shard' }, parameter('id')], responses } },
    '/c/{id}': { get: { parameters: [parameter('id'), { ...parameter('q', gone), in: 'query' }], responses } },
    '/{shard}/d': { get: { ...gone, parameters: [parameter('shard', gone)], responses } },
  };
  const components = { parameters: { Shard: parameter('shard', gone) } };
  const lines = JSON.stringify({ openapi: '3.0.3', info, components, paths }).replaceAll('"get"', '\n"get"');
  const { value, problems } = await publishedAs({ 'api.json': lines }, audience);
  expect(value).toBeNull();
  expect(problems.map((each) => each.slice(0, 43))).toEqual([
    'error audience api.json:2 The path of this ',
    'error audience api.json:3 The path of this ',
  ]);
});

test('what a schema forbids by a hidden property is not forbidden by its other properties alone', async () => {
  const properties = { one: kept, other: kept, secret: hidden };
  const { secret: _, ...left } = properties;
  const only = { properties: left };
  const choice = [{ required: ['one'] }, { title: 'By secret', required: ['secret'] }];
  const when = { if: { required: ['secret'] }, else: { required: ['one'] } };
  const constant = { const: { one: 'x', secret: {} } };
  expect(await leftOf({ properties, not: { required: ['one', 'secret'] } })).toEqual(only);
  expect(await leftOf({ properties, not: { properties: { other: hidden } } })).toEqual(only);
  expect(await leftOf({ properties, not: { ...only, ...constant } })).toEqual(only);
  expect(await leftOf({ properties, not: { required: ['one', 'other'] } })).toEqual({
    ...only,
    not: { required: ['one', 'other'] },
  });
  expect(await leftOf({ properties, ...when })).toEqual(only);
  expect(await leftOf({ properties, ...when, if: hidden })).toEqual(only);
  for (const key of ['oneOf', 'anyOf'])
    expect(await leftOf({ properties, [key]: choice })).toEqual({ ...only, [key]: [choice[0]] });
});

test('alternatives that differed by something hidden, however deep, need not be the only one any more', async () => {
  const inner = { properties: { kept, secret: hidden }, required: ['secret'] };
  const left = { properties: { kept } };
  const other = { properties: { inner: left }, required: ['inner'] };
  const choice = (one: object) => ({ properties: { kept }, oneOf: [one, other] });
  for (const [before, after] of [
    [{ properties: { inner } }, { properties: { inner: left } }],
    [
      { items: { allOf: [inner] }, type: 'array' },
      { items: { allOf: [left] }, type: 'array' },
    ],
    [{ ...left, not: { anyOf: [hidden, other] } }, left],
    [{ allOf: [hidden, left] }, { allOf: [left] }],
  ] as [object, object][])
    expect(await leftOf(choice(before))).toEqual({ properties: { kept }, anyOf: [after, other] });
  const optional = { properties: { inner: { ...inner, required: ['kept'] } } };
  expect(await leftOf(choice(optional))).toEqual(choice({ properties: { inner: { ...left, required: ['kept'] } } }));
});

test('what leads in a circle to something hidden is hidden wherever it is entered', async () => {
  const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const around = { One: { oneOf: [to('Two')], items: to('Hidden') }, Two: { anyOf: [to('One')] } };
  for (const names of [
    ['One', 'Two'],
    ['Two', 'One'],
  ] as const) {
    const paths = Object.fromEntries(
      names.map((name) => [`/${name}`, { get: { responses: ok, parameters: [{ name: 'q', in: 'query', schema: to(name) }] } }]), // prettier-ignore
    );
    const schemas = {
      ...Object.fromEntries(names.map((name) => [name, around[name]])),
      Hidden: { 'x-internal': true },
    };
    const { value } = await publishedAs(
      { 'api.json': { openapi: '3.1.0', info, paths, components: { schemas } } },
      audience,
    );
    expect(value['components']).toEqual({ schemas: {} });
    expect(JSON.stringify(value['paths'])).not.toContain('$ref');
  }
});

test('a hidden alternative whose name needs escapes goes from a mapping and from the listed values', () => {
  const names = ['a/b', 'Page«Secret»', '50%25'];
  const of = (name: string) => `#/components/schemas/${encodeURIComponent(name.replaceAll('/', '~1'))}`;
  for (const mapping of [
    undefined,
    Object.fromEntries(names.map((name) => [name, name])),
    Object.fromEntries(names.map((name) => [name, of(name)])),
  ]) {
    // prettier-ignore
    const schemas = {
      Pet: {
        properties: { kind: { enum: ['Cat', ...names] } },
        oneOf: ['Cat', ...names].map((name) => ({ $ref: of(name) })),
        discriminator: { propertyName: 'kind', ...(mapping && { mapping: { cat: 'Cat', ...mapping } }) },
      },
      Cat: { type: 'object' },
      ...Object.fromEntries(names.map((name) => [name, { 'x-internal': true }])),
    };
    const document = { openapi: '3.1.0', info, paths: {}, components: { schemas } };
    keepAudience(document, 'public');
    expect(schemas).toEqual({
      Pet: {
        properties: { kind: { enum: ['Cat'] } },
        oneOf: [{ $ref: '#/components/schemas/Cat' }],
        discriminator: { propertyName: 'kind', ...(mapping && { mapping: { cat: 'Cat' } }) },
      },
      Cat: { type: 'object' },
    });
  }
});

test('an audience is never told that what everybody may send is forbidden', () => {
  const names = fc.constantFrom('a', 'b', 'secret');
  const several = fc.uniqueArray(names, { minLength: 1, maxLength: 2 });
  const demand = several.map((required) => ({ required }));
  const leaf = fc.oneof(
    demand,
    demand.map((not) => ({ not })),
    fc.tuple(names, several).map(([one, all]) => ({ dependentRequired: { [one]: all } })),
  );
  const properties = { a: {}, b: {}, secret: { 'x-internal': true } };
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .tuple(fc.constantFrom('oneOf', 'anyOf'), fc.array(tie('schema'), { minLength: 1, maxLength: 3 }))
        .map(([key, all]) => ({ [key]: all })),
      tie('schema').map((not) => ({ not })),
      tie('schema').map((one) => ({ properties: { ...properties, in: { properties, ...one } } })),
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((allOf) => ({ allOf })),
      fc.tuple(leaf, tie('schema')).map(([one, other]) => ({ allOf: [{ 'x-internal': true, ...one }, other] })),
      // oxlint-disable-next-line unicorn/no-thenable
      fc.record({ if: tie('schema'), then: tie('schema'), else: tie('schema') }, { requiredKeys: ['if'] }),
    ),
  }));
  const plain = [{}, { a: 1 }, { b: 1 }, { a: 1, b: 1 }];
  const values = [...plain, ...plain.flatMap((one) => plain.map((other) => ({ ...one, in: other })))];
  const ajv = new Ajv2020({ strict: false });
  fc.assert(
    fc.property(schema, (one) => {
      const S = JSON.parse(JSON.stringify({ properties, ...one })) as object;
      const document = { openapi: '3.1.0', paths: {}, components: { schemas: { S } } };
      const before = ajv.compile({ properties, ...one });
      keepAudience(document, 'public');
      const after = ajv.compile(S);
      expect(JSON.stringify(S)).not.toContain('secret');
      for (const value of values) if (before(value)) expect([value, after(value)]).toEqual([value, true]);
    }),
    { numRuns: 100 * timesAsMany },
  );
});

test('an audience is not told which others there are', async () => {
  const marks = { 'x-audience': ['public', 'partner'], 'x-internal': false };
  const get = { ...marks, responses: { 200: { description: 'D' } } };
  const named = { 'application/json': { schema: { properties: { 'x-audience': { type: 'string', ...marks } } } } };
  const post = { requestBody: { content: named }, responses: ok };
  const paths = { '/a': { get, post } };
  const document = { openapi: '3.1.0', ...marks, info: { ...info, ...marks }, paths };
  const { value, yaml } = await publishedAs({ 'api.json': document }, audience);
  expect(yaml).not.toMatch(/partner|x-internal/);
  expect(value['paths']).toMatchObject({
    '/a': {
      post: {
        requestBody: {
          content: { 'application/json': { schema: { properties: { 'x-audience': { type: 'string' } } } } },
        },
      },
    },
  });
});
