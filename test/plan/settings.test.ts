import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/model/connection.ts';
import type { Report } from '../../src/model/problem.ts';
import type { Resource } from '../../src/model/resource.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { planDocuments } from '../../src/plan/discover.ts';
import { listRepositories, follow } from '../../src/sync/follow.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { findResource } from '../../src/registry/lives.ts';
import { listReadable } from '../../src/registry/readable.ts';
import { labelFromTag } from '../../src/plan/release-tags.ts';
import { createWorld, snapshotOf, type World } from '../registry/world.ts';

/** What a repository's `stele.yaml` makes of it. */

const url = 'https://git.test/acme/mono.git';
const operator = { kind: 'operator', id: 'test' } as const;
const author = { actor: 'operator:test', origin: null };

const api = (title: string, version = '1.0.0', more = '') =>
  `openapi: 3.1.0\ninfo: {title: ${title}, version: "${version}"}\n${more}`;

interface Followed extends World {
  /** Commits these files on top of those before, and syncs. */
  push: (files: Record<string, string | null>) => Promise<Run>;
  sync: () => Promise<Run>;
  names: () => Promise<string[]>;
  find: (slug: string, type?: 'apis' | 'schemas') => Promise<Resource | null>;
}

async function following(discover = ''): Promise<Followed> {
  const world = createWorld();
  const { registry, source } = world;
  const given = { url, branch: null, credential: null, visibility: 'private', validation: 'strict' } as const;
  const id = await follow(registry, 'acme', { ...given, discover });
  const queue = createSyncQueue(registry, createPulls);
  const sync = async () => (await queue.request('acme', id, 'manual')).done;
  let tree: Record<string, string> = {};
  return {
    ...world,
    sync,
    async push(files) {
      const next = Object.entries({ ...tree, ...files }).filter((each): each is [string, string] => each[1] !== null);
      tree = Object.fromEntries(next);
      source.push(url, tree);
      return sync();
    },
    names: async () =>
      (await listReadable(registry, operator, { org: 'acme' })).map(
        ({ type, slug, latest }) => `${type}/${slug}@${latest}`,
      ),
    find: (slug, type = 'apis') => findResource(registry, { org: 'acme', type, slug }),
  };
}

const settingsOf = ({ documents }: Run) => documents.find(({ path }) => path.endsWith('stele.yaml'));

describe('patterns', () => {
  test('each file that a pattern takes is a resource, with the slug of its template', async () => {
    const { push, names, compiler } = await following();
    const run = await push({
      'stele.yaml': 'resources:\n  - path: services/*/*.openapi.yaml\n    slug: "{1}-{2}"\n',
      'services/pay/v1.openapi.yaml': api('Pay'),
      'services/pay/v2.openapi.yaml': api('Pay', '2.0.0'),
      'services/Über Maß/v1.openapi.yaml': api('Other'),
      'services/pay/deep/v3.openapi.yaml': api('Deep'),
      'services/pay/values.yaml': 'a: 1',
      'elsewhere.yaml': api('Elsewhere'),
    });
    expect(settingsOf(run)).toBeUndefined();
    expect(await names()).toEqual(['apis/pay-v1@1.0.0', 'apis/pay-v2@2.0.0', 'apis/uber-ma-v1@1.0.0']);
    compiler.compiled.length = 0;
    await push({ 'services/refunds/v1.openapi.yaml': api('Refunds') });
    expect(compiler.compiled).toEqual(['services/refunds/v1.openapi.yaml']);
    expect(await names()).toContain('apis/refunds-v1@1.0.0');
  });

  test('without a slug each has one of its own, from its title or its path', async () => {
    const { push, names } = await following();
    await push({
      'stele.yaml': 'resources: [{path: "**/api.yaml"}]',
      'api.yaml': api('Same'),
      'a/b/api.yaml': api('Same'),
      'c/api.yaml': api('Third'),
    });
    expect(await names()).toEqual(['apis/same@1.0.0', 'apis/same-b@1.0.0', 'apis/third@1.0.0']);
  });

  test('the entry that names a file comes before patterns, the first pattern before the next, and ignore before both', async () => {
    const { push, names } = await following();
    const run = await push({
      'stele.yaml': `resources:
  - { path: "a/*.yaml", slug: "first-{1}" }
  - { path: "**/*.yaml", slug: "second-{2}" }
  - { path: a/named.yaml, slug: named }
ignore: [a/old]
`,
      'a/named.yaml': api('N'),
      'a/x.yaml': api('X'),
      'b/y.yaml': api('Y'),
      'a/old/z.yaml': api('Z'),
      'node_modules/m/api.yaml': api('M'),
    });
    expect(settingsOf(run)).toBeUndefined();
    expect(await names()).toEqual(['apis/first-x@1.0.0', 'apis/named@1.0.0', 'apis/second-y@1.0.0']);
  });

  test('with a type, every file that a pattern takes is one', async () => {
    const { push, names } = await following();
    await push({
      'stele.yaml': 'resources: [{path: "schemas/*.json", type: schemas, slug: "{1}"}]',
      'schemas/money.json': '{"type": "integer"}',
      'schemas/date.json': '{"type": "string"}',
      'schemas/README.md': 'No.',
    });
    expect(await names()).toEqual(['schemas/date@1.0.0', 'schemas/money@1.0.0']);
  });

  test('of a followed folder, patterns see nothing else', async () => {
    const { push, names } = await following('apis');
    await push({
      'apis/stele.yaml': 'resources: [{path: "*/a.yaml", slug: "{1}"}]',
      'apis/x/a.yaml': api('X'),
      'other/a.yaml': api('Other'),
      'stele.yaml': 'broken: true',
    });
    expect(await names()).toEqual(['apis/x@1.0.0']);
  });
});

describe('a wrong entry is reported at its place, and the others go on', () => {
  test('a path or a pattern that takes nothing, and files without a document', async () => {
    const { push, names, registry } = await following();
    const run = await push({
      'stele.yaml': `resources:
  - path: gone.yaml
  - path: services/*/openapi.yaml
  - path: charts/*.yaml
  - path: ../secret.yaml
  - path: a.yaml
  - path: ./a.yaml
`,
      'a.yaml': api('A'),
      'charts/values.yaml': 'a: 1',
    });
    const told = settingsOf(run)!;
    expect(told).toMatchObject({ path: 'stele.yaml', resource: null, outcome: 'rejected' });
    const report = JSON.parse(Buffer.from((await registry.objects.get(told.report!))!).toString()) as Report;
    expect(report.problems.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
      '2:5 "gone.yaml": There is no gone.yaml.',
      '3:5 "services/*/openapi.yaml" matches no file.',
      '4:5 "charts/*.yaml" matches 1 file, but it is not a document. Set type to publish it anyway.',
      '5:5 "../secret.yaml" is not in the followed folder.',
      '7:5 "./a.yaml" is listed twice.',
    ]);
    expect(told.detail).toMatch(/^stele\.yaml:2:5 "gone\.yaml": There is no gone\.yaml\. stele\.yaml:3:5 /);
    expect(await names()).toEqual(['apis/a@1.0.0']);
  });

  test('a slug that two files are given stays with the one that had it', async () => {
    const { push, names, find } = await following();
    await push({ 'stele.yaml': 'resources: [{path: "**/a.yaml", slug: one}]', 'm/a.yaml': api('M') });
    const run = await push({ 'b/a.yaml': api('B', '9.0.0'), 'z/a.yaml': api('Z', '9.0.0') });
    expect(settingsOf(run)!.detail).toBe(
      'stele.yaml:1:13 m/a.yaml already has the slug one, so b/a.yaml is not published. Give it another slug. ' +
        'stele.yaml:1:13 m/a.yaml already has the slug one, so z/a.yaml is not published. Give it another slug.',
    );
    expect(await names()).toEqual(['apis/one@1.0.0']);
    expect(await find('one')).toMatchObject({ connection: { path: 'm/a.yaml' } });
  });

  test('a template that comes to nothing', async () => {
    const { push, names } = await following();
    const run = await push({
      'stele.yaml': 'resources: [{path: "*/a.yaml", slug: "{1}"}]',
      '日本/a.yaml': api('A'),
      'b/a.yaml': api('B'),
    });
    expect(settingsOf(run)!.detail).toBe(
      'stele.yaml:1:13 No slug can be made from "{1}" for 日本/a.yaml. Add an entry with a slug for this file.',
    );
    expect(await names()).toEqual(['apis/b@1.0.0']);
  });

  test('a pattern that takes more than 1,000 files takes none', async () => {
    const { push, names } = await following();
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`many/${n}.yaml`, 'a: 1']));
    const run = await push({
      ...many,
      'stele.yaml': 'resources: [{path: "many/*.yaml"}, {path: a.yaml}]',
      'a.yaml': api('A'),
    });
    expect(settingsOf(run)!.detail).toBe('stele.yaml:1:13 "many/*.yaml" matches 1001 files; the limit is 1000.');
    expect(await names()).toEqual(['apis/a@1.0.0']);
  });

  test('symbolic links and submodules, by name and by pattern', async () => {
    const { registry } = await following();
    const files = { 'stele.yaml': 'resources: [{path: "*/a.yaml"}, {path: l/a.yaml}]', 'f/a.yaml': api('F') };
    const plain = snapshotOf(url, 'c', files);
    const linked = {
      ...plain,
      entries: async () => [
        ...(await plain.entries()),
        { path: 'l/a.yaml', kind: 'symlink' as const, id: 'x' },
        { path: 'm/a.yaml', kind: 'submodule' as const, id: 'x' },
      ],
    };
    const [repository] = await listRepositories(registry);
    const plan = await planDocuments({ registry, repository: repository!, snapshot: linked });
    expect(plan.documents.map(({ path }) => path)).toEqual(['f/a.yaml']);
    expect(plan.settings.report.problems.map(({ message }) => message)).toEqual([
      '"*/a.yaml" matches m/a.yaml, which is a submodule.',
      '"*/a.yaml" matches l/a.yaml, which is a symbolic link; links are not followed.',
      '"l/a.yaml": There is no l/a.yaml.',
    ]);
  });

  test('a ruleset that is not there, until it is', async () => {
    const { push, names, sync } = await following();
    const run = await push({
      'stele.yaml': 'resources:\n  - {path: a.yaml, ruleset: "@acme/rulesets/style"}\n  - {path: b.yaml}\n',
      'a.yaml': api('A', '1.0.0', 'ok: true'),
      'b.yaml': api('B'),
    });
    expect(run.documents.find(({ path }) => path === 'a.yaml')).toMatchObject({
      resource: '@acme/apis/a',
      outcome: 'conflict',
      detail: expect.stringMatching(/^stele\.yaml:2:5 The ruleset @acme\/rulesets\/style does not exist/) as string,
    });
    expect(await names()).toEqual(['apis/b@1.0.0']);
    await push({
      'stele.yaml':
        'resources:\n  - {path: a.yaml, ruleset: "@acme/rulesets/style"}\n  - {path: style.yaml, slug: style}\n',
      'style.yaml': 'rules: {}',
    });
    await sync();
    expect(await names()).toEqual(['apis/a@1.0.0', 'apis/b@1.0.0', 'rulesets/style@1.0.0']);
  });

  test('a refused stele.yaml publishes nothing, also of what it published before', async () => {
    const { push, find, compiler } = await following();
    const settings = 'resources: [{path: a.yaml, slug: a}]';
    await push({ 'stele.yaml': settings, 'a.yaml': api('A') });
    compiler.compiled.length = 0;
    const run = await push({ 'stele.yaml': 'resources: [{path: a.yaml, slug: A}]', 'a.yaml': api('A', '1.1.0') });
    expect(run.documents).toHaveLength(1);
    expect(run.documents[0]!.detail).toMatch(/^stele\.yaml:1:34 resources\[0\]\.slug must be written like "/);
    expect(compiler.compiled).toEqual([]);
    expect(await find('a')).toMatchObject({ latest: '1.0.0', connection: { path: 'a.yaml' } });
    await push({ 'stele.yaml': settings });
    expect(await find('a')).toMatchObject({ latest: '1.1.0' });
  });

  test('while stele.yaml is refused, a ruleset that changed is noted once and applied when it is mended', async () => {
    const { push, sync, find, registry } = await following();
    const settings = 'resources: [{path: a.yaml, slug: a}, {path: style.yaml, slug: style}]';
    await push({ 'stele.yaml': settings, 'a.yaml': api('A'), 'style.yaml': 'rules: {}' });
    await push({ 'stele.yaml': 'resources: 1' });
    const pay = { org: 'acme', type: 'apis', slug: 'a' } as const;
    await changeResource(registry, pay, { ruleset: '@acme/rulesets/style' }, author);
    expect((await sync()).documents).toMatchObject([{ path: 'stele.yaml' }]);
    expect((await sync()).documents).toEqual([]);
    // What is published stays; only what is new has to pass.
    const mended = await push({ 'stele.yaml': settings });
    expect(mended.documents).toMatchObject([{ path: 'a.yaml', outcome: 'unchanged' }]);
    const changed = await push({ 'a.yaml': api('A', '1.0.0', 'x-more: 1\n') });
    expect(changed.documents).toMatchObject([
      { path: 'a.yaml', outcome: 'rejected', detail: 'a.yaml:1:1 The ruleset wants ok.' },
    ]);
    expect(await find('a')).toMatchObject({ latest: '1.0.0' });
  });

  test('a stele.yaml that cannot be read is not one that is absent', async () => {
    const { registry } = await following();
    const files = snapshotOf(url, 'c', { 'a.yaml': api('A') });
    const problem = {
      rule: 'symlink',
      severity: 'error',
      message: 'A link.',
      pointer: '',
      line: 1,
      column: 1,
    } as const;
    const linked = {
      ...files,
      read: async (paths: readonly string[]) =>
        paths[0] === 'stele.yaml'
          ? [{ path: 'stele.yaml', found: false as const, problem: { ...problem, file: 'stele.yaml' } }]
          : files.read(paths),
    };
    const [repository] = await listRepositories(registry);
    const plan = await planDocuments({ registry, repository: repository!, snapshot: linked });
    expect(plan).toMatchObject({ documents: [], isRefused: true });
    expect(plan.settings.report.problems).toMatchObject([{ message: 'A link.' }]);
  });
});

describe('what a resource is made with', () => {
  test('defaults, and what an entry says instead', async () => {
    const { push, find } = await following();
    await push({
      'stele.yaml': `defaults: { visibility: public, validation: lenient, onConflict: reject, tags: "{slug}-v*" }
resources:
  - { path: a.yaml, slug: a, name: Pay, description: Pays. }
  - { path: b.yaml, slug: b, visibility: private, onConflict: revise, version: document }
  - { path: "c/*.yaml", slug: "c-{1}", name: "Service {1}", tags: "{1}/*" }
`,
      'a.yaml': api('A'),
      'b.yaml': api('B'),
      'c/x.yaml': api('X'),
    });
    expect(await find('a')).toMatchObject({
      name: 'Pay',
      description: 'Pays.',
      visibility: 'public',
      validation: 'lenient',
      connection: { onConflict: 'reject', tags: 'a-v*' },
    });
    expect(await find('b')).toMatchObject({
      visibility: 'private',
      latest: '1.0.0',
      connection: { onConflict: 'revise', tags: null },
    });
    expect(await find('c-x')).toMatchObject({ name: 'Service x', connection: { tags: 'x/*' } });
  });

  test('defaults hold for documents that are found, and their ruleset for APIs alone', async () => {
    const { push, find, names } = await following();
    await push({
      'stele.yaml': 'defaults: {visibility: public, ruleset: "@acme/rulesets/style", version: next}',
      'style.yaml': 'rules: {}',
      'a.yaml': api('A', '7.0.0', 'ok: true'),
      'money.json': '{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
    });
    expect(await names()).toEqual(['apis/a@1.0.0', 'schemas/money@1.0.0', 'rulesets/style@1.0.0']);
    expect(await find('a')).toMatchObject({ visibility: 'public', ruleset: '@acme/rulesets/style' });
    expect(await find('money', 'schemas')).toMatchObject({ visibility: 'public', ruleset: null });
  });

  test('owner, lifecycle and topics are of the resource from the next sync on, also if it exists', async () => {
    const { push, find, registry } = await following();
    const listing = (more: string) => ({
      'stele.yaml': `defaults: {owner: Everybody, lifecycle: production}\nresources:\n  - { path: a.yaml${more} }\n`,
    });
    await push({ ...listing(', topics: [pay]'), 'a.yaml': api('A') });
    expect(await find('a')).toMatchObject({ owner: 'Everybody', lifecycle: 'production', topics: ['pay'] });
    await push(listing(', owner: Team A'));
    expect(await find('a')).toMatchObject({ owner: 'Team A', topics: ['pay'] });
    const before = await registry.refs.read('resources/acme/apis/a');
    await push(listing(', owner: Team A, slug: a'));
    expect((await registry.refs.read('resources/acme/apis/a'))?.generation).toBe(before?.generation);
  });

  test('whoever may push cannot open, rename or ungate what exists: that is reported, and rejects nothing', async () => {
    const { push, find, registry } = await following();
    const listing = (more: string) => ({ 'stele.yaml': `resources:\n  - { path: a.yaml, slug: a${more} }\n` });
    await push({ ...listing(''), 'a.yaml': api('A', '1.0.0', 'ok: true') });
    await changeResource(registry, { org: 'acme', type: 'apis', slug: 'a' }, { description: 'By hand.' }, author);
    const run = await push({
      ...listing(', visibility: public, name: Mine, ruleset: "@acme/rulesets/weak", validation: lenient'),
      'a.yaml': api('A', '1.1.0'),
    });
    expect(settingsOf(run)).toMatchObject({
      outcome: 'unchanged',
      detail:
        'stele.yaml:2:5 stele.yaml cannot change the visibility, ruleset, validation, name of @acme/apis/a because it already exists. Use PATCH /v1/apis/a.',
    });
    expect(await find('a')).toMatchObject({
      latest: '1.1.0',
      visibility: 'private',
      ruleset: null,
      validation: 'strict',
      name: 'A',
      description: 'By hand.',
    });
    const again = await push(listing(', visibility: private, name: A, validation: strict'));
    expect(settingsOf(again)).toBeUndefined();
  });

  test('how versions are made changes with stele.yaml, though no document did', async () => {
    const { push, find, sync, source } = await following();
    await push({ 'stele.yaml': 'resources: [{path: a.yaml, slug: a}]', 'a.yaml': api('A') });
    await push({ 'stele.yaml': 'resources: [{path: a.yaml, slug: a, onConflict: reject}]' });
    expect(await find('a')).toMatchObject({ connection: { onConflict: 'reject', tags: null } });
    const run = await push({ 'stele.yaml': 'resources: [{path: a.yaml, slug: a, tags: "a-v*"}]' });
    expect(await find('a')).toMatchObject({ connection: { onConflict: 'revise', tags: 'a-v*' } });
    source.tag(url, 'a-v2.0.0', run.to!);
    await sync();
    expect(await find('a')).toMatchObject({ latest: '2.0.0' });
  });
});

describe('where versions come from', () => {
  test('next: the next patch, whatever the document says', async () => {
    const { push, find } = await following();
    await push({ 'stele.yaml': 'resources: [{path: a.yaml, slug: a, version: next}]', 'a.yaml': api('A', '9.9.9') });
    await push({ 'a.yaml': api('B', '9.9.9') });
    await push({ 'note.md': 'nothing of it' });
    expect((await find('a'))!.versions.map(({ label }) => label)).toEqual(['1.0.0', '1.0.1']);
  });

  test('a file of the same commit: a change of it is a version, and its errors are reported', async () => {
    const { push, find, compiler } = await following();
    const version = (text: string) => ({ 'services/pay/package.json': `{"version": "${text}"}` });
    await push({
      'stele.yaml': `resources:
  - path: services/*/openapi.yaml
    slug: "{1}"
    version: { file: "services/{1}/package.json", pointer: /version }
`,
      ...version('1.0.0'),
      'services/pay/openapi.yaml': api('Pay', '0'),
    });
    await push(version('1.1.0'));
    await push({ 'services/pay/openapi.yaml': api('Payments', '0') });
    const labels = async () => (await find('pay'))!.versions.map(({ label }) => label);
    expect(await labels()).toEqual(['1.0.0', '1.1.0', expect.stringMatching(/^1\.1\.0\+[0-9a-f]{7}$/)]);
    expect((await find('pay'))!.versions[1]).not.toHaveProperty('original');
    const detailOf = async (files: Record<string, string | null>) =>
      (await push(files)).documents.find(({ path }) => path === 'services/pay/openapi.yaml');
    expect(await detailOf({ 'services/pay/package.json': '{}' })).toMatchObject({
      outcome: 'conflict',
      detail: 'stele.yaml:2:5 services/pay/package.json:1:1 The file has no value at /version.',
    });
    expect(await detailOf({ 'services/pay/package.json': null })).toMatchObject({
      outcome: 'conflict',
      detail:
        'stele.yaml:2:5 Cannot read the version from services/pay/package.json. There is no services/pay/package.json.',
    });
    expect(await labels()).toHaveLength(3);
    expect(await detailOf(version('2.0.0'))).toMatchObject({ outcome: 'published', label: '2.0.0' });
    compiler.compiled.length = 0;
    await push({ 'other.md': 'x' });
    expect(compiler.compiled).toEqual([]);
  });

  test.each([
    ['v1.4.0', 'v*', '1.4.0'],
    ['v1.4.0', '*', '1.4.0'],
    ['v1.4.0', 'v1.*', '1.4.0'],
    ['1.4.0', '1.*', '1.4.0'],
    ['v1.4.0', 'v1.4.0', '1.4.0'],
    ['payments-v1.4.0', 'payments-v*', '1.4.0'],
    ['payments-v1.4.0', 'payments-*', '1.4.0'],
    ['payments/v1.4.0', 'payments/*', '1.4.0'],
    ['payments-1.4.0', 'payments-1.*', '1.4.0'],
    ['payments-v1.4.0', 'payments-v1.*', '1.4.0'],
    ['@acme/pay@1.4.0', '@acme/pay@*', '1.4.0'],
    ['payments-v1.4.0', '*', 'payments-v1.4.0'],
    ['release-', 'release-*', null],
  ])('the tag %s of the pattern %s is version %s', (name, pattern, label) => {
    expect(labelFromTag(name, pattern)).toBe(label);
  });
});
