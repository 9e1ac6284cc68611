import { expect, test } from 'vitest';
import { runCompile } from '../../../src/compile/run.ts';
import type { View } from '../../../src/model/view.ts';
import { limits } from '../limits.ts';

const ok = { 200: { description: 'Done.' } };
const giving = (ref: string) => ({
  200: { description: 'D', content: { 'application/json': { schema: { $ref: ref } } } },
});
const info = { title: 'Pay', version: '1.0.0' };

/** What is published of these files, the first of which is the document. */
async function publishedAs(files: Record<string, unknown>, view: View) {
  const entry = Object.keys(files)[0]!;
  const { artifact, report } = await runCompile(
    { type: 'apis', entry, validation: 'strict', ruleset: null, limits, view },
    async (paths) =>
      paths.map((path) => {
        const text = Object.hasOwn(files, path) ? files[path] : undefined;
        if (text === undefined)
          return {
            path,
            problem: {
              rule: 'file-missing',
              severity: 'error',
              message: 'No such file.',
              file: path,
              line: 1,
              column: 1,
              pointer: '',
            },
          };
        return { path, bytes: Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)) };
      }),
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
    webhooks: { gone: { post: { 'x-internal': true, responses: ok } } },
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
  expect(removed.sort()).toEqual(['DELETE /a', 'GET /shared', 'POST /admin', 'WEBHOOK POST gone']);
  expect(
    Object.keys(
      (await publishedAs({ 'api.json': document, 'more.json': more }, { overlays: [], audience: 'internal' })).value[
        'paths'
      ] ?? {},
    ),
  ).toEqual(['/a', '/shared']);
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
