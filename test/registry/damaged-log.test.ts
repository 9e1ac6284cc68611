import { describe, expect, test } from 'vitest';
import type { Repository } from '../../src/model/connection.ts';
import { listReadable, readableResources } from '../../src/registry/readable.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { openReconciler } from '../../src/sync/reconcile.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { findResource } from '../../src/registry/lives.ts';
import { newestRuns, newRun, recordRun } from '../../src/sync/runs.ts';
import { createSearch } from '../../src/search/search.ts';
import { entryKey, parseEntryKey } from '../../src/store/log/entry.ts';
import { workKey } from '../../src/store/work.ts';
import { createWorld, type World } from './world.ts';

const author = { actor: 'operator:test', origin: null };
const anybody = { kind: 'anonymous' } as const;
// Who may see resources without versions in lists.
const operator = { kind: 'operator', id: 'test' } as const;
const api = (slug: string) => ({ org: 'acme', type: 'apis', slug }) as const;

/** Puts something else where the next generation of an expiring record would be. */
async function damage({ bucket }: World, name: string): Promise<void> {
  await bucket.putIfAbsent(workKey(name, 1000), Buffer.from('{"generation":'));
}

/** Puts something else where the next entry of a log would be. */
async function damageLog({ bucket }: World, log: string): Promise<void> {
  const [newest] = await bucket.list(`log/${log}/`, { limit: 1 });
  const { sequence } = parseEntryKey(newest!)!;
  await bucket.putIfAbsent(entryKey(log, sequence + 1), Buffer.from('{"sequence":'));
}

describe('a damaged log', () => {
  test('is served as it stands before the damage, and takes no other organization along', async () => {
    const world = createWorld({ organizations: { acme: {}, beta: {} } });
    const { registry } = world;
    for (const org of ['acme', 'beta']) {
      await createResource(registry, { ...api('a'), org }, { name: 'a', visibility: 'public' }, author);
    }
    await damageLog(world, '@acme');
    world.pass(1000);
    expect((await listReadable(registry, operator)).map(({ org }) => org)).toEqual(['acme', 'beta']);
    const readable = await Array.fromAsync(readableResources(registry, anybody, 'acme', 'apis', null));
    expect(readable.map(({ value }) => value.slug)).toEqual(['a']);
    const { entries } = await createSearch(registry).all(operator);
    expect(entries.map(({ coordinate }) => coordinate.org)).toEqual(['acme', 'beta']);
    const create = (org: string) =>
      createResource(registry, { ...api('b'), org }, { name: 'b', visibility: 'public' }, author);
    await expect(create('acme')).rejects.toMatchObject({ code: 'corrupt' });
    await create('beta');
  });
});

describe('one damaged record', () => {
  test('of a run stops no repository, nor the start', async () => {
    const url = 'https://git.test/acme/apis.git';
    const broken = 'https://git.test/acme/broken.git';
    const world = createWorld({ organizations: { acme: { repositories: [{ url: broken }, { url }] } } });
    const { registry, source } = world;
    source.push(url, { 'pay.yaml': 'openapi: 3.1.0\ninfo: {title: Pay, version: "1.0.0"}' });
    const repository: Repository = {
      org: 'acme',
      url,
      branch: null,
      credential: null,
      discover: '',
      visibility: 'public',
      validation: 'strict',
      state: 'new',
      detail: null,
      commit: null,
      syncedAt: null,
      documents: {},
      tags: {},
    };
    const run = await recordRun(registry, newRun(registry, repository, 'x', 'timer'));
    await damage(world, `runs/acme/${run.id}`);
    world.pass(1000);
    const queue = createSyncQueue(registry, createPulls);
    const reconciler = await openReconciler(registry, queue);
    await reconciler.first;
    await reconciler.close();
    expect(await findResource(registry, api('pay'))).toMatchObject({ latest: '1.0.0' });
    expect((await Array.fromAsync(newestRuns(registry, 'acme', null))).every(({ id }) => id !== run.id)).toBe(true);
  });
});
