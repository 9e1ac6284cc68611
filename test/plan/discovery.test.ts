import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Repository } from '../../src/model/connection.ts';
import { formatCoordinate } from '../../src/model/address.ts';
import { defaultIgnores } from '../../src/plan/ignore-file.ts';
import { planDocuments, type Plan } from '../../src/plan/discover.ts';
import { discoverRepository } from '../../src/sync/discover-repository.ts';
import { listRepositories, follow } from '../../src/sync/follow.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';

/** What is found in a repository without a `stele.yaml`, and under which names. */

const url = 'https://git.test/acme/pay-service.git';

const api = (title: string, { version = '1.0.0', paths = ['/a'] } = {}) =>
  `openapi: 3.1.0\ninfo: {title: ${JSON.stringify(title)}, version: "${version}"}\npaths: {${paths
    .map((path) => `${JSON.stringify(path)}: {}`)
    .join(', ')}}\n`;

const repository: Repository = {
  org: 'acme',
  url,
  branch: null,
  credential: null,
  discover: '',
  visibility: 'private',
  validation: 'strict',
  state: 'new',
  detail: null,
  commit: null,
  syncedAt: null,
  documents: {},
  tags: {},
};

async function plan(files: Record<string, string>, given: Partial<Repository> = {}): Promise<Plan> {
  const { registry } = createWorld();
  return planDocuments({ registry, repository: { ...repository, ...given }, snapshot: snapshotOf(url, 'c', files) });
}

/** The documents that are planned: `path type/slug`. */
function planned({ documents }: Plan): string[] {
  return documents.map(({ path, coordinate }) => `${path} ${coordinate.type}/${coordinate.slug}`);
}

function skipped({ skipped: found }: Plan): Record<string, string> {
  return Object.fromEntries(found.map(({ path, reason }) => [path, reason]));
}

describe('by its path', () => {
  test('what is nearly never an API of the repository is not read', async () => {
    const { registry } = createWorld();
    const others = [
      '.github/a.yaml',
      'apis/.hidden/a.yaml',
      'vendor/a/openapi.yaml',
      'web/bower_components/a/openapi.json',
      'dist/openapi.yaml',
      'service/Build/openapi.yaml',
      'src/test/resources/openapi.yaml',
      'api-tests/openapi.yaml',
      'src/stub/openapi.yaml',
      'Acme.Tests/openapi.json',
      'pkg/testdata/openapi.yaml',
      'docs/examples/openapi.yaml',
      'samples/openapi.yaml',
      'openapi.example.yaml',
      '{{ name }}/openapi.yaml',
      'openapi.tmpl.yaml',
    ];
    const files = Object.fromEntries(['latest/testing-api.yaml', ...others].map((path) => [path, api(path)]));
    const snapshot = snapshotOf(url, 'c', files);
    const read: string[] = [];
    const watched = { ...snapshot, read: (paths: readonly string[]) => (read.push(...paths), snapshot.read(paths)) };
    const found = await planDocuments({ registry, repository, snapshot: watched });
    expect(planned(found)).toEqual(['latest/testing-api.yaml apis/latest-testing-api-yaml']);
    expect(Object.keys(skipped(found)).toSorted()).toEqual(others.toSorted());
    expect(skipped(found)).toMatchObject({
      '.github/a.yaml': 'in a hidden folder (.*/)',
      'service/Build/openapi.yaml': 'built from other files (build/)',
      'api-tests/openapi.yaml': 'for tests (*-tests/)',
      'src/stub/openapi.yaml': 'for tests (stub/)',
      'docs/examples/openapi.yaml': 'an example (examples/)',
    });
    expect(read.filter((path) => others.includes(path))).toEqual([]);
  });

  test('a followed folder is looked at whatever its name is', async () => {
    const found = await plan(
      { 'examples/a.yaml': api('A'), 'examples/test/b.yaml': api('B') },
      { discover: 'examples' },
    );
    expect(planned(found)).toEqual(['examples/a.yaml apis/a']);
  });

  test('the documentation lists every pattern', () => {
    const page = readFileSync(new URL('../../content/docs/discovery.md', import.meta.url), 'utf8');
    const patterns = defaultIgnores.flatMap((each) => each.patterns);
    expect(patterns.filter((pattern) => !page.includes(`\`${pattern}\``))).toEqual([]);
  });
});

describe('.steleignore', () => {
  test('excludes files and takes back what is excluded by default, as .gitignore does', async () => {
    const found = await plan({
      '.steleignore': '# ours\n/internal/\n*.draft.yaml\n!examples/\nexamples/*\n!examples/reference/\n',
      'internal/a.yaml': api('Internal'),
      'apis/internal/b.yaml': api('B'),
      'c.draft.yaml': api('Draft'),
      'examples/d.yaml': api('D'),
      'examples/reference/e.yaml': api('E'),
      'samples/f.yaml': api('F'),
    });
    expect(planned(found)).toEqual(['apis/internal/b.yaml apis/b', 'examples/reference/e.yaml apis/e']);
    expect(skipped(found)).toEqual({
      'c.draft.yaml': 'excluded by .steleignore:3',
      'examples/d.yaml': 'excluded by .steleignore:5',
      'internal/a.yaml': 'excluded by .steleignore:2',
      'samples/f.yaml': 'an example (samples/)',
    });
  });

  test('holds for patterns in stele.yaml; a file that an entry names is published in any case', async () => {
    const found = await plan({
      '.steleignore': 'old/\n',
      'stele.yaml': 'resources: [{path: "**/a.yaml"}, {path: old/b.yaml}]',
      'examples/a.yaml': api('A'),
      'old/a.yaml': api('Old'),
      'old/b.yaml': api('B'),
    });
    expect(planned(found)).toEqual(['examples/a.yaml apis/a', 'old/b.yaml apis/b']);
  });

  test('is that of the followed folder', async () => {
    const files = { '.steleignore': 'apis/', 'apis/.steleignore': '/old/', 'apis/a.yaml': api('A') };
    const found = await plan({ ...files, 'apis/old/b.yaml': api('B') }, { discover: 'apis' });
    expect(planned(found)).toEqual(['apis/a.yaml apis/a']);
    expect(skipped(found)).toEqual({ 'apis/old/b.yaml': 'excluded by apis/.steleignore:1' });
  });

  test('publishes nothing when it cannot be applied', async () => {
    const { registry, compiler } = createWorld();
    const files = snapshotOf(url, 'c', { '.steleignore': 'a*b*c*d', 'a.yaml': api('A') });
    compiler.ignored = async () => null;
    const found = await planDocuments({ registry, repository, snapshot: files });
    expect(found).toMatchObject({ documents: [], isRefused: true, settings: { path: '.steleignore' } });
    expect(found.settings.report.problems).toMatchObject([{ rule: 'ignore-limits', file: '.steleignore' }]);
    const large = snapshotOf(url, 'c', { '.steleignore': '#'.repeat(100_001), 'a.yaml': api('A') });
    expect(await planDocuments({ registry: createWorld().registry, repository, snapshot: large })).toMatchObject({
      isRefused: true,
    });
  });
});

describe('of several files of one document, one is published:', () => {
  test('the YAML that a JSON was generated from, wherever it is', async () => {
    const found = await plan({
      'openapi.json': api('Pay'),
      'spec/openapi.yaml': api('Pay'),
      'spec/openapi.json': api('Pay', { version: '0.9.0', paths: ['/old'] }),
    });
    expect(planned(found)).toEqual(['spec/openapi.yaml apis/pay']);
    expect(skipped(found)).toEqual({
      'openapi.json': 'the same document as spec/openapi.yaml',
      'spec/openapi.json': 'the same document as spec/openapi.yaml',
    });
  });

  test('in one folder, files with the same title and version', async () => {
    const found = await plan({
      'pay.yaml': api('Pay', { paths: ['/a', '/b', '/c'] }),
      'pay.public.yaml': api('Pay', { paths: ['/b'] }),
      'pay.parts.yaml': api('Pay', { paths: [] }),
      'pay-2.yaml': api('Pay', { version: '2.0.0', paths: ['/b'] }),
    });
    expect(planned(found)).toEqual(['pay-2.yaml apis/pay-2', 'pay.yaml apis/pay']);
  });

  test('but not two APIs that have the same title and nothing else in common', async () => {
    const found = await plan({
      'users.yaml': api('Acme API', { paths: ['/users'] }),
      'orders.yaml': api('Acme API', { paths: ['/orders'] }),
    });
    expect(planned(found)).toEqual(['orders.yaml apis/acme-api-orders', 'users.yaml apis/acme-api']);
  });

  test('and a copy in another folder is not published', async () => {
    const found = await plan({ 'api/pay.yaml': api('API'), 'site/public/pay.yaml': api('API') });
    expect(planned(found)).toEqual(['api/pay.yaml apis/pay']);
  });

  test('unless stele.yaml lists both', async () => {
    const found = await plan({
      'stele.yaml': 'resources: [{path: a.json, slug: json}]\ndiscover: true\n',
      'a.yaml': api('A'),
      'a.json': api('A'),
      'b.yaml': api('B'),
    });
    expect(planned(found)).toEqual(['a.json apis/json', 'b.yaml apis/b']);
  });
});

test.each([
  ['a title', 'openapi: 3.1.0\ninfo: {title: "{{ cookiecutter.name }}", version: "1"}\n'],
  ['a version', 'openapi: 3.1.0\ninfo: {title: A, version: "${{ values.version }}"}\n'],
  ['a title without quotes', 'openapi: 3.1.0\ninfo:\n  title: {{ name }}\n  version: "1"\n'],
])('a template is not published: %s', async (_, text) => {
  const found = await plan({
    'a.yaml': text,
    'b.yaml': api('B').replace('paths:', 'x-text: "Hello {{name}}"\npaths:'),
  });
  expect(planned(found)).toEqual(['b.yaml apis/b']);
});

describe('slugs', () => {
  test.each([
    ['openapi.yaml', 'Train Travel API', 'train-travel-api'],
    ['openapi.yaml', 'Swagger Petstore - OpenAPI 3.0', 'swagger-petstore'],
    ['openapi.yaml', 'Acme API 1.0.0', 'acme-api'],
    ['openapi.yaml', 'Acme: everything that a partner may want to know of us', 'acme'],
    ['openapi.yaml', 'Spotify Web API with fixes and improvements from sonallux', 'spotify-web-api-with-fixes'],
    ['openapi.yaml', 'OpenAPI definition', 'pay-service'],
    ['services/refunds/src/main/resources/openapi.yaml', 'API v1', 'refunds'],
    ['apis/refunds.openapi.yaml', 'API Documentation', 'refunds'],
    ['openapi.yaml', '支払い', 'pay-service'],
  ])('of %s with the title %s', async (path, title, slug) => {
    expect(planned(await plan({ [path]: api(title) }))).toEqual([`${path} apis/${slug}`]);
  });

  test.each([
    ['.spectral.yml', url, 'pay-service'],
    ['spectral.yaml', url, 'pay-service'],
    ['rules/.spectral.yml', url, 'rules'],
    ['style.spectral.yml', url, 'style'],
    ['.spectral.yml', 'https://git.test/acme/r.git', 'ruleset'],
  ])('of the ruleset %s in %s: %s', async (path, repositoryUrl, slug) => {
    const found = await plan({ [path]: 'extends: [spectral:oas]\nrules: {}\n' }, { url: repositoryUrl });
    expect(planned(found)).toEqual([`${path} rulesets/${slug}`]);
  });

  test('the document in the fewest folders has the short one', async () => {
    const found = await plan({
      'v2/openapi.yaml': api('Pay', { version: '2.0.0' }),
      'teams/eu/v1/openapi.yaml': api('Pay', { version: '1.1.0' }),
      'openapi.yaml': api('Pay', { version: '3.0.0' }),
    });
    expect(planned(found).toSorted()).toEqual([
      'openapi.yaml apis/pay',
      'teams/eu/v1/openapi.yaml apis/pay-v1',
      'v2/openapi.yaml apis/pay-v2',
    ]);
  });
});

describe('what is published already', () => {
  async function published(): Promise<{
    push: (files: Record<string, string>) => Promise<string[]>;
    world: ReturnType<typeof createWorld>;
  }> {
    const world = createWorld();
    const { registry, source, compiler } = world;
    const given = { url, branch: null, credential: null, visibility: 'private', validation: 'strict' } as const;
    const id = await follow(registry, 'acme', { ...given, discover: '' });
    const queue = createSyncQueue(registry, createPulls);
    // As before there were defaults.
    const { ignored } = compiler;
    compiler.ignored = async (_, paths) => paths.map(() => -1);
    const push = async (files: Record<string, string>) => {
      source.push(url, files);
      const run = await (await queue.request('acme', id, 'manual')).done;
      return run.documents.map(({ path, resource, outcome, label }) => `${outcome} ${path} ${resource}@${label}`);
    };
    await push({ 'examples/a.yaml': api('A long title, which was the slug') });
    compiler.ignored = ignored;
    return { push, world };
  }

  test('stays, with its slug, although a rule would leave it out now', async () => {
    const { push, world } = await published();
    const next = api('Other', { version: '1.1.0' });
    expect(await push({ 'examples/a.yaml': next, 'examples/b.yaml': api('B') })).toEqual([
      'published examples/a.yaml @acme/apis/a-long-title-which-was-the-slug@1.1.0',
    ]);
    const [followed] = await listRepositories(world.registry);
    const { plan: again } = await discoverRepository(
      world.registry,
      { ...followed!, discover: '' },
      new AbortController().signal,
    );
    expect(again.documents.map(({ coordinate }) => formatCoordinate(coordinate))).toEqual([
      '@acme/apis/a-long-title-which-was-the-slug',
    ]);
  });

  test('is no longer found once .steleignore names it, and its versions stay', async () => {
    const { push } = await published();
    const files = { 'examples/a.yaml': api('A', { version: '1.1.0' }), '.steleignore': 'a.yaml' };
    expect(await push(files)).toEqual(['detached examples/a.yaml @acme/apis/a-long-title-which-was-the-slug@1.0.0']);
  });

  test('stays when a YAML file of the same document comes', async () => {
    const { push } = await published();
    const text = api('Same', { version: '2.0.0' });
    expect(await push({ 'examples/a.yaml': text, 'a.yaml': text })).toEqual([
      'published examples/a.yaml @acme/apis/a-long-title-which-was-the-slug@2.0.0',
    ]);
  });
});

test('5,000 files, deep folders and strange names are planned in bounded time', async () => {
  const files: Record<string, string> = { 'openapi.yaml': api('One'), '.steleignore': '*-old/\n!keep-old/\n' };
  for (let n = 0; n < 5_000; n++) files[`tests/${n % 100}/${n}.json`] = '{}';
  files[`${'d/'.repeat(2000)}a.json`] = '{}';
  files[`${'long'.repeat(2000)}.json`] = '{}';
  for (const name of ['\u0001', '\n', '\\', '[', '*', ' ', '\u202e', '..a', '!a', '#a']) files[`${name}/x.json`] = '{}';
  const { registry } = createWorld();
  const snapshot = snapshotOf(url, 'c', files);
  let read = 0;
  const watched = { ...snapshot, read: (paths: readonly string[]) => ((read += paths.length), snapshot.read(paths)) };
  const before = process.cpuUsage();
  const found = await planDocuments({ registry, repository, snapshot: watched });
  const { user } = process.cpuUsage(before);
  expect(planned(found)).toEqual(['openapi.yaml apis/one']);
  // `..a/` is a hidden folder.
  expect(found.skipped).toHaveLength(5_001);
  expect(read).toBeLessThan(30);
  expect(user / 1e6).toBeLessThan(10);
});
