import { createHook } from 'node:async_hooks';
import { gunzipSync, brotliDecompressSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';

const head = 'openapi: 3.1.0\ninfo:\n  title: Pets\n  version: 1.2.0\n  description: All of them\n';
const response = (schema: string) => `${head}paths:
  /pets:
    get:
      responses:
        "200":
          description: ok
          content:
            application/json:
              schema:
                $ref: ${JSON.stringify(schema)}
`;

describe('a document in one file', () => {
  it('keeps its author’s text in its own format, without the byte order mark, and gets the other', async () => {
    const text = `${head}# a comment\npaths: {}\n`;
    const { artifact, lines, yaml, value } = await run({ 'a.yaml': `\ufeff${text}` });
    expect(lines).toEqual([]);
    expect(yaml).toBe(text);
    expect(value).toEqual({
      openapi: '3.1.0',
      info: { title: 'Pets', version: '1.2.0', description: 'All of them' },
      paths: {},
    });
    expect(artifact).toMatchObject({
      type: 'apis',
      kind: 'openapi',
      specification: '3.1.0',
      title: 'Pets',
      description: 'All of them',
      version: '1.2.0',
    });
  });

  it('is described in lists by the summary that it gives, else by the first paragraph of its description', async () => {
    const described = async (info: string) =>
      (await run({ 'a.yaml': `openapi: 3.1.0\ninfo: {title: A, version: "1"${info}}\npaths: {}\n` })).artifact?.summary;
    expect(await described(', summary: All *pets*., description: Long')).toBe('All pets.');
    expect(await described(', description: "# Use\\n\\nFirst.\\n\\nSecond."')).toBe('First.');
  });

  it('is compressed only when nothing refuses it', async () => {
    let begun = 0;
    const hook = createHook({ init: (_, type) => void (type === 'ZLIB' && begun++) }).enable();
    const { artifact } = await run({
      'a.yaml': `openapi: 3.1.0\ninfo: {title: ${'x'.repeat(3_000_000)}}\npaths: {}\n`,
    });
    expect([artifact, begun]).toEqual([null, 0]);
    hook.disable();
  });

  it('has no artifact where only its report is wanted, and the same report', async () => {
    const files = { 'a.yaml': 'openapi: 3.1.0\ninfo: {title: A, version: "1"}\npaths:\n  /a/{b}: {get: {}}\n' };
    const [whole, alone] = [await run(files), await run(files, { reportOnly: true })];
    expect(whole.artifact).not.toBeNull();
    expect(alone).toMatchObject({ artifact: null, report: whole.report });
  });

  const written = '{"openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {}}';
  const large = `${JSON.stringify({ ...(JSON.parse(written) as object), description: 'x'.repeat(40_000) }, null, 2)}\n`;

  it.each([
    ['a.json', written, 'openapi: "3.0.3"\ninfo:\n  title: x\n  version: "1"\npaths: {}\n'],
    // Larger: threads encode them. Both formats are the same text.
    ['a.yaml', large, large],
  ])('is stored in every coding: %s', async (path, asJson, asYaml) => {
    const { artifact, json, yaml } = await run(
      { [path]: path === 'a.json' ? asJson : asYaml },
      { validation: 'lenient' },
    );
    expect([json, yaml]).toEqual([asJson, asYaml]);
    const unpack = {
      identity: (bytes: Uint8Array) => bytes,
      gzip: gunzipSync,
      br: brotliDecompressSync,
      zstd: zstdDecompressSync,
    };
    expect(
      artifact?.representations.map(({ format, coding, bytes }) => [
        format,
        coding,
        Buffer.from(unpack[coding](bytes)).toString(),
      ]),
    ).toEqual(
      Object.entries({ json, yaml }).flatMap(([format, text]) =>
        ['identity', 'gzip', 'br', 'zstd'].map((coding) => [format, coding, text]),
      ),
    );
  });

  it.each([
    ['2.0', 'swagger: "2.0"\ninfo: {title: x, version: "1"}\npaths: {}'],
    ['3.0.4', 'openapi: 3.0.4\ninfo: {title: x, version: "1"}\npaths: {}'],
    ['3.1.1', 'openapi: 3.1.1\ninfo: {title: x, version: "1"}\nwebhooks: {}'],
    ['3.2.0', 'openapi: 3.2.0\ninfo: {title: x, version: "1"}\n$self: https://example.com/a\ncomponents: {}'],
  ])('may be OpenAPI %s', async (specification, text) => {
    expect((await run({ 'a.yaml': text })).artifact).toMatchObject({ specification });
  });

  it.each([
    [
      'openapi: 3.3.0\npaths: {}',
      'a.yaml:1:10 error openapi-version: The OpenAPI version "3.3.0" is not supported. Use 3.0.x, 3.1.x or 3.2.x, or set validation to lenient: then it is checked as 3.2.',
    ],
    [
      'openapi: 4.0.0',
      'a.yaml:1:10 error openapi-version: The OpenAPI version "4.0.0" is not supported. Use 3.0.x, 3.1.x or 3.2.x.',
    ],
    [
      'openapi: 3.1',
      'a.yaml:1:10 error openapi-version: "openapi" must be a text with the whole version, not 3.1. Write openapi: "3.1.1".',
    ],
    [
      'swagger: 2.0',
      'a.yaml:1:10 error openapi-version: "swagger" must be a text with the whole version, not 2.0. Write swagger: "2.0".',
    ],
    [
      'swagger: "1.2"',
      'a.yaml:1:10 error openapi-version: The OpenAPI version "1.2" is not supported. Use swagger: "2.0".',
    ],
    [
      'info: {}',
      'a.yaml:1:1 error kind-unknown: The document is not an OpenAPI document. Add "openapi" with a version, such as "openapi: 3.1.0", at its root.',
    ],
    [
      '$schema: https://json-schema.org/draft/2020-12/schema',
      'a.yaml:1:1 error kind-mismatch: The document is a JSON Schema, not an OpenAPI document.',
    ],
  ])('is refused by its root: %j', async (text, problem) => {
    const { artifact, lines } = await run({ 'a.yaml': text });
    expect(artifact === null).toBe(true);
    expect(lines).toEqual([problem]);
  });
});

describe('validity', () => {
  const invalid = `${head}paths:\n  /pets:\n    get:\n      responses:\n        "200": {}\n      parameters:\n        - name: a\n          in: qurey\n      summry: x\n`;

  it('strict: every departure from the schema is an error at its place', async () => {
    const { artifact, lines } = await run({ 'a.yaml': invalid });
    expect(artifact === null).toBe(true);
    expect(lines).toEqual([
      expect.stringMatching(/^a.yaml:10:9 error schema: .*"description"/),
      expect.stringMatching(/^a.yaml:13:15 error schema: .*"query"/),
      expect.stringMatching(/^a.yaml:14:7 error schema: "summry" is not expected here\. Did you mean "summary"\?/),
    ]);
  });

  it('an unknown member is reported beside what is missing', async () => {
    const text = `${head}paths:\n  /pets:\n    get:\n      responses:\n        "2xx": {description: ok}\n`;
    expect((await run({ 'a.yaml': text })).lines).toEqual([
      'a.yaml:9:7 error schema: "responses" is missing the member "default".',
      'a.yaml:10:9 error schema: "2xx" is not expected here.',
    ]);
  });

  it('lenient: they are warnings, and the document is published', async () => {
    const { artifact, report } = await run({ 'a.yaml': invalid }, { validation: 'lenient' });
    expect(artifact === null).toBe(false);
    expect(report.counts).toEqual({ error: 0, warning: 3, info: 0 });
  });

  it.for([
    ['2.5', '2.5'],
    ['1.0', '1.0'],
    ['3.10 # ten', '3.10'],
    ['20240101', '20240101'],
    ['"2.50"', '2.50'],
    ['&v 2.5', '2.5'],
  ])(
    'lenient: a version that is the number %s is read as it is written, in YAML and in JSON',
    async ([written, version]) => {
      const yaml = { 'a.yaml': `openapi: 3.1.0\ninfo:\n  title: Pets\n  version: ${written}\npaths: {}\n` };
      expect((await run(yaml, { validation: 'lenient' })).artifact?.version).toBe(version);
      if (!/^["\d.]+$/.test(written!)) return;
      const json = { 'a.json': `{"openapi": "3.1.0", "info": {"title": "Pets", "version": ${written}}, "paths": {}}` };
      expect((await run(json, { validation: 'lenient' })).artifact?.version).toBe(version);
    },
  );

  it('lenient: what is not a document stays rejected', async () => {
    expect((await run({ 'a.yaml': `${head}paths: {}\ninfo: {}\n` }, { validation: 'lenient' })).lines).toContain(
      'a.yaml:7:1 error duplicate-key: Duplicate key "info". Remove one of the two.',
    );
  });

  it('finds members that are named like methods', async () => {
    const { lines } = await run({
      'a.yaml': `${head}paths:\n  /a:\n    hasOwnProperty: 1\n    toString: 2\n    get: {constructor: {}}\n`,
    });
    expect(lines).toEqual([
      'a.yaml:8:5 error schema: "hasOwnProperty" is not expected here.',
      'a.yaml:9:5 error schema: "toString" is not expected here.',
      'a.yaml:10:11 error schema: "constructor" is not expected here.',
    ]);
  });
});

describe('references', () => {
  it('are brought in from other files, asked for in one batch a round', async () => {
    const { artifact, lines, batches, value } = await run({
      'specs/a.yaml': response('../schemas/Pet.yaml'),
      'schemas/Pet.yaml':
        'type: object\nproperties:\n  owner: {$ref: Owner.yaml}\n  tag: {$ref: "Tags.json#/definitions/Tag"}\n  mother: {$ref: Pet.yaml}\n',
      'schemas/Owner.yaml': 'type: string\n',
      'schemas/Tags.json': '{"definitions": {"Tag": {"type": "integer"}}}',
    });
    expect(lines).toEqual([]);
    expect(artifact === null).toBe(false);
    expect(batches).toEqual([['specs/a.yaml'], ['schemas/Pet.yaml'], ['schemas/Owner.yaml', 'schemas/Tags.json']]);
    expect(value).toMatchObject({
      paths: {
        '/pets': {
          get: {
            responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } } },
          },
        },
      },
      components: {
        schemas: {
          Pet: {
            properties: {
              owner: { $ref: '#/components/schemas/Owner' },
              tag: { $ref: '#/components/schemas/Tag' },
              mother: { $ref: '#/components/schemas/Pet' },
            },
          },
          Owner: { type: 'string' },
          Tag: { type: 'integer' },
        },
      },
    });
  });

  it('bring in files of text, and discriminators’ mappings', async () => {
    const { lines, value } = await run({
      'a.yaml': `${head}  x-code: {$ref: hello.cs}\npaths: {}\ncomponents:\n  schemas:\n    Pet:\n      discriminator: {propertyName: t, mapping: {cat: ./Cat.yaml, dog: Dog}}\n`,
      'hello.cs': 'class Hello {}\n',
      'Cat.yaml': 'type: object\n',
    });
    expect(lines).toEqual([]);
    expect(value).toMatchObject({
      info: { 'x-code': 'class Hello {}\n' },
      components: {
        schemas: {
          Cat: { type: 'object' },
          Pet: { discriminator: { mapping: { cat: '#/components/schemas/Cat', dog: 'Dog' } } },
        },
      },
    });
  });

  it('in extensions are followed however deep they stand, and only warn', async () => {
    const { lines, value } = await run({
      'a.yaml': `${head}paths: {}\nx-topics:\n  - content: {$ref: docs/a.md}\n  - content: {$ref: docs/none.md}\n  - {a: {b: {$ref: "docs/b.yaml#/deep"}}}\n`,
      'docs/a.md': '# Hello\n',
      'docs/b.yaml': 'deep:\n  text: {$ref: a.md}\n  again: {$ref: "b.yaml#/deep"}\n',
    });
    expect(value).toMatchObject({
      'x-topics': [
        { content: '# Hello\n' },
        { content: { $ref: 'docs/none.md' } },
        { a: { b: { text: '# Hello\n' } } },
      ],
    });
    expect(lines).toEqual([
      'a.yaml:9:21 warning file-missing: The reference "docs/none.md" points to docs/none.md, which does not exist.',
      'docs/b.yaml:3:17 warning ref-circular: The reference "b.yaml#/deep" points to a part that contains it, so it cannot be bundled.',
    ]);
  });

  it('to parts with names that OpenAPI does not allow get names that it does', async () => {
    const { lines, value } = await run({
      'a.yaml': response('my%20schemas/Pet%20Model.yaml'),
      'my schemas/Pet Model.yaml':
        'properties:\n  a: {$ref: "defs.yaml#/definitions/a~1b"}\n  b: {$ref: "Pet Model.yaml"}\n',
      'my schemas/defs.yaml': 'definitions: {a/b: {type: string}}\n',
    });
    expect(lines).toEqual([]);
    expect(value).toMatchObject({
      components: {
        schemas: {
          'Pet-Model': {
            properties: { a: { $ref: '#/components/schemas/a-b' }, b: { $ref: '#/components/schemas/Pet-Model' } },
          },
          'a-b': { type: 'string' },
        },
      },
    });
  });

  it('that say in which file a part is invalid say it at its place there', async () => {
    const { lines } = await run({
      'a.yaml': `${head}paths:\n  /pets: {$ref: paths/pets.yaml}\n`,
      'paths/pets.yaml': 'get:\n  responses:\n    "200":\n      description: ok\n      contents: {}\n',
    });
    expect(lines).toEqual([
      'paths/pets.yaml:5:7 error schema: "contents" is not expected here. Did you mean "content"?',
    ]);
  });

  it.each([
    ['https://example.com/a.yaml', 'ref-remote'],
    ['file:///etc/passwd', 'ref-scheme'],
    ['/etc/passwd', 'ref-outside-tree'],
    ['../../a.yaml', 'ref-outside-tree'],
    ['%2e%2e/b.yaml', 'ref-syntax'],
    ['@acme/schemas/pet@1.0.0', 'ref-registry'],
    ['none.yaml', 'file-missing'],
    ['#/components/schemas/None', 'ref-unresolved'],
    ['#/components/schemas/constructor', 'ref-unresolved'],
    ['#Anchor', 'ref-unresolved'],
    ['b.yaml#Anchor', 'ref-anchor'],
    ['b.yaml#/none', 'ref-unresolved'],
  ])(
    'to %s are an error that names them; only those within the file are a warning where validation is lenient',
    async (reference, rule) => {
      const files = { 'specs/a.yaml': response(reference), 'specs/b.yaml': 'type: string\n' };
      const { artifact, lines } = await run(files);
      expect(artifact === null).toBe(true);
      expect(lines).toEqual([expect.stringMatching(`^specs/a.yaml:15:23 error ${rule}: `)]);
      expect(lines[0]).toContain(JSON.stringify(reference));
      const lenient = await run(files, { validation: 'lenient' });
      const isSoft = reference.startsWith('#');
      expect(lenient.artifact !== null).toBe(isSoft);
      expect(lenient.report.counts).toEqual({ error: isSoft ? 0 : 1, warning: isSoft ? 1 : 0, info: 0 });
    },
  );

  it('into a broken file are the file’s own error', async () => {
    const { lines } = await run({ 'a.yaml': response('b.yaml'), 'b.yaml': 'a: [1\n' });
    expect(lines).toContainEqual(expect.stringMatching(/^b\.yaml:2:1 error yaml-syntax: /));
  });

  it('that look like references in examples and extensions do not fail the document', async () => {
    const { artifact, lines } = await run({
      'a.yaml': `${head}  x-see: {$ref: none.yaml}\npaths: {}\ncomponents:\n  schemas:\n    A:\n      example: {$ref: none.json}\n      default: {$ref: "https://example.com"}\n      properties:\n        example: {$ref: missing.yaml}\n  examples:\n    e: {externalValue: "https://example.com/e.json"}\n`,
    });
    expect(artifact === null).toBe(true);
    expect(lines.filter((line) => line.includes(' error '))).toEqual([
      expect.stringMatching(/^a\.yaml:14:25 error file-missing: .*missing\.yaml/),
    ]);
    expect(lines.filter((line) => line.includes(' warning '))).toHaveLength(2);
  });

  it.each([
    ['its $self', 'https://example.com/api.yaml#/components/schemas/A', []],
    ['its $self, from there', 'api.yaml#/components/schemas/A', []],
    ['nothing of its $self', 'api.yaml#/components/schemas/C', ['file-missing']],
    ['the $id of a schema', 'https://example.com/a', []],
    ['a part of such a schema', 'https://example.com/a#/properties/x', []],
    ['no part of it', 'https://example.com/a#/properties/y', ['ref-remote']],
    ['another URI', 'https://example.com/b', ['ref-remote']],
  ])('may name a part of the document by a URI that it gives itself: %s', async (_, reference, rules) => {
    const { report } = await run({
      'a.yaml': `openapi: 3.2.0\n$self: https://example.com/api.yaml\ninfo: {title: x, version: "1"}\ncomponents:\n  schemas:\n    A: {$id: "https://example.com/a", properties: {x: {}}}\n    B: {$ref: "${reference}"}\n`,
    });
    expect(report.problems.map(({ rule }) => rule)).toEqual(rules);
  });

  it('may be circular', async () => {
    const { artifact, lines } = await run({
      'a.yaml': `${head}paths: {}\ncomponents:\n  schemas:\n    A: {properties: {b: {$ref: "#/components/schemas/B"}}}\n    B: {properties: {a: {$ref: "#/components/schemas/A"}}}\n`,
    });
    expect(lines).toEqual([]);
    expect(artifact === null).toBe(false);
  });

  it.each([
    [
      'one file',
      {
        'a.yaml': `${head}paths: {}\ncomponents:\n  schemas:\n    A: {$ref: "#/components/schemas/B"}\n    B: {$ref: "#/components/schemas/A"}\n`,
      },
    ],
    ['two files', { 'a.yaml': response('b.yaml'), 'b.yaml': '$ref: c.yaml\n', 'c.yaml': '$ref: b.yaml\n' }],
  ])('that lead only to each other are an error (%s)', async (_, files) => {
    const { artifact, lines } = await run(files);
    expect(artifact === null).toBe(true);
    expect(lines).toEqual([
      expect.stringMatching(
        /error ref-circular: The reference ".*" only points back to itself\. Point it to a definition\.$/,
      ),
    ]);
  });

  it('that multiply what they bring in stop at the limit', async () => {
    const files: Record<string, string> = { 'a.yaml': `${head}paths:\n  /a: {$ref: p0.json}\n` };
    for (let at = 0; at < 8; at++) {
      const calls = Array.from({ length: 10 }, (_, call) => [`{$url}/${call}`, { $ref: `p${at + 1}.json` }]);
      files[`p${at}.json`] = JSON.stringify({ get: { responses: {}, callbacks: { c: Object.fromEntries(calls) } } });
    }
    files['p8.json'] = '{"get": {"responses": {}}}';
    const { artifact, lines } = await run(files);
    expect(artifact === null).toBe(true);
    expect(lines).toEqual([expect.stringMatching(/error limit-(?:nodes|bundle-bytes): /)]);
  });

  it('are counted, and so are their bytes', async () => {
    const files = { 'a.yaml': response('b.yaml'), 'b.yaml': '$ref: c.yaml\n', 'c.yaml': 'type: string\n' };
    const { limits } = await import('../limits.ts');
    expect((await run(files, { limits: { ...limits, files: 2 } })).lines).toEqual([
      'a.yaml:1:1 error limit-files: The document references more than 2 files. Merge some of them.',
    ]);
    expect((await run(files, { limits: { ...limits, bundleBytes: 200 } })).lines).toEqual([
      'a.yaml:1:1 error limit-bundle-bytes: The document and the files it references are larger than 200 bytes in total. Split the document.',
    ]);
  });
});

it.each([
  ['#/paths/~1a~1{id}', '"{"', '%7B'],
  ['#/paths/~1b c', '" "', '%20'],
  ['#/paths/~1é', '"é"', '%C3%A9'],
])('a character that a reference may not have is named: %s', async (reference, shown, written) => {
  const text = `openapi: 3.1.0\ninfo: {title: x, version: "1"}\npaths:\n  /a/{id}: {}\n  /b c: {}\n  /é: {}\n  /c: {$ref: '${reference}'}\n`;
  expect((await run({ 'a.yaml': text })).lines).toContain(
    `a.yaml:7:14 error schema: "$ref" has the character ${shown}, which a URL may not have. Write ${written} in its place.`,
  );
});
