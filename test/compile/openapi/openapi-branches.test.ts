import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';

const head = (version: string) =>
  version === '2.0'
    ? 'swagger: "2.0"\ninfo: {title: x, version: "1"}\npaths: {}\n'
    : `openapi: ${version}\ninfo: {title: x, version: "1"}\npaths: {}\n`;

describe('a message names the branch that is meant', () => {
  it.each([
    ['2.0', 'type: apiKey, name: X', ['"A" is missing the member "in".']],
    ['3.0.3', 'type: apiKey, name: X', ['"A" is missing the member "in".']],
    ['3.1.0', 'type: apiKey, name: X', ['"A" is missing the member "in".']],
    ['3.0.3', 'type: http', ['"A" is missing the member "scheme".']],
    ['3.0.3', 'type: http, scheme: basic, name: X', ['"name" is not expected here.']],
    ['3.0.3', 'type: oauth2', ['"A" is missing the member "flows".']],
    ['2.0', 'type: basic, scheme: x', ['"scheme" is not expected here.']],
    ['3.0.3', 'type: htp', ['"type" must be "apiKey", "http", "oauth2" or "openIdConnect".']],
  ])('%s {%s}', async (version, scheme, messages) => {
    const where = version === '2.0' ? 'securityDefinitions: {A: {' : 'components: {securitySchemes: {A: {';
    const { report } = await run({ 'a.yaml': `${head(version)}${where}${scheme}}}${version === '2.0' ? '' : '}'}\n` });
    expect(report.problems.map(({ message }) => message)).toEqual(messages);
  });

  it.each([
    [
      '2.0',
      'parameters: {A: {type: string}}',
      ['"A" is missing the member "in".', '"A" is missing the member "name".'],
    ],
    [
      '2.0',
      'parameters: {A: {name: a, in: qurey, type: string}}',
      ['"in" must be "body", "header", "formData", "query" or "path".'],
    ],
    [
      '3.0.3',
      'components: {parameters: {A: {name: a, in: query}}}',
      ['"A" is missing the member "schema" or "content".'],
    ],
    [
      '3.0.3',
      'components: {parameters: {A: {name: a, in: header, style: csv, schema: {}}}}',
      ['"style" must be "simple".'],
    ],
    ['3.0.3', 'components: {schemas: {A: {type: true}}}', [expect.stringMatching(/^"type" must be "array", /)]],
    [
      '3.2.0',
      'components: {requestBodies: {A: {content: {a/b: {encoding: {}, prefixEncoding: []}}}}}',
      ['"prefixEncoding" is not expected here.'],
    ],
    ['3.1.0', 'components: {responses: {200: {}}}', ['"200" is missing the member "description".']],
  ])('%s %s', async (version, text, messages) => {
    const { report } = await run({ 'a.yaml': `${head(version)}${text}\n` });
    expect(report.problems.map(({ message }) => message)).toEqual(messages);
  });

  it('a member beside a missing one that belongs to the same branch is expected there', async () => {
    const text = `${head('3.1.0')}components: {securitySchemes: {A: {type: apiKey, name: X, nme: Y}}}\n`;
    expect((await run({ 'a.yaml': text })).lines).toEqual([
      'a.yaml:4:32 error schema: "A" is missing the member "in".',
      'a.yaml:4:59 error schema: "nme" is not expected here.',
    ]);
  });
});

describe('nothing inside a tool leaks', () => {
  const withContent = (version: string, content: string) =>
    `openapi: ${version}\ninfo: {title: x, version: "1"}\npaths:\n  /a:\n    get:\n      responses:\n        "200":\n          description: ok\n          content: ${content}\n`;

  it.each(['3.0.3', '3.1.0', '3.2.0'])(
    'a whole content map of another file is copied to its place (%s)',
    async (version) => {
      const { lines, value } = await run({
        'a.yaml': withContent(version, '{$ref: "c.yaml#/json"}'),
        'c.yaml': 'json:\n  application/json: {schema: {$ref: "#/S"}}\nS: {type: string}\n',
      });
      expect(lines).toEqual([]);
      expect(value).toMatchObject({
        paths: {
          '/a': {
            get: {
              responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/S' } } } } },
            },
          },
        },
        components: { schemas: { S: { type: 'string' } } },
      });
      expect(JSON.stringify(value)).not.toContain('mediaTypes');
    },
  );

  it('a reference where none is allowed is called that', async () => {
    const text = `${withContent('3.0.3', '{$ref: "#/x-c"}')}x-c: {application/json: {}}\n`;
    expect((await run({ 'a.yaml': text })).lines).toEqual([
      'a.yaml:9:21 error schema: "$ref" is not allowed here: "content" cannot be a reference. Write its members here.',
    ]);
  });

  it.each([
    [{ openapi: '3.1.0', B: 'https://example.com/schemas/b' }, 'b.json'],
    [{ openapi: '3.1.0', B: 'https://example.com/schemas/b.yaml' }, 'b.yaml'],
  ])('the $id of a file beside it is found: %j in %s', async ({ openapi, B }, name) => {
    const { lines, value } = await run({
      'specs/a.yaml': `${head(openapi)}components: {schemas: {A: {$ref: "${B}"}}}\n`,
      [`specs/${name}`]: JSON.stringify({ $id: B, type: 'string' }),
    });
    expect(lines).toEqual([]);
    expect(value).toMatchObject({ components: { schemas: { A: { $ref: '#/components/schemas/b' } } } });
  });

  it('a newer version of OpenAPI is stored with a warning where validation is lenient', async () => {
    const files = {
      'a.yaml': `openapi: 3.3.0\ninfo: {title: x, version: "1"}\npaths:\n  /a: {$ref: b.yaml}\n`,
      'b.yaml': 'news: true\n',
    };
    expect((await run(files)).artifact).toBe(null);
    const { artifact, lines, value } = await run(files, { validation: 'lenient' });
    expect(artifact).toMatchObject({ specification: '3.3.0' });
    expect(value).toMatchObject({ openapi: '3.3.0', paths: { '/a': { news: true } } });
    expect(lines).toEqual([
      'a.yaml:1:10 warning openapi-version: OpenAPI 3.3.0 is newer than 3.2, the newest version that Stele knows. The document was checked as 3.2.',
      'a.yaml:4:3 warning schema: "news" is not expected here.',
    ]);
  });
});
