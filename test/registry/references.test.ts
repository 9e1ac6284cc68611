import { deleteRecord } from '../../src/registry/lives.ts';
import { describe, expect, test } from 'vitest';
import { createUpload } from '../../src/source/upload.ts';
import type { Principal } from '../../src/model/access.ts';
import { parseCoordinate, type Coordinate } from '../../src/model/address.ts';
import type { ArtifactConfig } from '../../src/model/artifact.ts';
import { formatProblem } from '../../src/model/problem.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import type { Registry } from '../../src/registry/registry.ts';
import type { PublishRequest } from '../../src/registry/append-version.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { readPublished } from '../../src/registry/derived.ts';
import { publish } from '../../src/registry/publish.ts';
import { readJson, readManifestOf } from '../../src/registry/stored.ts';
import { verify } from '../../src/registry/verify.ts';
import { rememberResults } from '../../src/compile/remember-results.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld, snapshotOf } from './world.ts';

const author = { actor: 'operator:test', origin: null };
const site = 'https://registry.test';
const money = (format = 'iso', more = {}) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Money',
  type: 'object',
  properties: { amount: { type: 'string', description: format }, currency: { $ref: '#/$defs/code' } },
  $defs: { code: { type: 'string', minLength: 3 } },
  ...more,
});
const schema = (title: string, ...references: string[]) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title,
  properties: Object.fromEntries(references.map(($ref, at) => [`p${at}`, { $ref }])),
});
const api = ($ref: string, version = '1.0.0') => ({
  openapi: '3.1.0',
  info: { title: 'Pay', version },
  paths: {
    '/p': { get: { responses: { 200: { description: 'OK', content: { 'application/json': { schema: { $ref } } } } } } },
  },
});

function open() {
  const { registry: made } = createWorld({ url: site });
  const registry = { ...made, compiler: shareCompiler() };

  /** Publishes a document under a coordinate, such as `@acme/schemas/money@1.0.0`. */
  async function put(name: string, document: unknown, given: Partial<PublishRequest> & { visibility?: 'public' } = {}) {
    const { coordinate, selector } = parseCoordinate(name)!;
    const { visibility = 'private', ...rest } = given;
    const entry = 'document.json';
    return publish(registry, {
      coordinate,
      snapshot: createUpload(entry, Buffer.from(JSON.stringify(document))),
      entry,
      version: selector.kind === 'version' ? selector.version : null,
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: { visibility },
      author,
      ...rest,
    });
  }

  /** Its outcome, and its problems as lines. */
  async function outcome(name: string, document: unknown, given: Parameters<typeof put>[2] = {}) {
    const result = await put(name, document, given);
    const errors = result.report.problems.filter(({ severity }) => severity === 'error');
    return [result.outcome, ...errors.map(formatProblem)].join('\n');
  }

  async function resource(name: string): Promise<Resource> {
    return (await registry.refs.read<Resource>(resourceRef(parseCoordinate(name)!.coordinate)))!.value;
  }

  async function newest(name: string) {
    const version = (await resource(name)).versions.at(-1)!;
    const manifest = await readManifestOf(registry, version);
    const config = await readJson<ArtifactConfig>(registry, manifest.config.digest, version.manifest);
    const { json } = await readPublished(registry, version);
    return { version, config, document: JSON.parse(Buffer.from(json).toString()) as Record<string, never> };
  }

  return { registry, put, outcome, resource, newest };
}

describe('a reference by URL', () => {
  test.each([
    ['', '', '1.1.0'],
    ['@^1', '^1', '1.1.0'],
    ['@1.0', '1.0', '1.0.0'],
    ['@1.0.0', '1.0.0', '1.0.0'],
    ['@%5E1', '^1', '1.1.0'],
    ['@1.0.0.json', '1.0.0', '1.0.0'],
  ])('with %j is bundled and pinned', async (written, range, version) => {
    const { put, outcome, newest } = open();
    await put('@acme/schemas/money@1.0.0', money('old'), { visibility: 'public' });
    await put('@acme/schemas/money@1.1.0', money('new'), { visibility: 'public' });
    expect(await outcome('@acme/apis/pay', api(`${site}/@acme/schemas/money${written}`))).toBe('published');
    expect(await outcome('@acme/schemas/order', schema('Order', `${site}/@acme/schemas/money${written}`))).toBe(
      'published',
    );
    const about = version === '1.0.0' ? 'old' : 'new';
    for (const name of ['@acme/apis/pay', '@acme/schemas/order']) {
      const { version: made, config, document } = await newest(name);
      expect(config.dependencies).toMatchObject([{ coordinate: '@acme/schemas/money', range, version, how: 'url' }]);
      expect(made.dependencies).toEqual(config.dependencies);
      expect(JSON.stringify(document)).toContain(`"description":"${about}"`);
      expect(JSON.stringify(document)).not.toContain(site);
    }
  });

  test('leads into a document by its fragment, and by a digest', async () => {
    const { put, outcome, newest } = open();
    await put('@acme/schemas/money@1.0.0', money());
    const { version } = await newest('@acme/schemas/money');
    const url = `${site}/@acme/schemas/money@${version.manifest}#/$defs/code`;
    expect(await outcome('@acme/apis/pay', api(url))).toBe('published');
    const { document, config } = await newest('@acme/apis/pay');
    expect(JSON.stringify(document)).toContain('"minLength":3');
    expect(config.dependencies).toMatchObject([{ range: version.manifest, version: '1.0.0' }]);
  });

  test('that a document without any has leaves no trace', async () => {
    const { put, newest } = open();
    await put('@acme/schemas/money@1.0.0', money());
    const { version, config } = await newest('@acme/schemas/money');
    expect(config).not.toHaveProperty('dependencies');
    expect(version).not.toHaveProperty('dependencies');
  });

  test('relative to the URL of a schema means the registry, unless there is such a file', async () => {
    const { put, registry, outcome, newest } = open();
    await put('@acme/schemas/money@1.0.0', money('registry'));
    const document = { ...schema('Order', 'money'), $id: `${site}/@acme/schemas/order` };
    expect(await outcome('@acme/schemas/order', document)).toBe('published');
    expect((await newest('@acme/schemas/order')).config.dependencies).toHaveLength(1);
    const files = {
      'order.json': { ...document, properties: { a: { $ref: 'money.json' } } },
      'money.json': money('file'),
    };
    const texts = Object.fromEntries(Object.entries(files).map(([path, value]) => [path, JSON.stringify(value)]));
    const snapshot = snapshotOf('https://git.test/r', 'c1', texts);
    expect(await outcome('@acme/schemas/order', null, { snapshot, entry: 'order.json' })).toBe('published');
    const { config, document: bundle } = await newest('@acme/schemas/order');
    expect(config).not.toHaveProperty('dependencies');
    expect(JSON.stringify(bundle)).toContain('"description":"file"');
    expect(registry.config.url).toBe(site);
  });

  test('to other registries and other pages is not fetched', async () => {
    const { outcome } = open();
    for (const url of [
      'https://other.test/@acme/schemas/money',
      `${site}.evil.test/@acme/schemas/money`,
      `${site}/x/@acme/schemas/a`,
    ])
      expect(await outcome('@acme/apis/pay', api(url))).toMatch(/rejected\n.* ref-remote: .*URLs are not fetched/);
    expect(await outcome('@acme/apis/pay', api(`${site}/docs/money.json`))).toContain('ref-remote');
    expect(await outcome('@acme/apis/pay', api(`${site}/@acme/schemas/money/report`))).toContain('ref-remote');
    expect(await outcome('@acme/apis/pay', api('@acme/schemas/money@1'))).toContain('ref-registry');
  });

  test('moves with its range at the next publish, and verify derives the old version from what was pinned', async () => {
    const { registry, put, outcome, newest, resource } = open();
    await put('@acme/schemas/money@1.0.0', money('old'));
    const text = JSON.stringify(api(`${site}/@acme/schemas/money@^1`));
    const snapshot = snapshotOf('https://git.test/r', 'c1', { 'api.json': text });
    registry.source = { ...registry.source, snapshot: async () => snapshot };
    const at = { snapshot, entry: 'api.json' };
    expect(await outcome('@acme/apis/pay', null, at)).toBe('published');
    expect(await outcome('@acme/apis/pay', null, at)).toBe('unchanged');
    await put('@acme/schemas/money@1.2.0', money('new'));
    expect(await outcome('@acme/apis/pay', null, at)).toBe('published');
    expect((await newest('@acme/apis/pay')).config.dependencies).toMatchObject([{ range: '^1', version: '1.2.0' }]);
    const { coordinate } = parseCoordinate('@acme/apis/pay')!;
    for (const { label } of (await resource('@acme/apis/pay')).versions)
      expect(await verify(registry, coordinate, { kind: 'version', version: label })).toMatchObject({
        outcome: 'same',
      });
    const reason = 'leaked';
    await changeStatus(
      registry,
      parseCoordinate('@acme/schemas/money')!.coordinate,
      '1.0.0',
      { state: 'withdrawn', reason },
      author,
    );
    await expect(verify(registry, coordinate, { kind: 'version', version: '1.0.0' })).rejects.toThrow(
      /was withdrawn since/,
    );
  });
});

describe('rights', () => {
  const member = (resources: string[] | null, org = 'acme'): Principal => ({
    kind: 'key',
    id: 'k',
    org,
    scopes: ['publish'],
    resources,
  });
  const url = `${site}/@acme/schemas/secret`;

  test.each(['', '@1.0.0', '@^1', '@1.0.0#/$defs/code', '@latest'])(
    'a private target looks absent to others by %j',
    async (tail) => {
      const { put, outcome } = open();
      await put('@acme/schemas/secret@1.0.0', money());
      const refused = async (name: string, given = {}) =>
        (await outcome(name, api(url + tail), given)).replaceAll('secret', 'absent');
      const absent = async (name: string, given = {}) =>
        outcome(name, api(`${site}/@acme/schemas/absent${tail}`), given);
      for (const [name, given] of [
        ['@other/apis/pay', {}],
        ['@acme/apis/open', { visibility: 'public' }],
        ['@acme/apis/narrow', { reader: member(['apis/*']) }],
        ['@acme/apis/foreign', { reader: member(null, 'other') }],
      ] as const) {
        expect(await refused(name, given)).toMatch(/^rejected\n.* ref-absent: /);
        expect(await refused(name, given)).toBe(await absent(name, given));
      }
      expect(await outcome('@acme/apis/own', api(url + tail))).toBe('published');
      expect(await outcome('@acme/apis/named', api(url + tail), { reader: member(['*/*']) })).toBe('published');
    },
  );

  test('by the digest of a private version, also when it is known', async () => {
    const { put, outcome, newest } = open();
    await put('@acme/schemas/secret@1.0.0', money());
    await put('@other/schemas/mine@1.0.0', money('other'), { visibility: 'public' });
    const { version } = await newest('@acme/schemas/secret');
    for (const name of ['@acme/schemas/secret', '@other/schemas/mine'])
      expect(await outcome('@other/apis/pay', api(`${site}/${name}@${version.manifest}`))).toMatch(
        /^rejected\n.*ref-absent/,
      );
  });

  test('a resource that includes a private one is not made public', async () => {
    const { registry, put, outcome } = open();
    await put('@acme/schemas/secret@1.0.0', money());
    expect(await outcome('@acme/apis/pay', api(url))).toBe('published');
    const { coordinate } = parseCoordinate('@acme/apis/pay')!;
    await expect(changeResource(registry, coordinate, { visibility: 'public' }, author)).rejects.toThrow(
      '@acme/apis/pay@1.0.0 includes @acme/schemas/secret@1.0.0, which is not public.',
    );
    await changeResource(
      registry,
      parseCoordinate('@acme/schemas/secret')!.coordinate,
      { visibility: 'public' },
      author,
    );
    const changed = await changeResource(registry, coordinate, { visibility: 'public' }, author);
    expect(changed.value.visibility).toBe('public');
  });

  test.each([
    ['deleted', async (registry: Registry, secret: Coordinate) => deleteRecord(registry, secret, author)],
    [
      'withdrawn, and its resource public now',
      async (registry: Registry, secret: Coordinate) => {
        await changeStatus(registry, secret, '1.0.0', { state: 'withdrawn', reason: 'leak' }, author);
        await changeResource(registry, secret, { visibility: 'public' }, author);
      },
    ],
  ])('a resource that includes a private one is not made public after that was %s', async (_, change) => {
    const { registry, put, outcome } = open();
    await put('@acme/schemas/secret@1.0.0', money());
    expect(await outcome('@acme/apis/pay', api(url))).toBe('published');
    await change(registry, parseCoordinate('@acme/schemas/secret')!.coordinate);
    const { coordinate } = parseCoordinate('@acme/apis/pay')!;
    await expect(changeResource(registry, coordinate, { visibility: 'public' }, author)).rejects.toThrow(
      '@acme/apis/pay@1.0.0 includes @acme/schemas/secret@1.0.0, which is not public.',
    );
  });

  test('a target that a version was withdrawn of, or that was deleted, is absent', async () => {
    const { registry, put, outcome } = open();
    await put('@acme/schemas/secret@1.0.0', money());
    await changeStatus(
      registry,
      parseCoordinate('@acme/schemas/secret')!.coordinate,
      '1.0.0',
      { state: 'withdrawn', reason: 'x' },
      author,
    );
    expect(await outcome('@acme/apis/pay', api(`${url}@1.0.0`))).toContain('ref-absent');
  });
});

describe('limits', () => {
  test('a document does not lead back to itself, also across organizations', async () => {
    const { put, outcome } = open();
    const open1 = { visibility: 'public' } as const;
    const at = (name: string) => `${site}/${name}`;
    await put('@a/schemas/one@1.0.0', money(), open1);
    expect(await outcome('@a/schemas/one@2.0.0', schema('One', at('@a/schemas/one@1.0.0')))).toMatch(
      /rejected\n.*ref-cycle/,
    );
    expect(await outcome('@b/schemas/two@1.0.0', schema('Two', at('@a/schemas/one')), open1)).toBe('published');
    expect(await outcome('@c/schemas/three@1.0.0', schema('Three', at('@b/schemas/two')), open1)).toBe('published');
    expect(await outcome('@a/schemas/one@2.0.0', schema('One', at('@c/schemas/three')))).toContain(
      'It leads back to this document: @a/schemas/one → @c/schemas/three → @b/schemas/two → @a/schemas/one.',
    );
  });

  test('a chain has at most ten documents', async () => {
    const { put, outcome } = open();
    await put('@a/schemas/s0@1.0.0', money());
    for (let at = 1; at <= 11; at++) {
      const said = await outcome(`@a/schemas/s${at}@1.0.0`, schema(`S${at}`, `${site}/@a/schemas/s${at - 1}`));
      if (at <= 10) expect(said).toBe('published');
      else expect(said).toMatch(/rejected\n.*limit-documents: .*leads through too many documents/);
    }
  });

  test('references to thousands of documents are refused after the first hundred', async () => {
    const { registry, put, outcome } = open();
    await put('@a/schemas/s0@1.0.0', money());
    let reads = 0;
    const { read } = registry.refs;
    registry.refs = { ...registry.refs, read: (name) => (reads++, read(name)) };
    const many = Array.from({ length: 900 }, (_, at) => `${site}/@a/schemas/s${at}`);
    expect(await outcome('@a/schemas/all@1.0.0', schema('All', ...many))).toContain('limit-documents');
    expect(reads).toBeLessThan(150);
    const more = Array.from({ length: 5001 }, (_, at) => `${site}/@a/schemas/s${at}`);
    expect(await outcome('@a/schemas/all@1.0.0', schema('All', ...more))).toContain('limit-files');
    const same = Array.from({ length: 300 }, () => `${site}/@a/schemas/s0#/$defs/code`);
    expect(await outcome('@a/schemas/all@1.0.0', schema('All', ...same))).toBe('published');
  });

  test('a document is compiled again where one of sixty targets moved, and counts each of them once', async () => {
    const { registry, put, outcome, resource } = open();
    Object.assign(registry, { compiler: rememberResults(registry.compiler) });
    const names = Array.from({ length: 60 }, (_, at) => `@acme/schemas/part-${at}`);
    for (const name of names) await put(`${name}@1.0.0`, money());
    const document = schema('Whole', ...names.map((name) => `${site}/${name}@^1`));
    expect(await outcome('@acme/schemas/whole', document)).toBe('published');
    await put('@acme/schemas/part-7@1.1.0', money('euro'));
    expect(await outcome('@acme/schemas/whole', document)).toBe('published');
    const { dependencies } = (await resource('@acme/schemas/whole')).versions.at(-1)!;
    expect(dependencies).toHaveLength(60);
    expect(dependencies!.map(({ version }) => version).filter((version) => version === '1.1.0')).toHaveLength(1);
  });

  test('a file that no longer refers to a document leaves no dependency on it', async () => {
    const { registry, put, resource } = open();
    Object.assign(registry, { compiler: rememberResults(registry.compiler) });
    await put('@acme/schemas/secret@1.0.0', money());
    const whole = schema('Whole', './part.json');
    const of = (part: unknown) => ({
      snapshot: snapshotOf(null, null, { 'document.json': JSON.stringify(whole), 'part.json': JSON.stringify(part) }),
    });
    await put('@acme/schemas/whole', whole, of(schema('Part', `${site}/@acme/schemas/secret`)));
    expect((await resource('@acme/schemas/whole')).versions.at(-1)!.dependencies).toHaveLength(1);
    await put('@acme/schemas/whole', whole, of(schema('Part')));
    expect((await resource('@acme/schemas/whole')).versions).toHaveLength(2);
    expect((await resource('@acme/schemas/whole')).versions.at(-1)!.dependencies).toBeUndefined();
  });

  test('a target that makes the document too large is not even read', async () => {
    const { registry, put, outcome } = open();
    await put('@a/schemas/big@1.0.0', money('x'.repeat(200_000)));
    registry.config = { ...registry.config, limits: { ...registry.config.limits, bundleBytes: 100_000 } };
    expect(await outcome('@a/schemas/all@1.0.0', schema('All', `${site}/@a/schemas/big`))).toMatch(
      /rejected\n.*limit-bundle-bytes/,
    );
  });
});

test('a ruleset that extends a published one by URL contains it; one by coordinate depends on it', async () => {
  const { put, outcome, newest } = open();
  await put('@acme/rulesets/base@1.0.0', { rules: { 'info-contact': 'error' } }, { visibility: 'public' });
  expect(await outcome('@acme/rulesets/url', { extends: [`${site}/@acme/rulesets/base@^1`] })).toBe('published');
  const byUrl = await newest('@acme/rulesets/url');
  expect(byUrl.config.dependencies).toMatchObject([
    { coordinate: '@acme/rulesets/base', range: '^1', version: '1.0.0', how: 'url' },
  ]);
  expect(JSON.stringify(byUrl.document)).toContain('"info-contact":"error"');
  expect(
    await outcome('@acme/rulesets/named', { extends: ['@acme/rulesets/base'], rules: { 'info-license': 'warn' } }),
  ).toBe('published');
  expect((await newest('@acme/rulesets/named')).config.dependencies).toMatchObject([
    { range: '', version: '1.0.0', how: 'extends' },
  ]);
  expect(await outcome('@acme/rulesets/none', { extends: [`${site}/@acme/rulesets/absent`] })).toMatch(
    /rejected\n.*ruleset-extends: .*may be read here/,
  );
});

describe('a $schema that is a schema of the registry', () => {
  const draft = 'https://json-schema.org/draft/2020-12/schema';
  const meta = { $schema: draft, title: 'House style', allOf: [{ $ref: draft }], required: ['title', 'description'] };
  const ours = { $schema: `${site}/@acme/schemas/house@^1`, title: 'Order', type: 'object' };

  test('is resolved, pinned and recorded, and the document must be valid by it', async () => {
    const { outcome, newest } = open();
    expect(await outcome('@acme/schemas/house@1.0.0', meta)).toBe('published');
    expect(await outcome('@acme/schemas/order@1.0.0', ours)).toContain('"description"');
    expect(await outcome('@acme/schemas/order@1.0.0', { ...ours, description: 'An order.' })).toBe('published');
    const { config, document } = await newest('@acme/schemas/order');
    expect(config.dependencies).toMatchObject([
      { coordinate: '@acme/schemas/house', range: '^1', version: '1.0.0', how: 'url' },
    ]);
    expect(document).toMatchObject({ $schema: draft, description: 'An order.' });
  });

  test('must be there, and be a JSON Schema', async () => {
    const { put, outcome } = open();
    expect(await outcome('@acme/schemas/order@1.0.0', ours)).toContain('There is no @acme/schemas/house@^1');
    await put('@acme/apis/house@1.0.0', api('#/components/schemas/none'));
    expect(
      await outcome('@acme/schemas/other@1.0.0', { ...ours, $schema: 'https://other.test/@acme/schemas/house' }),
    ).toContain('ref-');
  });
});
