import { describe, expect, test } from 'vitest';
import { repositoryId, repositoryRef, type Repository } from '../../src/model/connection.ts';
import { keyRef } from '../../src/model/key.ts';
import { readAudit } from '../../src/registry/audit.ts';
import { listReadable } from '../../src/registry/readable.ts';
import { readableResources } from '../../src/registry/readable.ts';
import { createKey, listKeys } from '../../src/registry/keys.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { openReconciler } from '../../src/sync/reconcile.ts';
import { createResource } from '../../src/registry/create-resource.ts';
import { findResource } from '../../src/registry/find-resource.ts';
import { listRuns, newRun, recordRun } from '../../src/sync/runs.ts';
import { createSearch } from '../../src/search/search.ts';
import { generationKey } from '../../src/store/generations.ts';
import { createWorld, type World } from './world.ts';

const author = { actor: 'operator:test', origin: null };
const anybody = { kind: 'anonymous' } as const;
// Who may see resources without versions in lists.
const operator = { kind: 'operator', id: 'test' } as const;
const api = (slug: string) => ({ org: 'acme', type: 'apis', slug }) as const;

async function damage({ bucket }: World, name: string): Promise<void> {
  await bucket.putIfAbsent(generationKey(name, 1000), Buffer.from('{"generation":'));
}

describe('one damaged ref', () => {
  test('hides no other resource from lists, and lists do not show its name', async () => {
    const world = createWorld();
    const { registry, events } = world;
    for (const slug of ['a', 'secret', 'z']) {
      await createResource(registry, api(slug), { name: slug, visibility: 'public' }, author);
    }
    await damage(world, 'resources/acme/apis/secret');
    world.pass(1000);
    expect((await listReadable(registry, operator, { org: 'acme' })).map(({ slug }) => slug)).toEqual(['a', 'z']);
    const readable = await Array.fromAsync(readableResources(registry, anybody, 'acme', 'apis', null));
    expect(readable.map(({ value }) => value.slug)).toEqual(['a', 'z']);
    expect((await listReadable(registry, operator)).map(({ slug }) => slug)).toEqual(['a', 'z']);
    const { entries } = await createSearch(registry).all(anybody);
    expect(entries.map(({ name }) => name)).toEqual(['a', 'z']);
    const audit = await Array.fromAsync(readAudit(registry, 'acme'));
    expect(audit.map(({ subject }) => subject.id).sort()).toEqual(['@acme/apis/a', '@acme/apis/z']);
    await expect(findResource(registry, api('secret'))).rejects.toMatchObject({ code: 'corrupt' });
    expect(events.filter(({ event }) => event === 'damaged ref passed over')).toHaveLength(1);
  });

  test('of a key leaves the other keys working', async () => {
    const world = createWorld();
    const { registry } = world;
    const [broken, sound] = [
      await createKey(registry, { org: 'evil', name: 'broken', scopes: ['read'] }, author),
      await createKey(registry, { org: 'acme', name: 'sound', scopes: ['read'] }, author),
    ];
    await damage(world, keyRef(broken.key.id));
    world.pass(1000);
    expect((await listKeys(registry, 'acme')).map(({ id }) => id)).toEqual([sound.key.id]);
  });

  test('of a repository or a run stops neither other repositories nor the start', async () => {
    const url = 'https://git.test/acme/apis.git';
    const broken = 'https://git.test/acme/broken.git';
    const world = createWorld({ organizations: { acme: { repositories: [{ url: broken }, { url }] } } });
    const { registry, source } = world;
    source.push(url, { 'pay.yaml': 'openapi: 3.1.0\ninfo: {title: Pay, version: "1.0.0"}' });
    await damage(world, repositoryRef('acme', repositoryId(broken, null)));
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
    expect((await listRuns(registry, 'acme')).every(({ id }) => id !== run.id)).toBe(true);
  });
});
