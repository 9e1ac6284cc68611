import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { shareCompiler } from './shared-compiler.ts';
import { limits } from './limits.ts';

/** `stele.yaml` through the real sandbox. */

const compiler = shareCompiler();

async function read(text: string) {
  const { settings, report } = await compiler.readSettings({ path: 'stele.yaml', bytes: Buffer.from(text) }, limits);
  return { settings, lines: report.problems.map(({ line, column, message }) => `${line}:${column} ${message}`) };
}

describe('a stele.yaml', () => {
  test.each(['', '# Nothing yet.\n', '\n\n  # a\n'])(
    'that is empty (%j) publishes nothing, and says so',
    async (text) => {
      const { settings, lines } = await read(text);
      expect(settings).toBeNull();
      expect(lines).toEqual([
        '1:1 The file is empty, so nothing is published. Write {} for no settings, or delete it.',
      ]);
      expect((await read('{}\n')).settings).toMatchObject({ resources: [] });
    },
  );

  test('has gates, and exemptions with their places', async () => {
    const { settings, lines } =
      await read(`defaults: { blockOn: warn, ratchet: true, compatibility: semver, impact: block }
resources:
  - path: a.yaml
    blockOn: none
    exemptions:
      - { rule: operation-summary, pointer: /paths/~1a/**, reason: Old., owner: team-a, expires: 2027-06-30 }
      - rule: "path-*"
        reason: Generated.
`);
    expect(lines).toEqual([]);
    expect(settings!.defaults).toMatchObject({
      blockOn: 'warn',
      ratchet: true,
      compatibility: 'semver',
      impact: 'block',
    });
    const [first, second] = settings!.resources[0]!.exemptions!;
    expect(settings!.resources[0]).toMatchObject({ blockOn: 'none' });
    expect(first).toEqual({
      rule: 'operation-summary',
      pointer: '/paths/~1a/**',
      reason: 'Old.',
      owner: 'team-a',
      expires: '2027-06-30',
      at: { file: 'stele.yaml', pointer: '/resources/0/exemptions/0', line: 6, column: 9 },
    });
    expect(second!.at).toMatchObject({ line: 7, column: 9 });
  });

  test('has no navigation that is part of itself', async () => {
    const loop = 'sites:\n  - path: docs\n    title: Docs\n    navigation: &all\n      - { title: A, items: *all }\n';
    const { settings, lines } = await read(loop);
    expect(settings).toBe(null);
    expect(lines).toEqual([expect.stringContaining('all')]);
  });

  test('names owners, lifecycles and topics', async () => {
    const { settings, lines } = await read(
      'defaults: { owner: Team A, lifecycle: retired }\nresources: [{ path: a.yaml, topics: [pay] }]',
    );
    expect(lines).toEqual([]);
    expect(settings).toMatchObject({
      defaults: { owner: 'Team A', lifecycle: 'retired' },
      resources: [{ topics: ['pay'] }],
    });
    for (const wrong of ['owner: ""', 'lifecycle: Production', 'topics: [Pay]', 'topics: pay'])
      expect((await read(`defaults: { ${wrong} }`)).settings).toBe(null);
  });

  test.each([
    ['{ rule: a }', 'resources[0].exemptions[0] is missing the member "reason".'],
    ['{ rule: a, reason: b, expires: soon }', 'resources[0].exemptions[0].expires must be written like "2027-06-30".'],
    [
      '{ rule: a, reason: b, pointer: paths }',
      'resources[0].exemptions[0].pointer must be written like "/paths/~1pets/get".',
    ],
    ['{ rule: a, reason: b, pointer: /**/a/** }', 'resources[0].exemptions[0].pointer has more than one "**".'],
  ])('refuses the exemption %s', async (text, message) => {
    const { settings, lines } = await read(`resources: [{ path: a.yaml, exemptions: [${text}] }]`);
    expect(settings).toBe(null);
    expect(lines).toEqual([expect.stringContaining(message)]);
  });

  test('is read with its defaults, its sources of versions and the places of its entries', async () => {
    const { settings, lines } = await read(`defaults:
  visibility: public
  ruleset: "@acme/rulesets/style@^2"
  version: next
resources:
  - path: services/*/openapi.yaml
    slug: "{1}"
    name: Service {1}
    description: One of many.
    version: { file: "services/{1}/package.json", pointer: /version }
  - path: a.yaml
    type: schemas
    version: tag
  - { path: b.yaml, version: { file: VERSION }, validation: lenient, onConflict: reject }
  - path: c.yaml
    tags: "{slug}-v*"
ignore: [old]
`);
    expect(lines).toEqual([]);
    expect(settings).toEqual({
      defaults: {
        visibility: 'public',
        ruleset: '@acme/rulesets/style@^2',
        version: { from: 'next' },
        at: { pointer: '/defaults', line: 2, column: 3 },
      },
      resources: [
        {
          path: 'services/*/openapi.yaml',
          slug: '{1}',
          name: 'Service {1}',
          description: 'One of many.',
          version: { from: 'file', path: 'services/{1}/package.json', pointer: '/version' },
          at: { pointer: '/resources/0', line: 6, column: 5 },
        },
        { path: 'a.yaml', type: 'schemas', tags: 'v*', at: { pointer: '/resources/1', line: 11, column: 5 } },
        {
          path: 'b.yaml',
          version: { from: 'file', path: 'VERSION', pointer: null },
          validation: 'lenient',
          onConflict: 'reject',
          at: { pointer: '/resources/2', line: 14, column: 5 },
        },
        { path: 'c.yaml', tags: '{slug}-v*', at: { pointer: '/resources/3', line: 15, column: 5 } },
      ],
      discover: false,
      ignore: ['old'],
    });
  });

  test('without entries discovers, and says nothing else', async () => {
    expect((await read('ignore: []')).settings).toMatchObject({ resources: [], discover: true, ignore: [] });
    expect((await read('discover: false')).settings).toMatchObject({ discover: false });
    expect((await read('{"resources": [{"path": "a.json"}], "discover": true}')).settings).toMatchObject({
      discover: true,
    });
  });

  const entry = (more: string, path = 'a.yaml') => `resources:\n  - path: "${path}"\n    ${more}\n`;
  test.each([
    ['resources: 1', ['1:12 resources must be an array, not a number.']],
    ['- path: a.yaml', ['1:1 stele.yaml must be an object, not an array.']],
    ['resource: []', ['1:1 resource is not expected here. Did you mean "resources"?']],
    ['resources:\n  - slug: a', ['2:5 resources[0] is missing the member "path".']],
    [entry('visiblity: public'), ['3:5 resources[0].visiblity is not expected here. Did you mean "visibility"?']],
    [entry('__proto__: {}'), ['3:5 resources[0].__proto__ is not expected here.']],
    [entry('visibility: hidden'), ['3:17 resources[0].visibility must be "public" or "private".']],
    [entry('version: tags'), ['3:14 resources[0].version must be "document", "next" or "tag".']],
    [entry('version: 1'), ['3:14 resources[0].version must be a string or an object, not a number.']],
    [entry('version: {pointer: /a}'), ['3:5 resources[0].version is missing the member "file".']],
    [
      entry('version: {file: a.json, pointer: version}'),
      [/^3:38 resources\[0\]\.version\.pointer must be written like "\//],
    ],
    [entry('slug: Pay'), [/^3:11 resources\[0\]\.slug must be written like /]],
    [entry('slug: a--b'), [/^3:11 resources\[0\]\.slug: "a--b" is not a valid slug/]],
    [entry('slug: constructor'), [/^3:11 resources\[0\]\.slug: "constructor" is not a valid slug/]],
    [
      'sites: [{ path: docs, slug: constructor, title: Docs }]',
      [/^1:29 sites\[0\]\.slug: "constructor" is not a valid slug/],
    ],
    [
      'sites: [{ path: docs, slug: docs, title: Docs, versions: [{ title: A, site: constructor }] }]',
      [/^1:77 sites\[0\]\.versions\[0\]\.site: "constructor" is not a valid slug/],
    ],
    [entry('slug: "{1}"'), ['3:11 resources[0].slug uses {1}, but its path has no star.']],
    [entry('slug: "{2}"', '*/a.yaml'), ['3:11 resources[0].slug uses {2}, but its path has only one star.']],
    [entry('slug: "{name}"', '*/a.yaml'), [/^3:11 resources\[0\]\.slug must be written like /]],
    [entry('tags: "{name}-*"', '*/a.yaml'), ['3:11 resources[0].tags uses the unknown placeholder {name}.']],
    [
      entry('version: {file: "{slug}/V"}', '*/a.yaml'),
      ['3:21 resources[0].version.file uses the unknown placeholder {slug}.'],
    ],
    [entry('ruleset: style'), [/^3:14 resources\[0\]\.ruleset must be written like "@/]],
    [
      entry('ruleset: "@acme/apis/style"'),
      [/^3:14 resources\[0\]\.ruleset: "@acme\/apis\/style" is not a ruleset\. Use a coordinate/],
    ],
    [
      entry('tags: v*\n    version: next'),
      ['4:14 resources[0] has both tags and version. With tags, versions come from git tags; remove version.'],
    ],
    [entry('type: apis', '/a.yaml'), [/^2:11 resources\[0\]\.path must be written like /]],
    [entry('type: apis', '../*/a.yaml'), ['2:11 resources[0].path has a ".." beside a "*".']],
    [entry('type: apis', '**/x/**'), ['2:11 resources[0].path has more than one "**".']],
    ['defaults: {slug: a}', ['1:12 defaults.slug is not expected here.']],
    ['defaults: {tags: "{1}-*"}', ['1:18 defaults.tags uses {1}, but discovered documents have no pattern.']],
    [`defaults: {tags: "{1}-*"}\n${entry('slug: a')}`, ['3:5 resources[0].tags uses {1}, but its path has no star.']],
    [
      `resources: [${'{path: "*.yaml"}, '.repeat(101)}]`,
      ['1:12 resources has 101 entries with a pattern; the limit is 100.'],
    ],
    ['resources: [', [/^1:13 /]],
    [`a: &a [x]\nb: [${'*a, '.repeat(20_000)}]`, [/aliases/]],
  ])('%j is refused, with the place', async (text, expected) => {
    const { settings, lines } = await read(text);
    expect(settings).toBeNull();
    expect(lines).toHaveLength(expected.length);
    for (const [index, line] of expected.entries())
      expect(lines[index]).toEqual(typeof line === 'string' ? line : expect.stringMatching(line));
  });

  test('defaults may give a template, and an entry versions of its own', async () => {
    const text = 'defaults: {tags: "{1}-v*"}\nresources: [{path: "*/a.yaml"}, {path: b.yaml, version: document}]\n';
    expect((await read(text)).lines).toEqual([]);
  });
});

describe('a version out of a file', () => {
  const version = async (path: string, text: string | Uint8Array, pointer: string | null) => {
    const found = await compiler.readVersion({ path, bytes: Buffer.from(text), pointer }, limits);
    if ('version' in found) return found.version;
    return `${found.problem.line}:${found.problem.column} ${found.problem.message}`;
  };

  test.each([
    ['VERSION', '1.4.0\n', null, '1.4.0'],
    ['VERSION', '\ufeffv2\r\n', null, 'v2'],
    ['package.json', '{"name": "a",\n "version": "1.2.3-rc.1"}', '/version', '1.2.3-rc.1'],
    ['Chart.yaml', 'a:\n  b/c: ["0.9"]\n', '/a/b~1c/0', '0.9'],
    [
      'VERSION',
      'version: 1\n',
      null,
      '1:1 The file must contain one version and nothing else. To read the version from a key, set version.pointer in stele.yaml.',
    ],
    [
      'VERSION',
      '',
      null,
      '1:1 The file must contain one version and nothing else. To read the version from a key, set version.pointer in stele.yaml.',
    ],
    [
      'VERSION',
      '!!!',
      null,
      '1:1 The file must contain one version and nothing else. To read the version from a key, set version.pointer in stele.yaml.',
    ],
    ['package.json', '{"name": "a"}', '/version', '1:1 The file has no value at /version.'],
    [
      'Chart.yaml',
      'a: 1\nversion: 1.10\n',
      '/version',
      '2:10 The version at /version must be a string. Put it in quotes.',
    ],
    ['package.json', '{"version": " "}', '/version', '1:13 The value at /version is not a valid version.'],
    ['package.json', '{"version": ', '/version', expect.stringMatching(/^1:13 /)],
  ])('%s %j at %s gives %s', async (path, text, pointer, expected) => {
    expect(await version(path, text, pointer)).toEqual(expected);
  });

  test('is rejected where the bytes are not text', async () => {
    expect(await version('VERSION', Buffer.from('1.0\n', 'utf16le'), null)).toMatch(/UTF-16/);
  });
});

describe('content/schemas/repository.json', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../content/schemas/repository.json', import.meta.url), 'utf8'),
  ) as Schema;

  interface Schema {
    $ref?: string;
    description?: string;
    examples?: unknown[];
    properties?: Record<string, Schema>;
    items?: Schema;
    else?: Schema;
    $defs?: Record<string, Schema>;
  }

  test('describes every key, and gives an example of each that Stele takes', async () => {
    const keys: string[] = [];
    const visit = (given: Schema, path: string) => {
      const { properties = {}, items, else: other, $defs = {} } = given;
      for (const [name, property] of [...Object.entries(properties), ...Object.entries($defs)]) {
        const target = property.$ref === undefined ? {} : schema.$defs![property.$ref.replace('#/$defs/', '')]!;
        const { description, examples } = { ...target, ...property };
        keys.push(`${path}.${name}`);
        expect(description, `${path}.${name}`).toMatch(/\.$/);
        expect(examples?.length, `${path}.${name}`).toBeGreaterThan(0);
        visit(property, `${path}.${name}`);
      }
      if (items?.properties !== undefined) visit(items, `${path}[]`);
      if (other !== undefined) visit(other, path);
    };
    visit(schema, '');
    expect(keys.length).toBeGreaterThan(25);
    const { properties = {}, $defs = {} } = schema;
    const ofEntry = { ...properties['resources']!.items!.properties, ...$defs };
    const { path: paths, ...others } = ofEntry;
    const samples = [
      ...schema.examples!,
      ...Object.entries(properties).flatMap(([key, { examples }]) => examples!.map((example) => ({ [key]: example }))),
      ...paths!.examples!.map((path) => ({ resources: [{ path }] })),
      ...Object.entries(others).flatMap(([key, { examples = [] }]) =>
        examples.map((example) => ({ resources: [{ path: '*/*.yaml', slug: 'a', [key]: example }] })),
      ),
    ];
    expect(samples.length).toBeGreaterThan(20);
    for (const sample of samples) expect(await read(JSON.stringify(sample))).toMatchObject({ lines: [] });
  });
});
