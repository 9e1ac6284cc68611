import { describe, expect, test } from 'vitest';
import type { Hint, Pull } from '../../src/hosts/host.ts';
import { pullRef, type PullCheck } from '../../src/model/check.ts';
import { repositoryId, repositoryRef, type Repository } from '../../src/model/connection.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { resourceRef } from '../../src/model/resource.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { publish } from '../../src/registry/publish.ts';
import { createUpload } from '../../src/source/upload.ts';
import { api, id, open, seven, url, waitFor } from './pulls-scene.ts';

const hint: Hint = { kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true };
const author = { actor: 'operator:test', origin: null };

async function repositoryOf({ registry }: Awaited<ReturnType<typeof open>>): Promise<Repository> {
  return (await registry.refs.read<Repository>(repositoryRef('acme', id)))!.value;
}

describe('one does not stop another', () => {
  test('a repository whose host refuses does not keep the pull requests of the others from being found', async () => {
    const scene = await open();
    const { source, host, queue, checked, sync } = scene;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    host.listPulls = async ({ name }) => {
      if (name !== 'acme/apis') throw new RegistryError('unreachable', 'The host refuses the credential.');
      return { pulls: [seven], isComplete: true };
    };
    const ours = await repositoryOf(scene);
    await queue.reconcileHosts([{ ...ours, org: 'other', url: 'https://git.test/other/apis.git' }, ours]);
    await checked(head);
    expect(host.told).toContainEqual(expect.objectContaining({ commit: head }));
  });

  test('a host that never answers keeps the pull requests of another organization waiting for nothing', async () => {
    const scene = await open();
    const { source, host, queue, checked, sync } = scene;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    const never = Promise.withResolvers<{ pulls: Pull[]; isComplete: boolean }>();
    host.listPulls = ({ name }) =>
      name === 'acme/apis' ? Promise.resolve({ pulls: [seven], isComplete: true }) : never.promise;
    const ours = await repositoryOf(scene);
    const dead = Array.from({ length: 20 }, (_, n) => ({
      ...ours,
      org: 'other',
      url: `https://git.test/other/${n}.git`,
    }));
    const asking = queue.reconcileHosts([...dead, ours]);
    await checked(head);
    expect(host.told).toContainEqual(expect.objectContaining({ commit: head }));
    never.resolve({ pulls: [], isComplete: true });
    await asking;
  });

  test("an organization's many pull requests do not hold up those of another", async () => {
    const { source, registry, queue, checked, sync, compiler } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const other = 'https://git.test/other/apis.git';
    const given = { url: other, branch: null, credential: 'git', visibility: 'public', validation: 'lenient' } as const;
    await follow(registry, 'other', { ...given, discover: '' });
    source.push(other, { 'README.md': 'Nothing yet' });
    const compile = registry.compiler.compile.bind(registry.compiler);
    registry.compiler.compile = async (input, load, turn) => {
      if (turn?.org !== 'other') return compile(input, load, turn);
      const signal = turn.signal!;
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
    };
    for (let number = 1; number <= 5; number++) {
      const ref = `refs/pull/${number}/head`;
      source.push(other, { 'bad.yaml': api(`1.0.${number}`) }, { branch: ref });
      await queue.check('other', repositoryId(other, null), { number, base: 'main', ref }, true);
    }
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await queue.check('acme', id, seven, true);
    await checked(head);
    expect(compiler.compiled).toEqual(['pay.yaml', 'pay.yaml']);
    await queue.close();
  });

  test('a host that accepts no report does not hold up checks', async () => {
    const { source, sync, hook, checked, host, queue } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    await waitFor(() => expect(host.told).toHaveLength(1));
    const never = Promise.withResolvers<void>();
    host.reportCheck = () => never.promise;
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook(hint);
    await checked(head);
    expect(host.told).toHaveLength(1);
    never.resolve();
    await queue.close();
  });

  test('a check that takes too long is stopped, reported as such, and begun again later: the machine may be slow', async () => {
    const { source, sync, hook, host, registry, queue, state } = await open({ patience: 200 });
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    let begun = 0;
    registry.compiler.compile = (_input, _load, { signal } = {}) => {
      begun++;
      return new Promise((_resolve, reject) =>
        signal!.addEventListener('abort', () => reject(signal!.reason as Error), { once: true }),
      );
    };
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook(hint);
    await waitFor(() =>
      expect(host.told).toContainEqual(
        expect.objectContaining({
          commit: head,
          name: 'stele',
          state: 'failure',
          title: expect.stringMatching(/took longer/) as string,
        }),
      ),
    );
    await waitFor(async () => expect(await state()).toMatchObject({ state: 'failed', head, tries: 1 }));
    await hook(hint);
    await queue.close();
    expect(begun).toBe(1);
  });
});

describe('checks that fail', () => {
  test('for want of the remote are tried again later and later, and not at every look', async () => {
    const scene = await open();
    const { source, sync, hook, host, registry, queue, state, pass, checked } = scene;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const { snapshot } = registry.source;
    let asked = 0;
    registry.source.snapshot = async () => {
      asked++;
      throw new RegistryError('unreachable', 'It did not answer.');
    };
    host.open = [seven];
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook(hint);
    await waitFor(async () => expect(await state()).toMatchObject({ state: 'failed', tries: 1 }));
    const again = async (minutes: number) => {
      pass(minutes * 60_000);
      const another = createSyncQueue(registry, createPulls);
      await another.reconcileHosts([await repositoryOf(scene)]);
      await another.close();
    };
    await again(0);
    expect(asked).toBe(1);
    await hook(hint);
    pass(61_000);
    await queue.reconcileHosts([await repositoryOf(scene)]);
    await waitFor(async () => expect(await state()).toMatchObject({ state: 'failed', tries: 2 }));
    await again(0.3);
    expect(asked).toBe(2);
    registry.source.snapshot = snapshot;
    pass(61_000);
    await queue.reconcileHosts([await repositoryOf(scene)]);
    await checked(head);
  });

  test('for want of the remote are logged once, and forks that cannot be fetched not at each look', async () => {
    const scene = await open();
    const { source, sync, host, registry, queue, events } = scene;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    let asked = 0;
    registry.source.tip = () => {
      asked++;
      return Promise.reject(new RegistryError('unreachable', 'It did not answer.'));
    };
    host.open = [seven, { number: 8, base: 'main', ref: null }];
    const ours = await repositoryOf(scene);
    for (let look = 1; look <= 3; look++) {
      await queue.reconcileHosts([ours]);
      await waitFor(() => expect(asked).toBeGreaterThanOrEqual(look));
    }
    await queue.close();
    const logged = events.map(({ event }) => event).filter((event) => event.includes('pull request'));
    expect(logged).toEqual(['check of a pull request failed']);
  });

  test('are tried again also after the clock was set back', async () => {
    const scene = await open();
    const { source, sync, hook, registry, queue, state, pass, checked } = scene;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const { snapshot } = registry.source;
    registry.source.snapshot = async () => {
      throw new RegistryError('unreachable', 'It did not answer.');
    };
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook(hint);
    await waitFor(async () => expect(await state()).toMatchObject({ state: 'failed', tries: 1 }));
    registry.source.snapshot = snapshot;
    pass(-7 * 24 * 60 * 60_000);
    await queue.reconcileHosts([await repositoryOf(scene)]);
    await checked(head);
  });

  test("for a reason of the commit's own are over, until there is another commit", async () => {
    const scene = await open();
    const { source, sync, hook, registry, queue, state, checked } = scene;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const { snapshot } = registry.source;
    let asked = 0;
    registry.source.snapshot = async () => {
      asked++;
      throw new RegistryError('too_large', 'It is over the limit.');
    };
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook(hint);
    await waitFor(async () => expect(await state()).toMatchObject({ head, detail: 'It is over the limit.' }));
    await queue.reconcileHosts([await repositoryOf(scene)]);
    await hook(hint);
    registry.source.snapshot = snapshot;
    const next = source.push(url, { 'pay.yaml': api('1.2.0') }, { branch: 'refs/pull/7/head' });
    await hook(hint);
    await checked(next);
    expect(asked).toBe(1);
  });
});

describe('the report on a pull request', () => {
  async function check(files: Record<string, string>, scene: Awaited<ReturnType<typeof open>>) {
    const { source, hook, checked, host } = scene;
    host.told.length = 0;
    const head = source.push(url, files, { branch: 'refs/pull/7/head' });
    await hook(hint);
    await checked(head);
    await waitFor(() =>
      expect(host.told.some(({ name, state }) => name === 'stele' && state !== 'running')).toBe(true),
    );
    await scene.queue.close();
    return host.told.filter(({ state }) => state !== 'running');
  }

  async function openWithSecrets() {
    const scene = await open();
    const { source, sync, host, registry } = scene;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    await waitFor(() => expect(host.told).toHaveLength(1));
    for (const [type, slug] of [
      ['apis', 'secret'],
      ['rulesets', 'secret'],
    ] as const)
      await createResource(registry, { org: 'acme', type, slug }, { name: 'Secret', visibility: 'private' }, author);
    return scene;
  }

  const settings = (slug: string, ruleset: string) =>
    `resources:\n  - {path: new.yaml, slug: ${slug}, ruleset: "@acme/rulesets/${ruleset}"}\n  - {path: other.yaml, slug: ${slug}-2}\n`;

  test('a fork learns no name of a private resource or ruleset: it looks like one that is not there', async () => {
    const said = async (name: string) => {
      const files = {
        'stele.yaml': `resources:\n  - {path: new.yaml, slug: ${name}}\n`,
        'new.yaml': api('1.0.0'),
        'pay.yaml': api('1.0.0'),
      };
      return JSON.stringify(await check(files, await openWithSecrets()))
        .replace(/[0-9a-f]{40}/g, '')
        .replaceAll(name, 'NAME');
    };
    expect(await said('secret')).toBe(await said('absent'));
    const gated = async (name: string) =>
      JSON.stringify(
        await check(
          {
            'stele.yaml': settings('new', name),
            'new.yaml': api('1.0.0'),
            'other.yaml': api('1.0.0'),
            'pay.yaml': api('1.0.0'),
          },
          await openWithSecrets(),
        ),
      )
        .replace(/[0-9a-f]{40}/g, '')
        .replaceAll(name, 'NAME');
    expect(await gated('secret')).toBe(await gated('absent'));
  });

  test("a private API of the repository is compared, and its organization's private ruleset checks it", async () => {
    const scene = await open({}, { organizations: { acme: { defaults: { ruleset: '@acme/rulesets/house' } } } });
    const house = { org: 'acme', type: 'rulesets', slug: 'house' } as const;
    await publish(scene.registry, {
      coordinate: house,
      snapshot: createUpload('house.yaml', Buffer.from('rules: {}\n')),
      entry: 'house.yaml',
      version: '1.0.0',
      onConflict: 'reject',
      latest: true,
      dryRun: false,
      create: { visibility: 'private' },
      author,
    });
    const listed = 'resources:\n  - {path: pay.yaml, slug: pay, visibility: private}\n';
    const files = (text: string) => ({ 'stele.yaml': listed, 'pay.yaml': text });
    scene.source.push(url, files(api('1.0.0', 'ok: true\npaths: {/a: {get: {}}, /b: {get: {}}}')));
    await scene.sync();
    await waitFor(() => expect(scene.host.told).toHaveLength(1));
    const [pay] = await check(files(api('1.1.0', 'ok: true\npaths: {/a: {get: {}}}')), scene);
    expect(pay?.title).toBe('Would be published as 1.1.0, 1 breaking change since 1.0.0');
  });

  test('the title of a document does not reveal private names either', async () => {
    const [first] = await check(
      { 'pay.yaml': api('1.0.0'), 'new.yaml': api('1.0.0').replace('Pay', 'Secret') },
      await openWithSecrets(),
    );
    expect(first).toMatchObject({ name: 'stele @acme/apis/secret', state: 'success' });
  });

  test('thousands of documents are reported in few checks, rejected ones first', async () => {
    const scene = await openWithSecrets();
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [
        `a${n}.yaml`,
        api('1.0.0').replace('Pay', `Api ${n}`) + (n === 250 ? 'broken: true' : ''),
      ]),
    );
    const told = await check({ ...files, 'pay.yaml': api('1.0.0') }, scene);
    expect(told).toHaveLength(50);
    expect(told[0]).toMatchObject({ name: 'stele @acme/apis/a250', state: 'failure' });
    expect(told.at(-1)).toMatchObject({ name: 'stele', state: 'failure', title: '1 of 300 would be rejected' });
    expect(told.at(-1)!.summary).toContain('251 documents have no separate check.');
  });

  test('the check of the whole fails with any of them, whatever is reported on stele.yaml', async () => {
    const scene = await openWithSecrets();
    const told = await check(
      {
        'stele.yaml': 'resources:\n  - {path: pay.yaml, slug: pay, visibility: private}\n',
        'pay.yaml': `${api('1.1.0')}broken: true`,
      },
      scene,
    );
    const whole = told.filter(({ name }) => name === 'stele');
    expect(whole).toMatchObject([{ state: 'failure', title: '1 of 2 would be rejected' }]);
    expect(whole[0]!.summary).toContain('cannot change the visibility');
  });

  test('nothing is changed on behalf of a pull request', async () => {
    const scene = await openWithSecrets();
    const before = await Array.fromAsync(scene.registry.refs.list('resources/'));
    await check({ 'pay.yaml': api('1.1.0'), 'new.yaml': api('1.0.0').replace('Pay', 'New') }, scene);
    expect(await Array.fromAsync(scene.registry.refs.list('resources/'))).toEqual(before);
    const pay = resourceRef({ org: 'acme', type: 'apis', slug: 'pay' });
    expect((await scene.registry.refs.read(pay))!.generation).toBe(1);
    expect((await scene.registry.refs.read<PullCheck>(pullRef('acme', id, seven)))!.value.state).toBe('checked');
  });
});

describe('reporting checks', () => {
  test('a later report is not overwritten by one that could not be sent before', async () => {
    const { source, sync, host, pass, queue, registry } = await open();
    host.failures = 1;
    source.push(url, { 'pay.yaml': `${api('1.0.0')}broken: true` });
    await sync();
    await waitFor(() => expect(host.failures).toBe(0));
    const repository = (await registry.refs.read<Repository>(repositoryRef('acme', id)))!.value;
    // The same commit, told otherwise: another compiler took it.
    const check = {
      commit: repository.commit!,
      name: 'stele @acme/apis/pay',
      state: 'success',
      title: 'Published as 1.0.0',
    } as const;
    const { saveChecks } = await import('../../src/sync/report-checks.ts');
    // What is noted within one millisecond has no order.
    pass(10);
    await saveChecks(registry, repository, [{ ...check, summary: '', annotations: [], url: null }]);
    await queue.reconcileHosts([]);
    await queue.reconcileHosts([repository]);
    await waitFor(() => expect(host.told).toMatchObject([{ state: 'success' }]));
    pass(10 * 60_000);
    await queue.reconcileHosts([repository]);
    await queue.close();
    expect(host.told).toMatchObject([{ state: 'success' }]);
  });

  test('the first sync of a large repository is reported in parts, each within its time', async () => {
    const { source, sync, host, registry } = await open();
    const files = Object.fromEntries(
      Array.from({ length: 120 }, (_, n) => [`a${n}.yaml`, api('1.0.0').replace('Pay', `Api ${n}`)]),
    );
    source.push(url, files);
    await sync();
    await waitFor(() => expect(host.told).toHaveLength(120));
    expect(await Array.fromAsync(registry.refs.list('checks/acme/'))).toHaveLength(3);
  });

  test('a registry that is shut down does not wait until everything was reported to a slow host', async () => {
    const { source, sync, host, queue } = await open();
    const files = Array.from({ length: 20 }, (_, n) => [`a${n}.yaml`, api('1.0.0').replace('Pay', `Api ${n}`)]);
    source.push(url, Object.fromEntries(files) as Record<string, string>);
    const asked = Promise.withResolvers<void>();
    const slow = Promise.withResolvers<void>();
    let told = 0;
    host.reportCheck = () => {
      told++;
      asked.resolve();
      return slow.promise;
    };
    await sync();
    await asked.promise;
    const closed = queue.close();
    slow.resolve();
    await closed;
    expect(told).toBe(1);
  });
});
