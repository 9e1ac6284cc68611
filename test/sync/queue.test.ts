import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { sandboxLost } from '../../src/compile/compile.ts';
import {
  connectionState,
  repositoryId,
  repositoryRef,
  type Repository,
  type Trigger,
} from '../../src/model/connection.ts';
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

test('a host that limits requests makes its repository wait, and only fail when that lasts for hours', async () => {
  const { registry, source, pass } = createWorld();
  const given = { url, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
  await follow(registry, 'acme', { ...given, discover: '' });
  source.push(url, { 'a.yaml': 'openapi: 3.1.0\ninfo: {title: A, version: 1.0.0}\n' });
  const queue = createSyncQueue(registry, createPulls);
  const sync = async () => (await queue.request('acme', id, 'timer')).done;
  const read = async () => (await registry.refs.read<Repository>(repositoryRef('acme', id)))!;
  await sync();
  const { tip } = registry.source;
  registry.source.tip = () => {
    throw new RegistryError('unreachable', 'The host limits requests.', { retryAfter: 60 });
  };
  const first = registry.now().toISOString();
  const until = '2026-01-01T00:01:00.000Z';
  expect(await sync()).toMatchObject({ state: 'failed' });
  const waiting = {
    state: 'behind',
    detail: `The host limits requests. It is asked again from ${until}.`,
    since: first,
  };
  const { value, generation } = await read();
  expect(value).toMatchObject({ state: 'following', detail: null });
  expect(connectionState(value, null)).toEqual(waiting);
  // Limits of a minute may follow one another: that is not recorded each time.
  pass(10 * 60_000);
  await sync();
  expect(await read()).toMatchObject({ generation });
  pass(169 * 60_000);
  await sync();
  expect((await read()).value).toMatchObject({ state: 'following', limited: { since: first } });
  pass(60_000);
  await sync();
  expect(connectionState((await read()).value, null)).toMatchObject({ state: 'failed', since: first });
  registry.source.tip = tip;
  await sync();
  expect(connectionState((await read()).value, null)).toMatchObject({ state: 'synced', detail: null });
  // And a limit that ends in time leaves nothing.
  registry.source.tip = () => {
    throw new RegistryError('unreachable', 'The host limits requests.', { retryAfter: 60 });
  };
  await sync();
  expect(connectionState((await read()).value, null)).toMatchObject({ state: 'behind' });
  registry.source.tip = tip;
  await sync();
  expect((await read()).value).toMatchObject({ state: 'following', limited: null });
  await queue.close();
});

test('a run says where a document could not be checked, and not where the repository could not be read', async () => {
  const { registry, source, compiler } = createWorld();
  const given = { url, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
  await follow(registry, 'acme', { ...given, discover: '' });
  source.push(url, { 'a.yaml': 'openapi: 3.1.0\ninfo: {title: A, version: 1.0.0}\n' });
  const { compile } = compiler;
  compiler.compile = () => Promise.reject(sandboxLost('It took too long.', true));
  const queue = createSyncQueue(registry, createPulls);
  const run = await (await queue.request('acme', id, 'manual')).done;
  expect(run).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('could not be checked'),
    sandbox: 'lost',
  });
  compiler.compile = compile;
  registry.source.tip = () => Promise.reject(new RegistryError('unreachable', 'The host does not answer.'));
  const other = await (await queue.request('acme', id, 'manual')).done;
  expect(other).toMatchObject({ state: 'failed', detail: 'The host does not answer.' });
  expect(other).not.toHaveProperty('sandbox');
  await queue.close();
});

test('once a document ends a sync, no other is begun, and the run ends when none is under way', async () => {
  const { registry, source, compiler } = createWorld();
  const given = { url, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
  await follow(registry, 'acme', { ...given, discover: '' });
  const names = Array.from({ length: 40 }, (_, n) => `a${n}`);
  source.push(
    url,
    Object.fromEntries(names.map((n) => [`${n}.yaml`, `openapi: 3.1.0\ninfo: {title: ${n}, version: 1.0.0}\n`])),
  );
  const { compile } = compiler;
  let begun = 0;
  let running = 0;
  compiler.compile = async (...job) => {
    if (++begun === 1) throw new RegistryError('unreachable', 'The host does not answer.');
    running++;
    await delay(20);
    return compile(...job).finally(() => running--);
  };
  const queue = createSyncQueue(registry, createPulls);
  const run = await (await queue.request('acme', id, 'manual')).done;
  expect(run).toMatchObject({ state: 'failed', detail: 'The host does not answer.' });
  expect(running).toBe(0);
  const atEnd = begun;
  await delay(100);
  expect(begun).toBe(atEnd);
  expect(begun).toBeLessThan(names.length);
  await queue.close();
});
