import type { ResourceType } from '../../src/model/address.ts';
import { moreHostileDocuments, nest, times } from './hostile-more.ts';

/** A document that is small to send and, read carelessly, dear to compile. */
export interface HostileDocument {
  /** `family/form`, such as `ref-chain/3.1`. */
  name: string;
  type: ResourceType;
  /** The entry first. */
  files: Record<string, string>;
}

const oas = {
  '2.0': { head: { swagger: '2.0' }, folder: 'definitions', at: '#/definitions/' },
  '3.0': { head: { openapi: '3.0.3' }, folder: 'schemas', at: '#/components/schemas/' },
  '3.1': { head: { openapi: '3.1.0' }, folder: 'schemas', at: '#/components/schemas/' },
};
type Oas = keyof typeof oas;

const drafts = {
  'draft-04': { uri: 'http://json-schema.org/draft-04/schema#', folder: 'definitions', id: 'id' },
  'draft-06': { uri: 'http://json-schema.org/draft-06/schema#', folder: 'definitions', id: '$id' },
  'draft-07': { uri: 'http://json-schema.org/draft-07/schema#', folder: 'definitions', id: '$id' },
  '2019-09': { uri: 'https://json-schema.org/draft/2019-09/schema', folder: '$defs', id: '$id' },
  '2020-12': { uri: 'https://json-schema.org/draft/2020-12/schema', folder: '$defs', id: '$id' },
};
type Draft = keyof typeof drafts;

function api(version: Oas, schemas: Record<string, unknown>, more: Record<string, unknown> = {}): object {
  const { head, folder } = oas[version];
  const holder = version === '2.0' ? { [folder]: schemas } : { components: { [folder]: schemas } };
  return { ...head, info: { title: 'a', version: '1' }, paths: {}, ...holder, ...more };
}

function get(operation: Record<string, unknown>): Record<string, unknown> {
  return { get: { responses: { '200': { description: 'a' } }, ...operation } };
}

/** An object of `count` members. */
function members<T>(count: number, key: (at: number) => string, value: (at: number) => T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [key(at), value(at)]));
}

/** Schemas that hurt, whichever kind of document they stand in: definitions by name. `at` is the beginning of a reference to one. */
const schemaFamilies: Record<string, (at: string) => Record<string, unknown>> = {
  'ref-chain': (at) => ({
    ...members(
      100_000,
      (n) => `s${n}`,
      (n) => ({ $ref: `${at}s${n + 1}` }),
    ),
    s100000: { type: 'string' },
  }),
  'ref-loop': (at) =>
    members(
      20_000,
      (n) => `s${n}`,
      (n) => ({ $ref: `${at}s${(n + 1) % 20_000}` }),
    ),
  'ref-fan': (at) => ({
    a: {
      type: 'object',
      properties: members(
        50_000,
        (n) => `p${n}`,
        () => ({ $ref: `${at}b` }),
      ),
    },
    b: { type: 'string' },
  }),
  'ref-wide-fan': (at) => ({
    a: {
      type: 'object',
      properties: members(
        3000,
        (n) => `p${n}`,
        () => ({ $ref: `${at}b` }),
      ),
    },
    b: {
      type: 'object',
      properties: members(
        3000,
        (n) => `p${n}`,
        () => ({ type: 'string' }),
      ),
    },
  }),
  'ref-missing': (at) => ({
    a: {
      type: 'object',
      properties: members(
        50_000,
        (n) => `p${n}`,
        (n) => ({ $ref: `${at}none${n}` }),
      ),
    },
  }),
  'ref-into-chain': (at) =>
    members(
      20_000,
      (n) => `s${n}`,
      (n) => ({ properties: { p: { $ref: `${at}s${(n * 7919 + 1) % 20_000}/properties/p` } } }),
    ),
  'ref-doubling': (at) => ({
    ...members(
      60,
      (n) => `s${n}`,
      (n) => ({ allOf: [{ $ref: `${at}s${n + 1}` }, { $ref: `${at}s${n + 1}` }] }),
    ),
    s60: { type: 'string' },
  }),
  'ref-allof-chain': (at) => ({
    ...members(
      20_000,
      (n) => `s${n}`,
      (n) => ({ allOf: [{ $ref: `${at}s${n + 1}` }] }),
    ),
    s20000: { type: 'string' },
  }),
  'ref-items-chain': (at) => ({
    ...members(
      20_000,
      (n) => `s${n}`,
      (n) => ({ type: 'array', items: { $ref: `${at}s${n + 1}` } }),
    ),
    s20000: { type: 'string' },
  }),
  'enum-strings': () => ({ a: { enum: times(200_000, (n) => `value${n}`) } }),
  'enum-numbers': () => ({ a: { enum: times(200_000, (n) => n) } }),
  'enum-objects': () => ({ a: { enum: times(20_000, (n) => ({ a: { b: [n] } })) } }),
  'enum-long': () => ({ a: { enum: times(300, (n) => 'x'.repeat(10_000) + n) } }),
  'enum-repeated': () => ({ a: { enum: times(100_000, () => 'same') } }),
  required: () => ({ a: { type: 'object', required: times(200_000, (n) => `name${n}`) } }),
  'required-repeated': () => ({ a: { type: 'object', required: times(100_000, () => 'same') } }),
  'required-objects': () => ({ a: { type: 'object', required: times(20_000, (n) => ({ a: n })) } }),
  'type-list': () => ({ a: { type: times(50_000, (n) => (n % 2 === 0 ? 'string' : 'number')) } }),
  'type-objects': () => ({ a: { type: times(5000, (n) => ({ a: n })) } }),
  'deep-allof': () => ({ a: nest(60, (inner) => ({ allOf: [inner] }), { type: 'string' }) }),
  'deep-anyof-wrong': () => ({ a: nest(60, (inner) => ({ anyOf: [inner, { type: 3 }] }), { type: 7 }) }),
  'wide-allof': () => ({ a: { allOf: times(50_000, () => ({ type: 'string' })) } }),
  'wide-oneof-wrong': () => ({ a: { oneOf: times(20_000, () => ({ type: 'strong' })) } }),
  'deep-items': () => ({ a: nest(90, (inner) => ({ items: inner }), { type: 'string' }) }),
  'deep-not': () => ({ a: nest(90, (inner) => ({ not: inner }), { type: 'string' }) }),
  'deep-properties-wide': () => ({
    a: nest(60, (inner, n) => ({ properties: { [`${'k'.repeat(2000)}${n}`]: inner } }), {
      properties: members(
        2000,
        (n) => `p${n}`,
        () => ({ type: 'string' }),
      ),
    }),
  }),
  'deep-properties-wrong': () => ({
    a: nest(60, (inner, n) => ({ properties: { [`${'k'.repeat(2000)}${n}`]: inner } }), {
      properties: members(
        2000,
        (n) => `p${n}`,
        () => ({ type: 'strong', minLength: -1 }),
      ),
    }),
  }),
  'pattern-properties': () => ({
    a: {
      type: 'object',
      patternProperties: members(
        30_000,
        (n) => `^a${n}$`,
        () => ({ type: 'string' }),
      ),
    },
  }),
  'patterns-wrong': () => ({
    a: {
      properties: members(
        20_000,
        (n) => `p${n}`,
        () => ({ pattern: '(' }),
      ),
    },
  }),
  'pattern-long': () => ({ a: { type: 'string', pattern: 'a?'.repeat(500_000) } }),
  'pattern-nested': () => ({ a: { type: 'string', pattern: `${'('.repeat(100_000)}${')'.repeat(100_000)}` } }),
  'pattern-redos': () => ({ a: { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}!` } }),
  'property-names': () => ({ a: { propertyNames: { anyOf: times(20_000, (n) => ({ pattern: `^x${n}` })) } } }),
  'wrong-members': () => ({
    a: {
      properties: members(
        50_000,
        (n) => `p${n}`,
        () => ({ type: 3, minLength: 'x' }),
      ),
    },
  }),
  'wrong-types': () =>
    members(
      50_000,
      (n) => `s${n}`,
      () => ({ type: 'strong' }),
    ),
  'wrong-unions': () =>
    members(
      5000,
      (n) => `s${n}`,
      () => ({ oneOf: 1, anyOf: 2, allOf: 3, not: 4, items: 5 }),
    ),
  'not-schemas': () =>
    members(
      100_000,
      (n) => `s${n}`,
      (n) => n,
    ),
  'many-properties': () => ({
    a: {
      type: 'object',
      properties: members(
        50_000,
        (n) => `p${n}`,
        () => ({ type: 'string' }),
      ),
    },
  }),
  'long-keys': () => ({
    a: {
      properties: members(
        500,
        (n) => `${'k'.repeat(5000)}${n}`,
        () => ({ type: 'string' }),
      ),
    },
  }),
  'awkward-keys': () => ({
    a: {
      properties: members(
        20_000,
        (n) => `~/%"'\\${n}\u2028`,
        () => ({ type: 'string' }),
      ),
    },
  }),
  'method-names': () => ({ a: { enum: times(2000, (n) => ({ toString: n, valueOf: 1, constructor: { a: [n] } })) } }),
  'prototype-names': (at) => ({
    a: {
      properties: members(
        20_000,
        (n) => `p${n}`,
        () => ({ $ref: `${at}constructor` }),
      ),
    },
  }),
  'long-description': () => ({ a: { description: `${'*_`[a](b)<i>'.repeat(80_000)}` } }),
  'markdown-brackets': () => ({ a: { description: '['.repeat(50_000) + '*'.repeat(50_000) + '`'.repeat(50_001) } }),
  'example-deep': () => ({ a: { default: nest(80, (inner) => [inner, inner === 1 ? 2 : 3], 1) } }),
  dependent: () => ({
    a: {
      dependencies: members(
        20_000,
        (n) => `p${n}`,
        (n) => [`p${n + 1}`, `p${n + 2}`],
      ),
    },
  }),
};

/** Families that only OpenAPI documents have. */
const openapiFamilies: Record<string, (version: Oas) => object> = {
  parameters: (version) =>
    api(
      version,
      {},
      {
        paths: { '/a': get({ parameters: times(20_000, (n) => ({ name: `p${n}`, in: 'query', ...typed(version) })) }) },
      },
    ),
  'parameters-objects': (version) =>
    api(
      version,
      {},
      {
        paths: {
          '/a': get({
            parameters: times(5000, (n) => ({ name: 'p', in: 'query', ...typed(version), 'x-a': { a: { b: n } } })),
          }),
        },
      },
    ),
  'parameters-wrong': (version) =>
    api(version, {}, { paths: { '/a': get({ parameters: times(20_000, (n) => ({ nome: `p${n}` })) }) } }),
  'parameters-shared': (version) =>
    api(
      version,
      {},
      {
        paths: members(
          3000,
          (n) => `/p${n}`,
          () => ({ $ref: '#/x-item' }),
        ),
        'x-item': get({ parameters: times(3000, (n) => ({ name: `p${n}`, in: 'query', ...typed(version) })) }),
      },
    ),
  'parameters-inherited': (version) => {
    const parameters = times(6000, (n) => ({ name: `p${n}`, in: 'query', ...typed(version) }));
    const operations = ['get', 'put', 'post', 'delete'].map((method) => [method, get({ parameters })['get']]);
    const item = { ...Object.fromEntries(operations), parameters: parameters.map((one) => ({ ...one, in: 'header' })) };
    return api(version, {}, { paths: { '/a': item } });
  },
  'parameters-unlike': (version) =>
    api(version, {}, { paths: { '/a': get({ parameters: times(10_000, () => ({ name: 'a', in: 'qery' })) }) } }),
  tags: (version) => api(version, {}, { tags: times(50_000, (n) => ({ name: `t${n}` })) }),
  'operation-shared': (version) => {
    const paths = members(
      20_000,
      (n) => `/p${n}`,
      () => ({ $ref: '#/x-item' }),
    );
    const operation = { tags: times(20_000, () => 'a'), description: 'A *word*. '.repeat(1000) };
    return api(version, {}, { paths, 'x-item': get({ ...operation, 'x-codeSamples': times(20_000, () => ({})) }) });
  },
  'servers-and-operations': (version) => {
    const paths = members(
      20_000,
      (n) => `/p${n}`,
      () => get({}),
    );
    return api(version, {}, { servers: times(30_000, () => ({ url: '/' })), paths });
  },
  'operation-tags': (version) => api(version, {}, { paths: { '/a': get({ tags: times(200_000, (n) => `t${n}`) }) } }),
  'security-list': (version) => api(version, {}, { security: times(100_000, (n) => ({ [`s${n}`]: [] })) }),
  'media-types': (version) =>
    api(version, {}, { paths: { '/a': get({ consumes: times(100_000, (n) => `a/b${n}`) }) } }),
  schemes: (version) => api(version, {}, { schemes: times(100_000, (n) => (n % 2 ? 'http' : 'https')) }),
  'paths-wrong': (version) =>
    api(
      version,
      {},
      {
        paths: members(
          20_000,
          (n) => `/p${n}`,
          () => ({ get: { responses: 3 } }),
        ),
      },
    ),
  'paths-nothing': (version) =>
    api(
      version,
      {},
      {
        paths: members(
          50_000,
          (n) => `p${n}`,
          () => 7,
        ),
      },
    ),
  'paths-slashes': (version) => api(version, {}, { paths: { [`/${'{a}/'.repeat(100_000)}`]: get({}) } }),
  responses: (version) =>
    api(
      version,
      {},
      {
        paths: {
          '/a': {
            get: {
              responses: members(
                20_000,
                (n) => `r${n}`,
                () => ({ description: 'a' }),
              ),
            },
          },
        },
      },
    ),
  'root-members': (version) =>
    api(
      version,
      {},
      members(
        50_000,
        (n) => `m${n}`,
        (n) => n,
      ),
    ),
  extensions: (version) =>
    api(
      version,
      {},
      members(
        50_000,
        (n) => `x-${n}`,
        (n) => ({ $ref: `#/x-${n + 1}` }),
      ),
    ),
  'extensions-deep': (version) => api(version, {}, { 'x-a': nest(150, (inner) => ({ $ref: 'b.json', a: inner }), 1) }),
  'files-missing': (version) =>
    api(
      version,
      members(
        20_000,
        (n) => `s${n}`,
        (n) => ({ $ref: `f${n % 4000}.json#/a${n}` }),
      ),
    ),
  'own-uris': (version) =>
    api(
      version,
      members(
        3000,
        (n) => `s${n}`,
        (n) => ({ $ref: `urn:x:${n}`, description: `urn:x:${n}` }),
      ),
    ),
  discriminator: (version) =>
    api(version, {
      a: {
        type: 'object',
        discriminator:
          version === '2.0'
            ? 'p'
            : {
                propertyName: 'p',
                mapping: members(
                  50_000,
                  (n) => `m${n}`,
                  () => `${oas[version].at}b`,
                ),
              },
      },
      b: { type: 'string' },
    }),
  'discriminator-missing': (version) =>
    api(version, {
      a: {
        discriminator:
          version === '2.0'
            ? 'p'
            : {
                propertyName: 'p',
                mapping: members(
                  50_000,
                  (n) => `m${n}`,
                  (n) => `#/none${n}`,
                ),
              },
      },
    }),
  'item-chain': (version) =>
    api(
      version,
      {},
      {
        paths: {
          ...members(
            20_000,
            (n) => `/p${n}`,
            (n) => ({ $ref: `#/paths/~1p${n + 1}` }),
          ),
          '/p20000': get({}),
        },
      },
    ),
  'response-chain': (version) => {
    const at = version === '2.0' ? '#/responses/' : '#/components/responses/';
    const chain = members(
      20_000,
      (n) => `r${n}`,
      (n) => ({ $ref: `${at}r${n + 1}` }),
    );
    const responses = { ...chain, r20000: { description: 'a' } };
    return api(version, {}, version === '2.0' ? { responses } : { components: { responses } });
  },
  'allof-render': (version) =>
    api(
      version,
      {
        ...members(
          12,
          (n) => `s${n}`,
          (n) => ({ allOf: times(12, () => ({ $ref: `${oas[version].at}s${n + 1}` })) }),
        ),
        s12: { type: 'object', properties: { a: { type: 'string' } } },
      },
      {
        paths: members(
          300,
          (n) => `/p${n}`,
          () => get({ responses: answer(version, { $ref: `${oas[version].at}s0` }) }),
        ),
      },
    ),
  'properties-render': (version) =>
    api(
      version,
      {
        ...members(
          12,
          (n) => `s${n}`,
          (n) => ({
            type: 'object',
            properties: members(
              12,
              (m) => `p${m}`,
              () => ({ $ref: `${oas[version].at}s${n + 1}` }),
            ),
          }),
        ),
        s12: { type: 'string' },
      },
      {
        paths: members(
          300,
          (n) => `/p${n}`,
          () => get({ responses: answer(version, { $ref: `${oas[version].at}s0` }) }),
        ),
      },
    ),
};

function typed(version: Oas): object {
  return version === '2.0' ? { type: 'string' } : { schema: { type: 'string' } };
}

function answer(version: Oas, schema: object): object {
  const body = version === '2.0' ? { schema } : { content: { 'application/json': { schema } } };
  return { '200': { description: 'a', ...body } };
}

/** Families that only JSON Schemas have. */
const draftFamilies: Record<string, (draft: Draft) => object> = {
  ids: (draft) =>
    root(
      draft,
      members(
        10_000,
        (n) => `s${n}`,
        (n) => ({ [drafts[draft].id]: `https://a.example/${n}.json` }),
      ),
    ),
  'ids-nested': (draft) =>
    root(draft, { a: nest(60, (inner, n) => ({ [drafts[draft].id]: `f${n}/`, not: inner }), { $ref: 'x.json' }) }),
  'ids-same': (draft) =>
    root(
      draft,
      members(
        10_000,
        (n) => `s${n}`,
        () => ({ [drafts[draft].id]: 'https://a.example/a.json' }),
      ),
    ),
  anchors: (draft) =>
    root(
      draft,
      members(
        20_000,
        (n) => `s${n}`,
        (n) => (draft.startsWith('draft') ? { [drafts[draft].id]: `#a${n}` } : { $anchor: `a${n}` }),
      ),
    ),
  'anchor-chain': (draft) =>
    root(
      draft,
      members(
        10_000,
        (n) => `s${n}`,
        (n) => ({
          ...(draft.startsWith('draft') ? { [drafts[draft].id]: `#a${n}` } : { $anchor: `a${n}` }),
          not: { $ref: `#a${n + 1}` },
        }),
      ),
    ),
  'dynamic-chain': (draft) =>
    root(
      draft,
      members(
        10_000,
        (n) => `s${n}`,
        (n) => ({ $dynamicAnchor: `a${n}`, not: { $dynamicRef: `#a${(n + 1) % 10_000}` } }),
      ),
    ),
  'recursive-refs': (draft) =>
    root(
      draft,
      members(
        20_000,
        (n) => `s${n}`,
        () => ({ $recursiveRef: '#', $recursiveAnchor: true }),
      ),
    ),
  unevaluated: (draft) =>
    root(draft, {
      a: {
        allOf: times(3000, (n) => ({ properties: { [`p${n}`]: {} }, unevaluatedProperties: false })),
        unevaluatedProperties: false,
      },
    }),
  'if-chain': (draft) =>
    root(draft, {
      a: nest(
        60,
        (inner) =>
          Object.fromEntries([
            ['if', {}],
            ['th'.concat('en'), inner],
            ['else', { type: 'string' }],
          ]),
        { type: 'number' },
      ),
    }),
  'files-missing': (draft) =>
    root(
      draft,
      members(
        4000,
        (n) => `s${n}`,
        (n) => ({ $ref: `f${n}.json` }),
      ),
    ),
  'bad-uris': (draft) =>
    root(
      draft,
      members(
        20_000,
        (n) => `s${n}`,
        (n) => ({ $ref: `https://[${n}` }),
      ),
    ),
  'mutual-refs': (draft) =>
    root(
      draft,
      members(
        3000,
        (n) => `s${n}`,
        (n) => ({ anyOf: times(3, (m) => ({ $ref: `#/${drafts[draft].folder}/s${(n * 31 + m * 977) % 3000}` })) }),
      ),
    ),
};

function root(draft: Draft, definitions: Record<string, unknown>): object {
  const { uri, folder } = drafts[draft];
  return { $schema: uri, type: 'object', [folder]: definitions };
}

/** A rule of Spectral's. An object with a member `then` is taken for a promise by linters. */
function step(given: unknown, then: unknown): object {
  return Object.fromEntries([
    ['given', given],
    ['th'.concat('en'), then],
  ]);
}

/** Rulesets in both forms. */
const rulesetFamilies: Record<string, () => object> = {
  'redocly-rules': () => ({
    extends: ['minimal'],
    rules: members(
      50_000,
      (n) => `rule/r${n}`,
      () => ({ subject: { type: 'Operation' }, assertions: { defined: true } }),
    ),
  }),
  'redocly-unknown': () => ({
    rules: members(
      20_000,
      (n) => `operation-sumary${n}`,
      () => 'error',
    ),
  }),
  'redocly-extends': () => ({ extends: times(50_000, () => 'recommended') }),
  'redocly-extends-unknown': () => ({ extends: times(50_000, (n) => `r${n}`) }),
  'redocly-members': () => ({
    extends: ['minimal'],
    ...members(
      20_000,
      (n) => `extend${n}`,
      (n) => n,
    ),
  }),
  'redocly-long-names': () => ({
    rules: members(
      200,
      (n) => `rule/${'x'.repeat(10_000)}${n}`,
      () => ({ subject: { type: 'Operatiom' }, assertions: { foo: 1 } }),
    ),
  }),
  'redocly-where': () => ({
    rules: {
      'rule/a': {
        subject: { type: 'Operation' },
        where: times(20_000, () => ({ subject: { type: 'Info' }, assertions: { defined: true } })),
        assertions: { defined: true },
      },
    },
  }),
  'redocly-failing': () => ({
    rules: members(
      3000,
      (n) => `rule/r${n}`,
      () => ({ subject: { type: 'Operation', property: 'summary' }, assertions: { pattern: '(' } }),
    ),
  }),
  'redocly-trial-failing': () => ({
    rules: members(
      2000,
      (n) => `rule/r${n}`,
      () => ({
        subject: { type: 'Root', property: 'info' },
        assertions: { minLength: 'x', sortOrder: { property: {} }, mutuallyExclusive: 3 },
      }),
    ),
  }),
  'redocly-assertions': () => ({
    rules: {
      'rule/a': {
        subject: { type: 'Operation' },
        assertions: members(
          50_000,
          (n) => `foo/bar${n}`,
          () => 1,
        ),
      },
    },
  }),
  'redocly-enum': () => ({
    rules: {
      'rule/a': { subject: { type: 'Info', property: 'title' }, assertions: { enum: times(200_000, (n) => `v${n}`) } },
    },
  }),
  'redocly-required': () => ({
    rules: { 'rule/a': { subject: { type: 'Info' }, assertions: { required: times(100_000, (n) => `v${n}`) } } },
  }),
  'redocly-deep': () => ({
    rules: {
      'rule/a': { subject: { type: 'Info' }, assertions: { defined: nest(150, (inner) => ({ a: inner }), 1) } },
    },
  }),
  'spectral-rules': () => ({
    extends: 'spectral:oas',
    rules: members(
      30_000,
      (n) => `r${n}`,
      () => step('$.paths', { function: 'truthy' }),
    ),
  }),
  'spectral-given': () => ({
    rules: {
      a: step(
        times(100_000, (n) => `$.a[${n}`),
        { function: 'truthy' },
      ),
    },
  }),
  'spectral-path': () => ({ rules: { a: step(`$${'[?(@.a == /'.repeat(50_000)}`, { function: 'truthy' }) } }),
  'spectral-then': () => ({
    rules: {
      a: step(
        '$',
        times(50_000, () => ({ function: 'patern', functionOptions: { match: '(' } })),
      ),
    },
  }),
  'spectral-aliases': () => ({
    aliases: members(
      30_000,
      (n) => `A${n}`,
      (n) => [`#A${n + 1}`],
    ),
    rules: { a: step('#A0', { function: 'truthy' }) },
  }),
  'spectral-overrides': () => ({ rules: {}, overrides: times(20_000, () => ({ files: ['*'], rules: { a: 'off' } })) }),
  'spectral-formats': () => ({
    formats: times(100_000, (n) => `oas${n}`),
    rules: { a: step('$', { function: 'truthy' }) },
  }),
};

const rootOf: Record<string, string> = {
  '3.0': 'openapi: 3.0.3',
  schema: '$schema: https://json-schema.org/draft/2020-12/schema',
  ruleset: 'extends: [minimal]',
};

/** YAML texts that hurt, after a document's first line. */
const yamlFamilies: Record<string, () => string> = {
  'merge-bomb': () =>
    ['x0: &x0 {a: 1}', ...times(30, (n) => `x${n + 1}: &x${n + 1}\n  <<: [*x${n}, *x${n}]\n  k${n}: 1`)].join('\n'),
  'merge-wide': () =>
    [`x0: &x0 {${times(1000, (n) => `k${n}: 1`).join(', ')}}`, ...times(1000, (n) => `y${n}: {<<: *x0}`)].join('\n'),
  'merge-list': () =>
    [
      `x0: &x0 {${times(1000, (n) => `k${n}: 1`).join(', ')}}`,
      `y: {<<: [${times(2000, () => '*x0').join(', ')}]}`,
    ].join('\n'),
  'merge-deep-list': () =>
    [`x0: &x0 {k: 1}`, ...times(200, (n) => `x${n + 1}: &x${n + 1} {<<: *x${n}, k${n}: ${n}}`)].join('\n'),
  'merge-twins': () =>
    ['x0: &x0 {a: {b: 1}}', ...times(24, (n) => `x${n + 1}: &x${n + 1} {<<: *x${n}, p${n}: {<<: *x${n}}}`)].join('\n'),
  'alias-bomb': () =>
    ['x0: &x0 [lol, lol]', ...times(20, (n) => `x${n + 1}: &x${n + 1} [*x${n}, *x${n}, *x${n}]`)].join('\n'),
  'alias-bomb-names': () =>
    [
      `x0: &x0 {${'k'.repeat(1000)}: 1}`,
      ...times(12, (n) => `x${n + 1}: &x${n + 1} {${times(5, (m) => `${'k'.repeat(1000)}${m}: *x${n}`).join(', ')}}`),
    ].join('\n'),
  'alias-wide': () =>
    [`x: &x [${times(20_000, (n) => n).join(', ')}]`, `y: [${times(95, () => '*x').join(', ')}]`].join('\n'),
  'alias-text': () => [`x: &x ${'t'.repeat(100_000)}`, `y: [${times(9000, () => '*x').join(', ')}]`].join('\n'),
  'alias-many': () => [`x: &x 1`, `y: [${times(9999, () => '*x').join(', ')}]`].join('\n'),
  'alias-over': () => [`x: &x 1`, `y: [${times(200_000, () => '*x').join(', ')}]`].join('\n'),
  'alias-missing': () => `y: [${times(100_000, (n) => `*x${n}`).join(', ')}]`,
  'alias-keys': () => [`x: &x a`, `y: {${times(9000, (n) => `*x : ${n}`).join(', ')}}`].join('\n'),
  anchors: () => times(100_000, (n) => `a${n}: &a${n} ${n}`).join('\n'),
  'anchors-long': () => times(500, (n) => `a${n}: &${'a'.repeat(4000)}${n} ${n}`).join('\n'),
  'anchors-same': () => times(100_000, (n) => `a${n}: &a ${n}`).join('\n'),
  'flow-deep': () => `a: ${'['.repeat(100_000)}`,
  'flow-deep-map': () => `a: ${'{a: '.repeat(100_000)}`,
  'flow-deep-closed': () => `a: ${'['.repeat(190)}${']'.repeat(190)}`,
  'flow-many-deep': () => `a: [${times(1000, () => `${'['.repeat(150)}${']'.repeat(150)}`).join(',')}]`,
  'flow-unclosed': () => `a: [${times(200_000, (n) => n).join(', ')}`,
  'flow-commas': () => `a: [${','.repeat(200_000)}]`,
  'flow-colons': () => `a: {${':'.repeat(200_000)}}`,
  'flow-pairs': () => `a: [${times(50_000, (n) => `k${n}: v`).join(', ')}]`,
  'flow-lines': () => `a: {${times(50_000, (n) => `\n  k${n}\n  :\n  v`).join(',')}}`,
  'block-deep': () => `a:\n${times(1500, (n) => `${' '.repeat(n + 1)}a:`).join('\n')}`,
  'block-stairs': () =>
    times(500, () => `- ${'- '.repeat(190)}a`)
      .join('\n')
      .replace(/^/, 'a:\n'),
  'seq-dashes': () => `a: \n${'- '.repeat(100_000)}`,
  'question-marks': () => `a: \n${'? '.repeat(100_000)}`,
  'complex-keys': () => times(30_000, (n) => `? [a, ${n}]\n: b`).join('\n'),
  'long-scalar': () => `a: ${'x'.repeat(4_000_000)}`,
  'long-words': () => `a: ${'x y '.repeat(1_000_000)}`,
  'folded-plain': () => `a: ${'word\n   '.repeat(300_000)}`,
  'folded-double': () => `a: "${'word\n   '.repeat(300_000)}"`,
  'folded-single': () => `a: '${"wo''rd\n   ".repeat(300_000)}'`,
  'blank-lines-quoted': () => `a: "x${'\n'.repeat(500_000)}y"`,
  'blank-lines-plain': () => `a: x${'\n'.repeat(500_000)}  y`,
  'blank-lines-block': () => `a: |\n${'\n'.repeat(500_000)}  y`,
  'folded-block': () => `a: >\n${'  x\n\n   y\n'.repeat(100_000)}`,
  'block-many': () => times(30_000, (n) => `a${n}: |+2\n   x\n\n`).join(''),
  escapes: () => `a: "${'\\u0041\\x41\\n'.repeat(200_000)}"`,
  'escapes-wrong': () => `a: "${'\\q'.repeat(200_000)}"`,
  surrogates: () => `a: [${times(50_000, () => '"\\ud800"').join(', ')}]`,
  'spaces-trailing': () => `a: x${' '.repeat(1_000_000)}y`,
  'spaces-many': () => `a: "${`${' '.repeat(1000)}\n`.repeat(1000)}"`,
  tabs: () => `a:${'\t'.repeat(1_000_000)}x`,
  comments: () => `${'# comment\n'.repeat(200_000)}a: 1`,
  'comment-long': () => `a: 1 #${'x'.repeat(4_000_000)}`,
  'comments-between': () => times(50_000, (n) => `a${n}: 1 # c\n# d\n\n`).join(''),
  'number-digits': () => `a: ${'9'.repeat(1_000_000)}`,
  'numbers-digits': () => `a: [${times(3000, () => '9'.repeat(300)).join(', ')}]`,
  'numbers-hex': () => `a: [${times(2000, () => `0x${'f'.repeat(250)}`).join(', ')}]`,
  'number-hex-long': () => `a: 0x${'f'.repeat(1_000_000)}`,
  'number-exponent': () => `a: [${times(20_000, (n) => `1e${n + 400}`).join(', ')}]`,
  'number-zeros': () => `a: 0.${'0'.repeat(1_000_000)}1`,
  'number-points': () => `a: ${'1.'.repeat(500_000)}`,
  tags: () => `a: [${times(50_000, (n) => `!t${n} x`).join(', ')}]`,
  'tag-long': () => `a: !${'t'.repeat(1_000_000)} x`,
  'tags-known': () => `a: [${times(50_000, () => '!!set {a}').join(', ')}]`,
  'keys-twice': () => times(100_000, () => 'a: 1').join('\n'),
  'keys-number': () => times(50_000, (n) => `1.${n}0: a`).join('\n'),
  'keys-long': () => times(1000, (n) => `? ${'k'.repeat(5000)}${n}\n: 1`).join('\n'),
  'key-implicit-long': () => `${'k'.repeat(1_000_000)}: 1`,
  'keys-unclosed': () => times(50_000, (n) => `k${n}`).join('\n'),
  'bad-indent': () => times(50_000, (n) => `${' '.repeat(n % 7)}k${n}: 1`).join('\n'),
  documents: () => '---\na: 1\n'.repeat(100_000),
  'document-ends': () => '...\n'.repeat(200_000),
  directives: () => `...\n${'%FOO bar\n'.repeat(100_000)}---\na: 1`,
  crlf: () => `${'a: |\r\n  x\r\n'.repeat(1)}${'\r\n'.repeat(500_000)}b: 1`,
  quotes: () => `a: ${"'".repeat(500_001)}`,
  'brackets-wrong': () => `a: ${']'.repeat(100_000)}`,
  'braces-wrong': () => `a: ${'}{'.repeat(100_000)}`,
  ampersands: () => `a: ${'&'.repeat(100_000)}`,
  'anchor-twice': () => `a: ${'&a '.repeat(50_000)}x`,
  stars: () => `a: ${'*'.repeat(100_000)}`,
  pipes: () => `a: ${'|'.repeat(100_000)}`,
  'at-signs': () => times(50_000, (n) => `a${n}: @x`).join('\n'),
  'pointer-bomb': () => {
    const lines = times(100, (n) => `${' '.repeat(n)}${'k'.repeat(800)}${n}:`);
    return [...lines, ...times(2000, () => `${' '.repeat(100)}a: 1`)].join('\n');
  },
  'pointer-bomb-tags': () => {
    const lines = times(100, (n) => `${' '.repeat(n)}${'k'.repeat(800)}${n}:`);
    return [...lines, ...times(2000, (n) => `${' '.repeat(100)}a${n}: 1e999`)].join('\n');
  },
};

/** JSON texts that hurt, after a document's first member. */
const jsonFamilies: Record<string, () => string> = {
  deep: () => `"a":${'['.repeat(500_000)}`,
  'deep-objects': () => `"a":${'{"a":'.repeat(500_000)}`,
  'keys-twice': () => times(200_000, () => '"a":1').join(','),
  'keys-twice-deep': () => `"a":${'{"a":1,"a":'.repeat(150)}1${'}'.repeat(150)}`,
  'pointer-bomb': () =>
    `${times(150, (n) => `"${'k'.repeat(2000)}${n}":{`).join('')}${times(2000, () => '"a":1').join(',')}${'}'.repeat(150)}`,
  'pointer-bomb-array': () =>
    `"x":${times(150, () => `{"${'k'.repeat(2000)}":`).join('')}[${times(5000, () => '1e999').join(',')}]${'}'.repeat(150)}`,
  spaces: () => `"a":${' '.repeat(8_000_000)}1`,
  newlines: () => `"a":${'\n'.repeat(2_000_000)}1`,
  'number-digits': () => `"a":${'9'.repeat(1_000_000)}`,
  'number-many-digits': () => `"a":[${times(3000, () => '9'.repeat(300)).join(',')}]`,
  'number-fraction': () => `"a":1.${'3'.repeat(2_000_000)}`,
  'numbers-large': () => `"a":[${times(50_000, (n) => `1e${n + 400}`).join(',')}]`,
  'integers-large': () => `"a":[${times(50_000, (n) => `9007199254740993${n}`).join(',')}]`,
  'string-long': () => `"a":"${'x'.repeat(8_000_000)}"`,
  'string-escapes': () => `"a":"${'\\u0041'.repeat(500_000)}"`,
  'string-backslashes': () => `"a":"${'\\\\'.repeat(1_000_000)}"`,
  'strings-empty': () => `"a":[${times(500_000, () => '""').join(',')}]`,
  'arrays-empty': () => `"a":[${times(500_000, () => '[]').join(',')}]`,
  'objects-empty': () => `"a":[${times(200_000, () => '{}').join(',')}]`,
  nulls: () => `"a":[${times(800_000, () => 'null').join(',')}]`,
  surrogates: () => `"a":[${times(50_000, () => '"\\ud800"').join(',')}]`,
  'unclosed-string': () => `"a":"${'x'.repeat(4_000_000)}`,
  'broken-utf8': () => `"a":"${'\ufffd'.repeat(1_000_000)}"`,
};

function json(name: string, type: ResourceType, document: object): HostileDocument {
  return { name, type, files: { 'a.json': JSON.stringify(document) } };
}

/** Every family in every form. Deterministic; each text is made when it is asked for. */
export function hostileDocuments(): { name: string; make: () => HostileDocument }[] {
  const all: { name: string; make: () => HostileDocument }[] = [];
  const add = (name: string, type: ResourceType, document: () => object) =>
    all.push({ name, make: () => json(name, type, document()) });
  const addText = (name: string, type: ResourceType, path: string, text: () => string) =>
    all.push({ name, make: () => ({ name, type, files: { [path]: text() } }) });

  for (const [family, make] of Object.entries(schemaFamilies)) {
    for (const version of ['2.0', '3.0', '3.1'] as const)
      add(`schema/${family}/${version}`, 'apis', () => api(version, make(oas[version].at)));
    for (const draft of Object.keys(drafts) as Draft[])
      add(`schema/${family}/${draft}`, 'schemas', () => root(draft, make(`#/${drafts[draft].folder}/`)));
    addText(`schema/${family}/yaml`, 'apis', 'a.yaml', () => blockYaml(api('3.1', make(oas['3.1'].at))));
  }
  for (const [family, make] of Object.entries(openapiFamilies))
    for (const version of ['2.0', '3.0', '3.1'] as const)
      add(`openapi/${family}/${version}`, 'apis', () => make(version));
  for (const [family, make] of Object.entries(draftFamilies))
    for (const draft of Object.keys(drafts) as Draft[]) add(`draft/${family}/${draft}`, 'schemas', () => make(draft));
  for (const [family, make] of Object.entries(rulesetFamilies)) add(`ruleset/${family}`, 'rulesets', make);
  const types = { '3.0': 'apis', schema: 'schemas', ruleset: 'rulesets' } as const;
  for (const [form, type] of Object.entries(types)) {
    for (const [family, make] of Object.entries(yamlFamilies))
      addText(`yaml/${family}/${form}`, type, 'a.yaml', () => `${rootOf[form]}\n${make()}\n`);
    const first = JSON.stringify(rootOf[form])
      .replace(/: (.*)"$/, '": $1')
      .replace(/: ([^[].*)$/, ': "$1"')
      .replace('[minimal]', '["minimal"]');
    for (const [family, make] of Object.entries(jsonFamilies))
      addText(`json/${family}/${form}`, type, 'a.json', () => `{${first},${make()}}`);
  }
  return [...all, ...moreHostileDocuments()];
}

/** The document as YAML in flow style: what the reader of YAML makes of so many nodes. */
function blockYaml(document: object): string {
  return `# yaml\n${Object.entries(document)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join('\n')}\n`;
}
