import { expect, test } from 'vitest';
import type { Compiler } from '../../src/compile/compile.ts';
import type { UserConfig } from '../../src/config.ts';
import type { Repository, Trigger } from '../../src/model/connection.ts';
import { releasePattern } from '../../src/plan/release-tags.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { findResource } from '../../src/registry/lives.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/acme/apis.git';

function api(title: string, version: string, more = ''): string {
  return `openapi: 3.1.0\ninfo: {title: ${title}, version: "${version}"}\n${more}`;
}

async function open(
  from: { versions: Repository['versions'] } = { versions: 'tags' },
  user?: UserConfig,
  compiler?: Compiler,
) {
  const world = createWorld(user);
  if (compiler) Object.assign(world.registry, { compiler });
  const queue = createSyncQueue(world.registry, createPulls);
  const followAs = (versions: Repository['versions']) =>
    follow(world.registry, 'acme', {
      url,
      branch: null,
      credential: null,
      discover: '',
      visibility: 'public',
      validation: 'lenient',
      versions,
    });
  const id = await followAs(from.versions);
  const labels = async (slug: string) =>
    (await findResource(world.registry, { org: 'acme', type: 'apis', slug }))?.versions.map(({ label }) => label);
  const sync = async (trigger: Trigger = 'manual') => (await queue.request('acme', id, trigger)).done;
  return { ...world, followAs, labels, sync };
}

test('with versions: tags, release tags are published instead of the branch, by the pattern that a document has', async () => {
  const { source, sync, labels, events } = await open();
  const release = source.push(url, { 'pay.yaml': api('Pay', '1.5.0'), 'orders.yaml': api('Orders', '3.0.0') });
  source.tag(url, 'v1.5.0', release);
  source.tag(url, 'orders-v3.0.0', release);
  source.push(url, { 'pay.yaml': api('Pay', '1.5.0', 'x-a: 1'), 'orders.yaml': api('Orders', '3.0.0', 'x-a: 1') });
  await sync();
  expect(await labels('pay')).toEqual(['1.5.0']);
  expect(await labels('orders')).toEqual(['3.0.0']);
  expect(events.filter(({ event }) => event === 'release tag')).toEqual([]);
  source.tag(url, 'v1.6.0', source.push(url, { 'pay.yaml': api('Pay', '1.6.0'), 'orders.yaml': api('Orders', '4') }));
  await sync('timer');
  expect(await labels('pay')).toEqual(['1.5.0', '1.6.0']);
  expect(await labels('orders')).toEqual(['3.0.0']);
});

test('with versions: tags, a document without release tags follows the branch until it has some', async () => {
  const { source, sync, labels } = await open();
  source.tag(url, 'nightly', source.push(url, { 'pay.yaml': api('Pay', '1.0.0') }));
  await sync();
  expect(await labels('pay')).toEqual(['1.0.0']);
  source.tag(url, 'v1.1.0', source.push(url, { 'pay.yaml': api('Pay', '1.1.0') }));
  source.push(url, { 'pay.yaml': api('Pay', '1.1.0', 'x-a: 1') });
  await sync();
  expect(await labels('pay')).toEqual(['1.0.0', '1.1.0']);
});

test('tags whose newest release has the document win over older ones without it', async () => {
  const { source, sync, labels } = await open();
  for (const version of ['0.8.0', '0.9.0'])
    source.tag(url, `v${version}`, source.push(url, { 'code/old.yaml': api('Old', version) }));
  for (const [tag, version] of [
    ['r1.2', '0.10.0'],
    ['r2.1', '0.11.0'],
  ] as const)
    source.tag(url, tag, source.push(url, { 'code/quality.yaml': api('Quality', version) }));
  source.push(url, { 'code/quality.yaml': api('Quality', 'wip'), 'code/later.yaml': api('Later', 'wip') });
  const run = await sync();
  expect(await labels('quality')).toEqual(['1.2', '2.1']);
  // What no release has waits for one.
  expect(await labels('later')).toEqual([]);
  expect(run.documents.filter(({ outcome }) => outcome === 'rejected')).toEqual([]);
});

test('what stele.yaml says of versions comes before versions: tags', async () => {
  const { source, sync, labels } = await open();
  const settings = 'resources: [{path: pay.yaml, slug: pay, version: next}]';
  source.tag(url, 'v7.0.0', source.push(url, { 'pay.yaml': api('Pay', '5.0.0'), 'stele.yaml': settings }));
  await sync();
  expect(await labels('pay')).toEqual(['1.0.0']);
});

test('a repository that is followed already is read again when versions: tags is set', async () => {
  const { source, sync, labels, followAs } = await open({ versions: undefined });
  const release = source.push(url, { 'pay.yaml': api('Pay', '1.5.0') });
  source.tag(url, 'v1.5.0', release);
  source.push(url, { 'pay.yaml': api('Pay', '1.5.0', 'x-a: 1') });
  await sync();
  expect(await labels('pay')).toEqual(['1.5.0']);
  await followAs('tags');
  await sync();
  expect(await labels('pay')).toEqual(['1.5.0', `1.5.0+${release.slice(0, 7)}`]);
});

test.each<[string[], string | null]>([
  [[], null],
  [['nightly', 'stable'], null],
  [['v1.0.0', 'nightly'], 'v*'],
  [['v1.0.0', 'pay-v1.0.0'], 'pay-v*'],
  [['pay@2.0.0', 'orders@1.0.0'], 'pay@*'],
  [['pay/v1.0'], 'pay/v*'],
  [['orders-v1.0.0'], null],
  [['1.0.0', '1.1.0'], '*'],
  [['1.0.0', 'nightly'], null],
])('of the tags %j those of pay are %j', (tags, pattern) => {
  expect(releasePattern(tags, { slug: 'pay' })).toBe(pattern);
});

test('the tags of a first sync are history, and those after it are judged', async () => {
  const { source, sync, labels } = await open();
  const settings = 'resources: [{path: pay.yaml, slug: pay, tags: "v*", compatibility: semver}]\n';
  const path = (name: string) => `paths: {/${name}: {get: {}}}\n`;
  for (const [version, name] of [['1.0.0', 'a'], ['1.1.0', 'b'], ['1.2.0', 'c']] as const)
    source.tag(url, `v${version}`, source.push(url, { 'pay.yaml': api('Pay', version, path(name)), 'stele.yaml': settings }));
  expect((await sync()).documents.map(({ outcome, label }) => [outcome, label])).toEqual([
    ['published', '1.0.0'], ['published', '1.1.0'], ['published', '1.2.0'],
  ]);
  source.tag(url, 'v1.3.0', source.push(url, { 'pay.yaml': api('Pay', '1.3.0', path('d')), 'stele.yaml': settings }));
  expect((await sync()).documents).toMatchObject([{ outcome: 'rejected' }]);
  expect(await labels('pay')).toEqual(['1.0.0', '1.1.0', '1.2.0']);
}); // prettier-ignore

test.each([
  ['gets another slug', '{path: pay.yaml, slug: other, tags: "v*"}', ['1.1.0']],
  ['is listed no more', '{path: none.yaml, slug: none}', undefined],
])('tags of a document that %s are published to its old resource no more', async (_, entry, others) => {
  const { source, sync, labels } = await open();
  const push = (version: string, listed: string) => {
    const files = { 'stele.yaml': `discover: false\nresources: [${listed}]\n`, 'pay.yaml': api('Pay', version) };
    source.tag(url, `v${version}`, source.push(url, files));
  };
  push('1.0.0', '{path: pay.yaml, slug: pay, tags: "v*"}');
  await sync();
  for (const version of ['1.1.0', '1.2.0']) {
    push(version, entry);
    const { documents } = await sync();
    const ofPay = documents.filter(({ resource }) => resource === '@acme/apis/pay').map(({ outcome }) => outcome);
    expect(ofPay).toEqual(version === '1.1.0' ? ['detached'] : []);
  }
  expect(await labels('pay')).toEqual(['1.0.0']);
  expect(await labels('other')).toEqual(others && expect.arrayContaining(others));
});

test.each([
  ['the branch', undefined],
  ['tags', 'tags'],
] as const)(
  'what a private ruleset finds in a document of %s is not told to those who read its resource',
  async (_name, versions) => {
    const defaults = { defaults: { ruleset: '@acme/rulesets/style' } };
    const { source, sync } = await open({ versions }, { organizations: { acme: defaults } }, shareCompiler());
    const files = {
      'stele.yaml': 'resources: [{path: style.yaml, slug: style, visibility: private}, {path: pay.yaml, slug: pay}]',
      'style.yaml': 'x-title: Style\nx-version: 1.0.0\nrules: {info-contact: error}\n',
    };
    source.push(url, files);
    await sync();
    const pay = 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n';
    source.tag(url, 'v1.0.0', source.push(url, { ...files, 'pay.yaml': pay }));
    const { documents } = await sync();
    const detail = expect.stringMatching(/^(Tag v1\.0\.0: )?The document has 1 error\.$/) as string;
    expect(documents).toContainEqual(expect.objectContaining({ path: 'pay.yaml', outcome: 'rejected', detail }));
  },
);
