import { describe, expect, test } from 'vitest';
import { repositoryRef, type Repository } from '../../src/model/connection.ts';
import type { Approvals } from '../../src/model/approval.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import {
  eventsOfApprovals,
  eventsOfRepository,
  eventsOfResource,
  type Happened,
  type Step,
} from '../../src/events/events.ts';
import { publish } from '../../src/registry/publish.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import type { Registry } from '../../src/registry/registry.ts';
import type { Generation } from '../../src/store/records.ts';
import { createWorld, snapshotOf, type World } from '../registry/world.ts';

const base = 'https://registry.test';
const coordinate = { org: 'acme', type: 'apis', slug: 'pay' } as const;
const author = { actor: 'operator:test', origin: null };

async function publishPay(registry: Registry, version: string): Promise<void> {
  const text = `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\n`;
  await publish(registry, {
    coordinate,
    snapshot: snapshotOf(null, null, { 'api.yaml': text }),
    entry: 'api.yaml',
    version: null,
    onConflict: 'revise',
    latest: true,
    dryRun: false,
    create: {},
    author,
  });
}

/** Everything that a ref's history says, oldest first. */
async function eventsIn<T>(
  registry: Registry,
  name: string,
  between: (step: Step<T>) => Happened[],
): Promise<Happened[]> {
  const history = (await Array.fromAsync(registry.refs.history<T>(name))).reverse();
  return history.flatMap((after, index) => between({ url: base, before: history[index - 1] ?? null, after }));
}

const short = ({ event }: Happened) => `${event.type.replace('dev.stele.', '')} ${event.subject}`;

test('what waits for approval is said once, without its version, and leads to the approval', () => {
  const record = (...held: object[]) =>
    ({ at: '', writeId: 'x', value: { held, decisions: [] } }) as unknown as Generation<Approvals>;
  const pull = { id: 'p', source: 'pull 7' };
  const before = record({ id: 'a', source: 'branch' }, pull);
  const after = record({ id: 'a', source: 'branch' }, { id: 'b', source: 'tag 2.0.0', label: '2.0.0' }, pull);
  const [asked, ...others] = eventsOfApprovals(coordinate, { url: base, before, after });
  expect(others).toEqual([]);
  expect(short(asked!)).toBe('approval.requested @acme/apis/pay');
  expect(asked!.event.data).toEqual({ coordinate: '@acme/apis/pay', url: `${base}/console/acme/approvals/b` });
});

describe('what happens to a resource', () => {
  const all = ({ registry }: World) => eventsIn<Resource>(registry, resourceRef(coordinate), eventsOfResource);

  test('versions, their status, latest and visibility are sent, each once', async () => {
    const world = createWorld();
    const { registry } = world;
    await publishPay(registry, '1.0.0');
    await publishPay(registry, '1.1.0');
    await publishPay(registry, '1.1.0');
    await publishPay(registry, '0.9.0');
    await changeResource(registry, coordinate, { visibility: 'public' }, author);
    await changeResource(registry, coordinate, { name: 'Payments' }, author);
    await changeStatus(registry, coordinate, '1.1.0', { state: 'yanked', reason: 'broken' }, author);
    expect((await all(world)).map(short)).toEqual([
      'version.published @acme/apis/pay@1.0.0',
      'latest.moved @acme/apis/pay',
      'version.published @acme/apis/pay@1.1.0',
      'latest.moved @acme/apis/pay',
      'version.published @acme/apis/pay@0.9.0',
      'visibility.changed @acme/apis/pay',
      'version.status-changed @acme/apis/pay@1.1.0',
      'latest.moved @acme/apis/pay',
    ]);
  });

  test('one new version among many is told without a look at each of the others', async () => {
    const { registry } = createWorld();
    await publishPay(registry, '1.0.0');
    const first = (await registry.refs.read<Resource>(resourceRef(coordinate)))!;
    let looks = 0;
    const [version] = first.value.versions;
    const { status } = version!;
    const many = Array.from({ length: 1000 }, (_, n) => ({
      ...version!,
      label: `1.0.${n}`,
      get status() {
        looks++;
        return status;
      },
    }));
    const before = { ...first, value: { ...first.value, versions: many } };
    const added = { ...version!, label: '1.1.0' };
    const after = { ...first, generation: 2, value: { ...first.value, versions: [...many, added] } };
    expect(eventsOfResource({ url: base, before, after }).map(short)).toEqual([
      'version.published @acme/apis/pay@1.1.0',
    ]);
    expect(looks).toBeLessThan(10);
  });

  test('an event is a CloudEvent that names everything and holds no document', async () => {
    const world = createWorld();
    await publishPay(world.registry, '1.0.0');
    const [published] = await all(world);
    const { versions } = (await world.registry.refs.read<Resource>(resourceRef(coordinate)))!.value;
    expect(published!.event).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^[0-9a-z]{9}[0-9a-f]{22}$/),
      source: 'https://registry.test/@acme',
      type: 'dev.stele.version.published',
      subject: '@acme/apis/pay@1.0.0',
      time: '2026-01-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      data: {
        coordinate: '@acme/apis/pay',
        version: '1.0.0',
        manifest: versions[0]!.manifest,
        url: 'https://registry.test/@acme/apis/pay@1.0.0',
        publishedAt: '2026-01-01T00:00:00.000Z',
      },
    });
    expect(published!.resources).toEqual([coordinate]);
  });

  test('the same happening has the same id whoever looks, no other has, and ids sort by time', async () => {
    const world = createWorld();
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      await publishPay(world.registry, version);
      world.pass(1000);
    }
    const ids = (await all(world)).map(({ event }) => event.id);
    expect((await all({ ...world, registry: world.another() })).map(({ event }) => event.id)).toEqual(ids);
    expect(new Set(ids).size).toBe(6);
    const prefixes = ids.map((id) => id.slice(0, 9));
    expect(prefixes).toEqual(prefixes.toSorted());
  });
});

describe('what happens to a repository', () => {
  const url = 'https://git.test/acme/apis.git';
  const api = (version: string, more = '') => `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\n${more}`;

  async function followed(at = url) {
    const world = createWorld();
    const given = {
      url: at,
      branch: null,
      credential: null,
      discover: '',
      visibility: 'public',
      validation: 'strict',
    } as const;
    const id = await follow(world.registry, 'acme', given);
    const queue = createSyncQueue(world.registry, createPulls);
    const everything = () => eventsIn<Repository>(world.registry, repositoryRef('acme', id), eventsOfRepository);
    return {
      ...world,
      sync: async () => (await queue.request('acme', id, 'manual')).done,
      /** Without those that tell of each commit. */
      all: async () => (await everything()).filter(({ event }) => event.type !== 'dev.stele.sync.completed'),
      everything,
    };
  }

  test('each synced commit is sent, with the number of documents and of rejected ones', async () => {
    const { source, sync, everything } = await followed();
    const first = source.push(url, { 'pay.yaml': api('1.0.0'), 'bad.yaml': 'openapi: 3.1.0\nbroken: true' });
    await sync();
    await sync();
    source.push(url, { 'pay.yaml': api('1.1.0') });
    await sync();
    const found = (await everything()).filter(({ event }) => event.type === 'dev.stele.sync.completed');
    expect(found.map(({ event: { data } }) => data)).toMatchObject([
      { repository: url, commit: first, documents: 2, rejected: 1 },
      { documents: 1, rejected: 0 },
    ]);
    expect(found[0]!.resources).toContainEqual(coordinate);
  });

  test('a failure is sent when it begins and when it is over, not between', async () => {
    const { source, sync, all } = await followed();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    source.setReachable(false);
    await sync();
    await sync();
    source.setReachable(true);
    await sync();
    const found = await all();
    expect(found.map(short)).toEqual([`sync.failed ${url}`, `sync.recovered ${url}`]);
    expect(found[0]!.event.data).toMatchObject({ repository: url, detail: expect.stringContaining('does not answer') });
    expect(found[0]!.resources).toEqual([coordinate]);
  });

  test('a document that is refused fails, and recovers', async () => {
    const { source, sync, all } = await followed();
    for (const text of [
      api('1.0.0'),
      'openapi: 3.1.0\nbroken: true',
      'openapi: 3.1.0\nbroken: true\nx: 1',
      api('1.1.0'),
    ]) {
      source.push(url, { 'pay.yaml': text });
      await sync();
    }
    const found = await all();
    expect(found.map(short)).toEqual(['sync.failed @acme/apis/pay', 'sync.recovered @acme/apis/pay']);
    expect(found[0]!.event.data).toMatchObject({ coordinate: '@acme/apis/pay', path: 'pay.yaml' });
  });

  test('a document that fails is the same one wherever its file moves', async () => {
    const { source, sync, all } = await followed();
    for (const files of [
      { 'pay.yaml': api('1.0.0') },
      { 'pay.yaml': `${api('1.1.0')}\nbroken: true` },
      { 'moved.yaml': `${api('1.2.0')}\nbroken: true` },
      { 'again.yaml': api('1.3.0') },
    ]) {
      source.push(url, files);
      await sync();
    }
    expect((await all()).map(short)).toEqual(['sync.failed @acme/apis/pay', 'sync.recovered @acme/apis/pay']);
  });

  test('a name that ended and another file has now did not end again', async () => {
    const { source, sync, all } = await followed();
    const listing = (...lines: string[]) =>
      `discover: false\nresources:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`;
    const files = { 'bill.yaml': api('1.0.0'), 'ship.yaml': api('1.0.0') };
    for (const [at, lines] of [
      ['path: bill.yaml, slug: bill', 'path: ship.yaml, slug: ship'],
      ['path: bill.yaml, slug: bill'],
      ['path: bill.yaml, slug: ship'],
      ['path: bill.yaml, slug: ship'],
      // Another file takes a name, and gives it back.
      ['path: ship.yaml, slug: bill'],
      ['path: ship.yaml, slug: more'],
      ['path: ship.yaml, slug: more'],
    ].entries()) {
      const changed = {
        ...files,
        'bill.yaml': api(`1.${at}.0`),
        'ship.yaml': api(`1.${at}.0`),
        'stele.yaml': listing(...lines),
      };
      source.push(url, changed);
      await sync();
    }
    const ended = (await all()).map(short).filter((one) => one.startsWith('source.detached'));
    const [bill, ship] = ['source.detached @acme/apis/bill', 'source.detached @acme/apis/ship'];
    expect(ended).toEqual([ship, bill, ship, bill]);
  });

  test('rewritten history, a missing file and a missing branch are sent', async () => {
    const { source, sync, all } = await followed();
    const root = source.push(url, {});
    source.push(url, { 'pay.yaml': api('1.0.0'), 'money.yaml': api('2.0.0') });
    await sync();
    source.push(url, { 'pay.yaml': api('1.0.1'), 'money.yaml': api('2.0.0') }, { parent: root });
    await sync();
    source.push(url, { 'pay.yaml': api('1.0.1') });
    await sync();
    source.deleteBranch(url);
    await sync();
    const told = (await all()).map(({ event }) => [event.type.slice('dev.stele.source.'.length), event.data['path']]);
    expect(told).toEqual([
      ['diverged', undefined],
      ['detached', 'money.yaml'],
      ['detached', undefined],
    ]);
  });

  test('what a push publishes under another slug is sent as detached', async () => {
    const { source, sync, all } = await followed();
    for (const slug of ['old', 'new', 'new']) {
      source.push(url, { 'pay.yaml': api('1.0.0'), 'stele.yaml': `resources: [{ path: pay.yaml, slug: ${slug} }]` });
      await sync();
    }
    const told = await all();
    expect(told.map(short)).toEqual(['source.detached @acme/apis/old']);
    expect(told[0]!.event.data).toMatchObject({ path: 'pay.yaml', state: 'detached' });
  });

  test('a replaced repository is detached, not diverged; what stays so is sent once', async () => {
    const { source, sync, all } = await followed();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    source.push(url, { 'pay.yaml': api('6.6.6') }, { force: true });
    await sync();
    source.setReachable(false);
    await sync();
    source.setReachable(true);
    await sync();
    expect((await all()).map(short)).toEqual([`source.detached ${url}`]);
  });

  test('the folder of a local repository is not sent', async () => {
    const folder = '/srv/git/secret-place/apis.git';
    const { source, sync, all } = await followed(folder);
    source.push(folder, { 'pay.yaml': api('1.0.0') });
    await sync();
    source.setReachable(false);
    await sync();
    const found = await all();
    expect(found.map(short)).toEqual(['sync.failed apis']);
    expect(JSON.stringify(found)).not.toContain('secret-place');
  });
});
