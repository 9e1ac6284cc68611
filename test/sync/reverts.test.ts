import { expect, test } from 'vitest';
import type { Resource, Version } from '../../src/model/resource.ts';
import { whyLatest } from '../../src/model/latest.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { findResource } from '../../src/registry/lives.ts';
import { addVersion } from '../../src/registry/append-version.ts';
import { publish } from '../../src/registry/publish.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';

const url = 'https://git.test/acme/apis.git';
const coordinate = { org: 'acme', type: 'apis', slug: 'pay' } as const;
const author = { actor: 'operator:test', origin: null };

function api(version: string, ...paths: string[]): string {
  const items = paths.map((path) => `${path}: {get: {}}`).join(', ');
  return `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\npaths: {${items}}\n`;
}

async function open() {
  const { registry, source } = createWorld();
  const given = { url, branch: null, credential: null, discover: '' };
  const id = await follow(registry, 'acme', { ...given, visibility: 'public', validation: 'lenient' });
  const queue = createSyncQueue(registry, createPulls);
  return {
    registry,
    resource: async () => (await findResource(registry, coordinate))!,
    latest: async () => (await findResource(registry, coordinate))!.latest,
    /** Pushes the document and syncs: what the run says of it. */
    push: async (text: string) => {
      source.push(url, { 'pay.yaml': text });
      return (await (await queue.request('acme', id, 'manual')).done).documents[0];
    },
    upload: (version: string, text: string) =>
      publish(registry, {
        coordinate,
        snapshot: snapshotOf(null, null, { 'pay.yaml': text }),
        entry: 'pay.yaml',
        version,
        onConflict: 'revise',
        latest: true,
        dryRun: false,
        create: null,
        author,
      }),
  };
}

test('a revert of a change without a version bump is served, and its run says so', async () => {
  const { push, latest, resource } = await open();
  await push(api('1.0.0', '/a'));
  const changed = await push(api('1.0.0', '/a', '/refunds'));
  expect(await latest()).toBe(changed!.label);
  const reverted = await push(api('1.0.0', '/a'));
  expect(await latest()).toBe('1.0.0');
  expect(reverted).toMatchObject({
    outcome: 'unchanged',
    label: '1.0.0',
    detail: `Latest becomes 1.0.0 again; it was ${changed!.label}.`,
  });
  // The revert of the revert.
  const again = await push(api('1.0.0', '/a', '/refunds'));
  expect(again!.detail).toBe(`Latest becomes ${changed!.label} again; it was 1.0.0.`);
  expect(await latest()).toBe(changed!.label);
  expect((await resource()).versions).toHaveLength(2);
});

test('after a revert, compatibility compares with what the branch had', async () => {
  const { push, latest, registry } = await open();
  await push(api('1.0.0', '/a'));
  await changeResource(registry, coordinate, { compatibility: 'semver' }, author);
  await push(api('1.0.0', '/a', '/refunds'));
  await push(api('1.0.0', '/a'));
  expect(await push(api('1.4.0', '/a', '/b'))).toMatchObject({ outcome: 'published', label: '1.4.0' });
  expect(await latest()).toBe('1.4.0');
  const { versions } = (await findResource(registry, coordinate))!;
  expect(versions.at(-1)!.changes).toMatchObject({ from: '1.0.0', verdict: 'safe' });
  // Without 1.4.0 it is again what the branch had of 1.0.0.
  await changeStatus(registry, coordinate, '1.4.0', { state: 'yanked', reason: 'wrong' }, author);
  expect(await latest()).toBe('1.0.0');
});

test('another change of the same version after a revert follows what the branch had', async () => {
  const { push, latest, resource } = await open();
  await push(api('1.0.0', '/a'));
  await push(api('1.0.0', '/a', '/refunds'));
  await push(api('1.0.0', '/a'));
  const again = await push(api('1.0.0', '/a', '/b'));
  expect(await latest()).toBe(again!.label);
  expect((await resource()).versions.at(-1)!.changes).toMatchObject({ from: '1.0.0', verdict: 'safe' });
});

test('labels without an order go back to the revision of the same version', async () => {
  const { push, latest } = await open();
  await push(api('2026-01', '/a'));
  await push(api('2026-01', '/a', '/refunds'));
  await push(api('2026-01', '/a'));
  expect(await latest()).toBe('2026-01');
  await push(api('2026-02', '/a'));
  expect(await latest()).toBe('2026-02');
});

test('a branch that goes back to a lower version leaves latest, and run and page say so', async () => {
  const { push, latest, resource } = await open();
  await push(api('1.1.0', '/a'));
  await push(api('2.0.0', '/b'));
  const reverted = await push(api('1.1.0', '/a'));
  expect(await latest()).toBe('2.0.0');
  expect(reverted).toMatchObject({
    outcome: 'unchanged',
    label: '1.1.0',
    detail: 'Latest stays 2.0.0, which is higher than 1.1.0.',
  });
  expect(whyLatest(await resource())).toBe('Latest is 2.0.0, the highest release. The branch has 1.1.0.');
  expect(await push(api('1.2.0', '/a', '/c'))).toMatchObject({
    detail: 'Latest stays 2.0.0, which is higher than 1.2.0.',
  });
  await push(api('2.1.0', '/b'));
  expect(whyLatest(await resource())).toBe('Latest is 2.1.0, the highest release.');
});

test('a label of another kind that makes a third version the latest says so', async () => {
  const { push, latest } = await open();
  await push(api('2.0.0', '/a'));
  await push(api('9', '/a', '/b'));
  expect(await latest()).toBe('9');
  expect(await push(api('next', '/a', '/b', '/c'))).toMatchObject({
    detail: 'Latest becomes 2.0.0 instead of 9, because next is not a semantic version.',
  });
  expect(await latest()).toBe('2.0.0');
});

test('an upload and a pin do not give way to what the branch had', async () => {
  const { push, latest, upload, registry } = await open();
  await push(api('1.0.0', '/a'));
  await push(api('1.0.0', '/a', '/refunds'));
  await upload('1.0.0+hotfix', api('1.0.0', '/a', '/fix'));
  expect(await push(api('1.0.0', '/a'))).toMatchObject({ outcome: 'unchanged', label: '1.0.0' });
  expect(await latest()).toBe('1.0.0+hotfix');
  const changed = await push(api('2.0.0', '/a'));
  await changeResource(registry, coordinate, { latest: '1.0.0+hotfix' }, author);
  await push(api('2.0.0', '/a', '/b'));
  const reverted = await push(api('2.0.0', '/a'));
  expect(reverted).toMatchObject({ label: changed!.label, detail: expect.stringContaining('somebody pinned it') });
  expect(await latest()).toBe('1.0.0+hotfix');
});

test('without the version on the branch, latest is the one that the branch had before it', async () => {
  const { push, latest, registry } = await open();
  const changed = async (...paths: string[]) => (await push(api('1.0.0', '/a', ...paths)))!.label!;
  const withdraw = (label: string) =>
    changeStatus(registry, coordinate, label, { state: 'withdrawn', reason: 'Taken back' }, author);
  await changed();
  const second = await changed('/b');
  const third = await changed('/c');
  await changed();
  await changed('/b');
  await withdraw(second);
  expect(await latest()).toBe('1.0.0');
  await withdraw('1.0.0');
  expect(await latest()).toBe(third);
});

test('a branch goes back behind versions that are yanked or uploaded, too', async () => {
  const { push, latest, upload, registry } = await open();
  await push(api('1.0.0', '/a'));
  const second = (await push(api('1.0.0', '/b')))!.label!;
  const setState = (label: string, state: 'active' | 'yanked') =>
    changeStatus(registry, coordinate, label, { state, reason: 'Because' }, author);
  await setState(second, 'yanked');
  await push(api('1.0.0', '/a'));
  await setState(second, 'active');
  expect(await latest()).toBe('1.0.0');
  await upload('1.0.0+hotfix', api('1.0.0', '/fix'));
  await push(api('1.0.0', '/b'));
  expect(await latest()).toBe('1.0.0+hotfix');
  await setState('1.0.0', 'yanked');
  await setState('1.0.0', 'active');
  await setState('1.0.0+hotfix', 'yanked');
  expect(await latest()).toBe(second);
});

test('what a clock that was ahead published does not keep later releases from becoming latest', async () => {
  const resource = { versions: [], latest: null, latestPinned: false } as unknown as Resource;
  const version = (label: string, publishedAt: string, createdAt?: string): Version => ({
    label,
    manifest: 'sha256:0',
    content: 'sha256:0',
    publishedAt,
    ...(createdAt && { createdAt }),
    status: { state: 'active' },
  });
  const release = version('1.1.0', '2026-02-01T00:00:00Z', '2026-01-31T00:00:00Z');
  for (const ahead of [
    version('1.0.0', '2030-01-01T00:00:00Z'),
    version('1.0.0', '2026-01-01T00:00:00Z', '2030-01-01T00:00:00Z'),
  ])
    expect(addVersion(addVersion(resource, ahead, { latest: true }), release, { latest: 'newer' }).latest).toBe(
      '1.1.0',
    );
  const earlier = version('1.0.0', '2026-01-20T00:00:00Z');
  const old = version('1.1.0', '2026-02-01T00:00:00Z', '2026-01-10T00:00:00Z');
  expect(addVersion(addVersion(resource, earlier, { latest: true }), old, { latest: 'newer' }).latest).toBe('1.0.0');
});

test('nothing is written when the branch has what it had', async () => {
  const { push, registry } = await open();
  await push(api('1.0.0', '/a'));
  const generation = async () => (await registry.refs.read('resources/acme/apis/pay'))!.generation;
  const before = await generation();
  await push(api('1.0.0', '/a', '/b'));
  await push(api('1.0.0', '/a'));
  expect(await generation()).toBe(before + 2);
  const text = api('1.0.0', '/a');
  await push(text);
  await push(text);
  expect(await generation()).toBe(before + 2);
});

test('a release after betas says what it breaks, and numbers with dots are compared as numbers', async () => {
  const { push, latest, resource } = await open();
  await push(api('1.0.0', '/a'));
  await push(api('2.0.0-beta.1', '/b'));
  await push(api('2.0.0', '/b'));
  expect((await resource()).versions.at(-1)!.changes).toMatchObject({ from: '1.0.0', verdict: 'breaking' });
  await push(api('2.3', '/b'));
  await push(api('2.2.0', '/b', '/c'));
  expect(await latest()).toBe('2.3');
});
