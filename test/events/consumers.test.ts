import { expect, test } from 'vitest';
import { findResource } from '../../src/registry/lives.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { reportConsumer } from '../../src/registry/graph/dependants.ts';
import { publish } from '../../src/registry/publish.ts';
import { createWebhook } from '../../src/events/endpoints.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';
import { author, deliver, local, minute, receive } from './webhook-scene.ts';

/** Consumers of one organization hear of what happens to contracts of another. */

const coordinate = { org: 'acme', type: 'apis', slug: 'pay' } as const;

async function open(visibility: 'public' | 'private' = 'public') {
  const world = createWorld({ ...local, organizations: { acme: {}, shop: {} } });
  const { registry, pass } = world;
  let time = 0;
  const timed = { ...registry, monotonic: () => time };
  const put = async (version: string, ...paths: string[]) => {
    const text = `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\npaths: {${paths.map((path) => `/${path}: {get: {}}`).join(', ')}}\n`;
    const result = await publish(registry, {
      coordinate,
      snapshot: snapshotOf(null, null, { 'api.yaml': text }),
      entry: 'api.yaml',
      version: null,
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: { visibility },
      author,
    });
    expect(result.outcome).toBe('published');
  };
  await put('1.0.0', 'a', 'b');
  const { manifest: digest } = (await findResource(registry, coordinate))!.versions[0]!;
  const pinned = { contract: '@acme/apis/pay', range: '^1', version: '1.0.0', digest };
  await reportConsumer(registry, 'shop', 'web', [pinned], author);
  await reportConsumer(registry, 'shop', 'other', [{ ...pinned, digest: `sha256:${'b'.repeat(64)}` }], author);
  pass(minute);
  const receiver = await receive();
  await createWebhook(registry, 'shop', { url: receiver.url, events: ['consumer.affected'] }, author);
  // Who administers some resources may not list consumers.
  await createWebhook(registry, 'shop', { url: receiver.url, events: null, resources: ['apis/*'] }, author);
  const deliveries = deliver(timed);
  await deliveries.poke();
  return {
    put,
    status: (status: Parameters<typeof changeStatus>[3]) => changeStatus(registry, coordinate, '1.0.0', status, author),
    /** The data of all events so far. */
    async told() {
      time += minute;
      await deliveries.poke();
      return receiver.received.map(({ event }) => event.data as Record<string, unknown>);
    },
  };
}

test('whose pinned version is deprecated, yanked or withdrawn hears of it, each once', async () => {
  const { status, told } = await open();
  expect(await told()).toEqual([]);
  await status({ state: 'deprecated', reason: 'Old' });
  await status({ state: 'yanked', reason: 'Wrong' });
  await status({ state: 'withdrawn', reason: 'Secret' });
  const events = await told();
  // Events may arrive in any order.
  expect(events.map(({ because }) => because).sort()).toEqual(['deprecated', 'withdrawn', 'yanked']);
  expect(events.find(({ because }) => because === 'deprecated')).toMatchObject({
    consumer: 'web',
    coordinate: '@acme/apis/pay',
    pinned: '1.0.0',
    version: '1.0.0',
    status: { reason: 'Old' },
  });
  expect(await told()).toEqual(events);
});

test('whose range means a new version that breaks hears of it, and of no other', async () => {
  const { put, told } = await open();
  await put('1.1.0', 'a', 'b', 'c');
  await put('2.0.0', 'a');
  expect(await told()).toEqual([]);
  await put('1.2.0', 'a');
  expect(await told()).toMatchObject([
    {
      consumer: 'web',
      range: '^1',
      pinned: '1.0.0',
      version: '1.2.0',
      because: 'breaking',
      changes: { from: '1.1.0' },
    },
  ]);
});

test('nobody hears of a contract that its organization may not read', async () => {
  const { status, told } = await open('private');
  await status({ state: 'deprecated', reason: 'Old' });
  expect(await told()).toEqual([]);
});
