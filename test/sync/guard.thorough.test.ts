import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectionState, repositoryRef, type Repository, type Run, type Trigger } from '../../src/model/connection.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { listReadable } from '../../src/registry/readable.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import { createWorld } from '../registry/world.ts';
import type { FixtureCommit, FixtureRepository } from '../servers/fixture-repository.ts';
import { openWorld, type World } from '../source/world.ts';

const api = (version: string) => `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\n`;
const pay = (version: string): FixtureCommit => ({ files: { 'pay.yaml': api(version) } });
/** More than the first fetch brings. `test/source/ancestry.test.ts` asks about histories of any depth. */
const many = Array.from({ length: 60 }, (_, index) => ({ files: { n: `${index}` } }));

async function following(registry: Registry, url: string) {
  const how = { branch: null, credential: null, discover: '', visibility: 'public', validation: 'lenient' } as const;
  const id = await follow(registry, 'acme', { url, ...how });
  const queue = createSyncQueue(registry, createPulls);
  const repository = async () => (await registry.refs.read<Repository>(repositoryRef('acme', id)))!.value;
  return {
    sync: async (trigger: Trigger = 'timer'): Promise<Run> => (await queue.request('acme', id, trigger)).done,
    repository,
    state: async () => connectionState(await repository(), null, queue.hasNews('acme', id)).state,
    latest: async () =>
      (await listReadable(registry, { kind: 'operator', id: 'test' }, { org: 'acme' })).map(({ latest }) => latest),
  };
}

describe('a repository at a real git server', () => {
  let world: World;
  let repository: FixtureRepository;
  let at: Awaited<ReturnType<typeof following>>;
  beforeEach(async () => {
    world = await openWorld();
    repository = world.createRepository();
    at = await following({ ...createWorld().registry, source: world.openSource() }, world.remote().url);
  });
  afterEach(() => world[Symbol.asyncDispose]());

  /** What stands under its name next: not the same repository, with a history as long. */
  function recreate(): void {
    rmSync(repository.folder, { recursive: true });
    world.createRepository().commitAll([{ files: { other: 'x' } }, ...many, pay('6.6.6')]);
  }

  test('that was deleted and made anew by somebody else publishes nothing, also with a long history', async () => {
    repository.commit(pay('1.0.0'));
    expect(await at.sync()).toMatchObject({ state: 'succeeded' });
    rmSync(repository.folder, { recursive: true });
    await at.sync();
    expect(await at.state()).toBe('detached');
    world.createRepository();
    recreate();
    await at.sync();
    expect([await at.state(), await at.latest()]).toEqual(['detached', ['1.0.0']]);
  });

  test('that was replaced between two looks publishes nothing, and the held commit is not fetched again', async () => {
    repository.commit(pay('1.0.0'));
    await at.sync();
    recreate();
    await at.sync();
    const { length } = world.server.requests;
    await at.sync();
    expect([await at.state(), await at.latest()]).toEqual(['detached', ['1.0.0']]);
    const asked = world.server.requests.slice(length);
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  test(`whose history was rewritten below many commits has diverged; a fast-forward over as many has not`, async () => {
    const root = repository.commit({ files: {} });
    repository.commit(pay('1.0.0'));
    await at.sync();
    repository.commitAll([...many, pay('1.1.0')]);
    await at.sync();
    expect([await at.state(), await at.latest()]).toEqual(['synced', ['1.1.0']]);
    repository.commitAll([{ files: {}, parent: root }, ...many, pay('1.2.0')]);
    await at.sync();
    expect([await at.state(), await at.latest()]).toEqual(['diverged', ['1.2.0']]);
  });

  test(`behind a page to sign in has failed, at first and later, and is never detached`, async () => {
    repository.commit(pay('1.0.0'));
    const page = { html: '<!doctype html><title>Sign in</title>', methods: ['GET', 'POST'] };
    world.server.behaviour.page = page;
    const refused = { state: 'failed', detail: expect.stringContaining('does not answer like a git') as string };
    expect(await at.sync('start')).toMatchObject(refused);
    expect(await at.state()).toBe('failed');
    world.server.behaviour.page = null;
    expect(await at.sync()).toMatchObject({ state: 'succeeded' });
    world.server.behaviour.page = page;
    expect(await at.sync()).toMatchObject(refused);
    expect(await at.state()).toBe('failed');
    world.server.behaviour.page = null;
    await at.sync();
    expect([await at.state(), await at.latest()]).toEqual(['synced', ['1.0.0']]);
  });
});

test('a connection is behind while a sync reads something new, and not while it looks for it', async () => {
  const url = 'https://git.test/acme/apis.git';
  const { registry, source } = createWorld();
  const seen: string[] = [];
  const { tip, snapshot } = source;
  const at = await following(registry, url);
  source.push(url, { 'pay.yaml': api('1.0.0') });
  await at.sync();
  source.tip = async (remote) => {
    seen.push(`look: ${await at.state()}`);
    return tip(remote);
  };
  source.snapshot = async (remote, commit) => {
    seen.push(`read: ${await at.state()}`);
    return snapshot(remote, commit);
  };
  for (const trigger of ['timer', 'hook', 'manual'] as const) await at.sync(trigger);
  expect(new Set(seen)).toEqual(new Set(['look: synced']));
  source.push(url, { 'pay.yaml': api('1.1.0') });
  await at.sync('hook');
  expect(new Set(seen)).toEqual(new Set(['look: synced', 'read: behind']));
  expect(await at.state()).toBe('synced');
});
