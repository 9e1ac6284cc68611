import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { repositoryId, repositoryRef, type Repository, type Trigger } from '../../src/model/connection.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/apis';
const id = repositoryId(url, null);

test('a sync that cannot read its repository when it begins ends as failed, also where nobody waits for it', async () => {
  const { registry, source } = createWorld();
  const given = { url, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
  await follow(registry, 'acme', { ...given, discover: '' });
  source.push(url, { 'a.yaml': 'openapi: 3.1.0\ninfo: {title: A, version: 1.0.0}\n' });
  const unheard: unknown[] = [];
  const hear = (error: unknown) => void unheard.push(error);
  process.prependListener('unhandledRejection', hear);
  try {
    let reads = 0;
    const { read } = registry.refs;
    // The first read is that of the request.
    registry.refs.read = async (name) => {
      if (name === repositoryRef('acme', id) && ++reads === 2) throw new RegistryError('unavailable', 'S3 is silent.');
      return read(name);
    };
    const queue = createSyncQueue(registry, createPulls);
    const { done } = await queue.request('acme', id, 'hook');
    await queue.close();
    await setImmediate();
    expect(unheard).toEqual([]);
    expect(await done).toMatchObject({ state: 'failed', detail: 'S3 is silent.', finishedAt: expect.any(String) });
  } finally {
    process.off('unhandledRejection', hear);
  }
});

test.each<[Trigger, number]>([
  ['hook', 3],
  ['manual', 3],
  ['timer', 1],
])(
  'a sync by %s while the host limits requests is tried %i times until the limit has ended',
  async (trigger, tries) => {
    const { registry, source } = createWorld();
    const given = { url, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
    await follow(registry, 'acme', { ...given, discover: '' });
    source.push(url, { 'a.yaml': 'openapi: 3.1.0\ninfo: {title: A, version: 1.0.0}\n' });
    let asked = 0;
    const { tip } = registry.source;
    registry.source.tip = async (...remote) => {
      if (++asked < 3) throw new RegistryError('unreachable', 'The host limits requests.', { retryAfter: 0.02 });
      return tip(...remote);
    };
    const queue = createSyncQueue(registry, createPulls);
    expect(await (await queue.request('acme', id, trigger)).done).toMatchObject({ state: 'failed' });
    const isPublished = async () => {
      const repository = (await registry.refs.read<Repository>(repositoryRef('acme', id)))!.value;
      expect(repository.documents).toMatchObject({ 'a.yaml': { outcome: 'published' } });
    };
    if (tries > 1) await vi.waitFor(isPublished);
    else await delay(100);
    expect(asked).toBe(tries);
    await queue.close();
  },
);
