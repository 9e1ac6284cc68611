import type { HostileDocument } from './hostile-documents.ts';

/** As many values, each made from its number. */
export function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function named<T>(count: number, prefix: string, make: (at: number) => T): Record<string, T> {
  return Object.fromEntries(times(count, (at) => [`${prefix}${at}`, make(at)]));
}

/** `depth` objects in each other, each made from the one inside it. */
export function nest(depth: number, wrap: (inner: unknown, level: number) => unknown, core: unknown): unknown {
  let inner = core;
  for (let level = depth; level > 0; level--) inner = wrap(inner, level);
  return inner;
}

function api(more: object): object {
  return { openapi: '3.1.0', info: { title: 'a', version: '1' }, paths: {}, ...more };
}

const ok = { '200': { description: 'a' } };
const string = { type: 'string' };

/** An API of `count` operations, each made by `make`. */
function operations(count: number, make: (at: number) => object, components: object = {}): object {
  return api({ paths: named(count, '/p', (at) => ({ get: { responses: ok, ...make(at) } })), components });
}

function described(description: string): object {
  return api({ info: { title: 'a', version: '1', description } });
}

/** OpenAPI documents that are dear to check or, being small, to show. */
const apis: Record<string, () => object> = {
  servers: () =>
    api({
      servers: times(3000, (at) => ({
        url: `https://{v0}.${at}.example/{v1}`,
        variables: named(10, 'v', () => ({ default: 'a', enum: times(10, (n) => `a${n}`) })),
      })),
    }),
  'server-variables': () =>
    api({
      servers: [
        { url: '{v0}'.repeat(5000), variables: named(20, 'v', (at) => ({ default: `{v${at + 1}}`.repeat(500) })) },
      ],
    }),
  links: () =>
    operations(100, () => ({
      responses: {
        '200': {
          description: 'a',
          links: named(300, 'l', (at) => ({ operationId: `o${at}`, parameters: { a: '$request.body#/a' } })),
        },
      },
    })),
  callbacks: () =>
    api({
      paths: {
        '/a': nest(40, (inner) => ({ post: { responses: ok, callbacks: { a: { '{$request.body#/url}': inner } } } }), {
          post: { responses: ok },
        }),
      },
    }),
  'callbacks-fan': () =>
    operations(300, () => ({ callbacks: named(20, 'c', () => ({ $ref: '#/components/callbacks/c0' })) }), {
      callbacks: { c0: named(20, '{$url}/', () => ({ $ref: '#/components/pathItems/i' })) },
      pathItems: {
        i: {
          post: {
            requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/s' } } } },
            responses: ok,
            callbacks: named(20, 'c', () => ({ $ref: '#/components/callbacks/c0' })),
          },
        },
      },
      schemas: { s: { type: 'object', properties: named(200, 'p', () => string) } },
    }),
  webhooks: () => api({ webhooks: named(10_000, 'w', () => ({ post: { responses: ok } })) }),
  'examples-of-branches': () =>
    operations(1, () => ({
      responses: {
        '200': {
          description: 'a',
          content: {
            'application/json': {
              schema: {
                type: 'array',
                items: {
                  oneOf: times(200, (at) => ({
                    type: 'object',
                    required: [`p${at}`, 'x'],
                    properties: { [`p${at}`]: { type: 'integer' } },
                  })),
                },
              },
              example: times(5000, (at) => ({ [`p${at % 200}`]: 'a', x: 1 })),
            },
          },
        },
      },
    })),
  'tag-groups': () =>
    api({
      tags: times(3000, (at) => ({ name: `t${at}` })),
      'x-tagGroups': times(3000, (at) => ({ name: `g${at}`, tags: times(10, (n) => `t${(at * 7 + n) % 3000}`) })),
    }),
  'tag-each': () => operations(3000, (at) => ({ tags: [`t${at}`] })),
  'allof-required': () =>
    operations(
      200,
      () => ({
        responses: {
          '200': { description: 'a', content: { 'application/json': { schema: { $ref: '#/components/schemas/s0' } } } },
        },
      }),
      {
        schemas: {
          ...named(40, 's', (at) => ({
            allOf: [
              { $ref: `#/components/schemas/s${at + 1}` },
              { required: times(100, (n) => `p${at}x${n}`), properties: named(100, `p${at}x`, () => string) },
            ],
          })),
          s40: { type: 'object' },
        },
      },
    ),
  'title-long': () => api({ info: { title: 't'.repeat(1_000_000), version: '1' } }),
  'summaries-long': () => operations(20, () => ({ summary: 's '.repeat(50_000), operationId: 'i'.repeat(50_000) })),
  'unicode-marks': () => described(`a${'\u0301'.repeat(500_000)}`),
  'unicode-ligatures': () =>
    api({ info: { title: '\ufdfa'.repeat(100_000), version: '1', description: '\ufdfa'.repeat(200_000) } }),
  'unicode-directions': () => operations(2000, (at) => ({ summary: `\u202e${'\u2066'.repeat(100)}${at}` })),
  'unicode-names': () =>
    api({
      components: { schemas: named(5000, 'e', (at) => ({ title: '\u{1f468}\u200d\u{1f469}\u200d'.repeat(20) + at })) },
    }),
  'media-types': () =>
    operations(1, () => ({
      requestBody: {
        content: named(5000, 'a/b', (at) => ({ schema: { type: 'object', properties: { [`p${at}`]: string } } })),
      },
    })),
  'media-types-long': () =>
    operations(100, () => ({ requestBody: { content: { [`a/b;${'c=d;'.repeat(5000)}`]: { schema: string } } } })),
  'schemes-many': () =>
    operations(500, () => ({ security: times(20, (at) => named(20, 's', () => times(10, (n) => `w${at}${n}`))) }), {
      securitySchemes: named(1000, 's', () => ({
        type: 'oauth2',
        flows: { implicit: { authorizationUrl: 'https://a.example', scopes: named(50, 'w', () => 'a') } },
      })),
    }),
  'bodies-shared': () =>
    operations(3000, () => ({ requestBody: { $ref: '#/components/requestBodies/b' } }), {
      requestBodies: {
        b: {
          content: named(50, 'a/b', (at) => ({
            schema: { type: 'object', properties: named(20, `p${at}`, () => string) },
          })),
        },
      },
    }),
  'responses-shared': () =>
    operations(2000, () => ({ responses: named(10, '20', () => ({ $ref: '#/components/responses/r' })) }), {
      responses: {
        r: {
          description: 'a',
          headers: named(300, 'h', () => ({ schema: string })),
          content: named(30, 'a/b', (at) => ({
            schema: { type: 'object', properties: named(20, `p${at}`, () => string) },
          })),
        },
      },
    }),
  'examples-shared': () =>
    operations(
      2000,
      () => ({
        responses: {
          '200': {
            description: 'a',
            content: { 'application/json': { examples: { e: { $ref: '#/components/examples/e' } } } },
          },
        },
      }),
      { examples: { e: { value: times(3000, (at) => ({ a: at, b: 'text' })) } } },
    ),
  'parameters-referenced': () =>
    operations(300, () => ({ parameters: times(200, (at) => ({ $ref: `#/components/parameters/p${at}` })) }), {
      parameters: named(200, 'p', (at) => ({
        name: `p${at}`,
        in: 'query',
        schema: { $ref: '#/components/schemas/s' },
      })),
      schemas: { s: { type: 'string', enum: times(500, (at) => `v${at}`) } },
    }),
  'enum-shared': () =>
    operations(
      3000,
      () => ({
        responses: {
          '200': { description: 'a', content: { 'application/json': { schema: { $ref: '#/components/schemas/e' } } } },
        },
      }),
      { schemas: { e: { type: 'string', enum: times(20_000, (at) => `value ${at}`) } } },
    ),
  'branches-shared': () =>
    operations(
      1000,
      () => ({
        responses: {
          '200': { description: 'a', content: { 'application/json': { schema: { $ref: '#/components/schemas/s' } } } },
        },
      }),
      {
        schemas: {
          s: { oneOf: times(300, (at) => ({ $ref: `#/components/schemas/b${at}` })) },
          ...named(300, 'b', () => ({
            type: 'object',
            properties: named(5, 'p', () => ({ $ref: '#/components/schemas/s' })),
          })),
        },
      },
    ),
  'pattern-hard': () =>
    api({
      components: {
        schemas: { a: { type: 'string', pattern: '((a{1,30}){1,30}){1,30}'.repeat(3), default: 'a'.repeat(3000) } },
      },
    }),
};

/** Markdown that parsers are slow for. */
const markdowns: Record<string, () => string> = {
  'lists-nested': () => times(3000, (at) => `${' '.repeat((at % 100) * 2)}- a`).join('\n'),
  'quotes-nested': () => `${'>'.repeat(50_000)} a\n`.repeat(4),
  emphasis: () => '*a **b _c __d '.repeat(20_000),
  'emphasis-closing': () => `${'*a_ '.repeat(30_000)}${'b* _c'.repeat(30_000)}`,
  tables: () => `|${'a|'.repeat(500)}\n|${'-|'.repeat(500)}\n${`|${'b|'.repeat(500)}\n`.repeat(200)}`,
  'tables-short': () => `|${'a|'.repeat(2000)}\n|${'-|'.repeat(2000)}\n${'|b\n'.repeat(5000)}`,
  links: () => '[a](b "c") '.repeat(40_000),
  'links-open': () => '[a]('.repeat(60_000),
  'links-defined': () =>
    `${times(20_000, (at) => `[r${at}]: /a${at}`).join('\n')}\n\n${times(20_000, (at) => `[r${at}]`).join(' ')}`,
  images: () => '![a](https://a.example/b.png)'.repeat(20_000),
  backticks: () => times(1500, (at) => '`'.repeat(at + 1)).join(' a '),
  tags: () => '<div><b><a href="x">'.repeat(20_000),
  'tags-open': () => '<a '.repeat(100_000),
  comments: () => '<!-- '.repeat(100_000),
  entities: () => '&amp;&#x41;&notathing;'.repeat(30_000),
  headings: () => times(20_000, (at) => `# h${at % 50}`).join('\n'),
  fences: () => '```js\na\n'.repeat(30_001),
  rules: () => '* * *\n'.repeat(60_000),
  autolinks: () => '<https://a.example/b> '.repeat(20_000),
};

function schema(more: object): object {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...more };
}

/** JSON Schemas that are dear to check. */
const schemas: Record<string, () => object> = {
  'dynamic-fan': () =>
    schema({
      $defs: {
        ...named(200, 's', (at) => ({
          $id: `https://a.example/${at}`,
          $dynamicAnchor: 'n',
          $ref: `https://a.example/${(at + 1) % 200}`,
          not: { $dynamicRef: '#n' },
        })),
        fan: { anyOf: times(3000, () => ({ $dynamicRef: 'https://a.example/0#n' })) },
      },
    }),
  'pattern-properties-hard': () =>
    schema({
      patternProperties: Object.fromEntries(times(300, (at) => [`^(a{1,50}){1,20}${at}\\p{L}{1,100}$`, string])),
    }),
  'pattern-properties-default': () =>
    schema({
      type: 'object',
      patternProperties: Object.fromEntries(times(1000, (at) => [`^(a|b|c)*${at}$`, string])),
      default: named(500, 'abcabcabcabc', () => 'a'),
    }),
  'unevaluated-deep': () =>
    schema(
      nest(
        60,
        (inner) => ({ allOf: [inner, { properties: named(30, 'p', () => true) }], unevaluatedProperties: false }),
        {},
      ) as object,
    ),
  'required-merge': () =>
    schema({
      allOf: times(300, (at) => ({
        required: times(100, (n) => `p${at * n}`),
        properties: named(20, `q${at}x`, () => string),
      })),
    }),
  'dependent-required': () => schema({ dependentRequired: named(5000, 'p', (at) => times(20, (n) => `p${at + n}`)) }),
  'titles-long': () => schema({ title: 't'.repeat(1_000_000), description: 'd'.repeat(1_000_000) }),
  'formats-unknown': () => schema({ properties: named(20_000, 'p', (at) => ({ type: 'string', format: `f${at}` })) }),
  contents: () =>
    schema({
      properties: named(5000, 'p', () => ({ contentMediaType: 'application/json', contentSchema: { $ref: '#' } })),
    }),
  'defaults-wrong': () =>
    schema({ properties: named(10_000, 'p', () => ({ type: 'integer', default: { a: 'b' }, examples: ['a', 'b'] })) }),
};

/** Rulesets. */
const rulesets: Record<string, () => object> = {
  'alias-fan': () => ({
    aliases: { a: times(500, (at) => `$..a${at}`) },
    rules: named(1000, 'r', () =>
      Object.fromEntries([
        ['given', times(100, (at) => `#a.b${at}`)],
        ['th'.concat('en'), { function: 'truthy' }],
      ]),
    ),
  }),
  'patterns-hard': () => ({
    rules: named(1000, 'r', (at) =>
      Object.fromEntries([
        ['given', '$'],
        ['th'.concat('en'), { function: 'pattern', functionOptions: { match: `(a{1,50}){1,20}${at}` } }],
      ]),
    ),
  }),
  'schemas-many': () => ({
    rules: named(1000, 'r', (at) =>
      Object.fromEntries([
        ['given', '$'],
        [
          'th'.concat('en'),
          {
            function: 'schema',
            functionOptions: { schema: { type: 'object', properties: named(20, `p${at}x`, () => string) } },
          },
        ],
      ]),
    ),
  }),
};

/** YAML texts, after the first line of an OpenAPI document. */
const yamls: Record<string, () => string> = {
  binary: () => `a: [${times(20_000, () => '!!binary aGVsbG8=').join(', ')}]`,
  'binary-long': () => `a: !!binary ${'aGVs'.repeat(500_000)}`,
  omap: () => `a: !!omap [${times(10_000, (at) => `k${at}: 1`).join(', ')}]`,
  timestamps: () => `a: [${times(20_000, () => '2001-12-14t21:59:43.10-05:00').join(', ')}]`,
  'comment-huge': () => `a: 1 # ${'c'.repeat(8_000_000)}`,
  'block-huge': () => `a: |\n${`  ${'x'.repeat(70)}\n`.repeat(60_000)}`,
  'documents-many': () => '--- a\n'.repeat(100_000),
  indicators: () => times(20_000, (at) => `k${at}: ["\\x${at}", ~, yes, 0o7, 0x1F, .inf, -.INF]`).join('\n'),
};

/** Documents by `family`; later ideas than those of `hostile-documents.ts`, each in one form. */
export function moreHostileDocuments(): { name: string; make: () => HostileDocument }[] {
  const json = (folder: string, type: HostileDocument['type'], families: Record<string, () => object>) =>
    Object.entries(families).map(([family, make]) => {
      const name = `${folder}/${family}`;
      return { name, make: (): HostileDocument => ({ name, type, files: { 'a.json': JSON.stringify(make()) } }) };
    });
  const markdown = Object.fromEntries(
    Object.entries(markdowns).map(([family, make]) => [family, () => described(make())]),
  );
  return [
    ...json('more-api', 'apis', apis),
    ...json('more-markdown', 'apis', markdown),
    ...json('more-schema', 'schemas', schemas),
    ...json('more-ruleset', 'rulesets', rulesets),
    ...Object.entries(yamls).map(([family, make]) => {
      const name = `more-yaml/${family}`;
      const text = () =>
        `openapi: 3.1.0\ninfo: {title: a, version: "1"}\npaths: {}\nx-a:\n  ${make().replaceAll('\n', '\n  ')}\n`;
      return { name, make: (): HostileDocument => ({ name, type: 'apis', files: { 'a.yaml': text() } }) };
    }),
  ];
}
