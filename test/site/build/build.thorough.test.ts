import { createTestRegistry, changeResource, publishVersion, setStatus } from '../../server/registry.ts';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BuildManifest } from '../../../src/site/build/build-folder.ts';
import { openAnswers } from '../../../src/server/app.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';
import { build, filesIn, openFolder, textOf } from './build-world.ts';

const when = '2026-03-01T12:00:00.000Z';

test('what has not changed is kept: the same file, not a copy', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/refund', '1.0.0');
  const out = join(folder.path, 'site');
  const packed = { precompressed: 'gzip' } as const;
  await build(registry, out, packed);
  expect(await build(registry, out, packed)).toMatchObject({ outcome: 'unchanged', made: 0 });
  const identify = async (path: string) => (await stat(join(out, path))).ino;
  const before = {
    refund: await identify('@acme/apis/refund@1.0.0/index.html'),
    document: await identify('@acme/apis/pay@1.0.0.json.gz'),
    page: await identify('@acme/apis/pay@1.0.0/index.html'),
  };
  await publishVersion(registry, '@acme/apis/pay', '1.1.0');
  expect(await build(registry, out, packed)).toMatchObject({ outcome: 'built' });
  expect(await identify('@acme/apis/refund@1.0.0/index.html')).toBe(before.refund);
  expect(await identify('@acme/apis/pay@1.0.0.json.gz')).toBe(before.document);
  expect(await identify('@acme/apis/pay@1.0.0/index.html')).not.toBe(before.page);
  expect(await textOf(out, '@acme/apis/pay.json')).toContain('"1.1.0"');
  await using fresh = await openFolder();
  await build(registry, join(fresh.path, 'site'), packed);
  expect(await filesIn(out)).toEqual(await filesIn(join(fresh.path, 'site')));
  for (const path of await filesIn(out))
    expect((await readFile(join(out, path))).equals(await readFile(join(fresh.path, 'site', path))), path).toBe(true);
});

test('files of the search index that a new document does not change are kept, with their codings', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  await build(registry, out, { precompressed: 'gzip' });
  const shards = (await filesIn(out)).filter((path) => /^search\/(?:terms|resources)\//.test(path));
  const identify = async (path: string) => ({ ino: (await stat(join(out, path))).ino, text: await textOf(out, path) });
  const before = await Promise.all(shards.map(identify));
  await publishVersion(registry, '@acme/apis/refund', '1.0.0');
  await build(registry, out, { precompressed: 'gzip' });
  const after = await Promise.all(shards.map(identify));
  const isSame = (index: number) => before[index]!.text === after[index]!.text;
  const [same, changed] = [true, false].map((wanted) => shards.filter((_, index) => isSame(index) === wanted));
  expect(same!.some((path) => path.endsWith('.gz'))).toBe(true);
  expect(changed).toContain('search/resources/0.json.gz');
  for (const [index, path] of shards.entries())
    expect(before[index]!.ino === after[index]!.ino, path).toBe(same!.includes(path));
});

test('a file in the way, or a manifest that leads out of the folder, is refused', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await writeFile(join(folder.path, 'file'), 'x');
  await expect(build(registry, join(folder.path, 'file'))).rejects.toMatchObject({ code: 'conflict' });
  const out = join(folder.path, 'site');
  await build(registry, out);
  const manifest = JSON.parse(await readFile(join(out, '.stele-build.json'), 'utf8')) as BuildManifest;
  manifest.units['front']!.files.push({ path: '../file', size: 1 });
  await writeFile(join(out, '.stele-build.json'), JSON.stringify(manifest));
  await expect(build(registry, out)).rejects.toMatchObject({ code: 'conflict' });
});

test('a build that is stopped leaves the earlier one, and nothing of itself', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  await build(registry, out);
  await publishVersion(registry, '@acme/apis/pay', '1.1.0');
  const stopping = new AbortController();
  const stopped = build(registry, out, { signal: stopping.signal, say: () => stopping.abort(new Error('stopped')) });
  await expect(stopped).rejects.toThrow('stopped');
  expect(await readdir(folder.path)).toEqual(['site']);
  expect(await filesIn(out)).not.toContain('@acme/apis/pay@1.1.0.json');
});

test('what builds that were killed left beside is removed; one killed at its very end is undone', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  await mkdir(join(folder.path, '.site.stele-new-999999999-abc'));
  await build(registry, out);
  expect(await readdir(folder.path)).toEqual(['site']);
  await rename(out, join(folder.path, '.site.stele-old-999999999-abc'));
  expect(await build(registry, out)).toMatchObject({ outcome: 'unchanged' });
});

test('publishing while a build runs: each resource is as it stood at one moment', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/refund', '1.0.0');
  const out = join(folder.path, 'site');
  let publishing: Promise<unknown> | null = null;
  const busy = () => void (publishing ??= publishVersion(registry, '@acme/apis/refund', '2.0.0'));
  await build(registry, out, {
    openAnswers(snapshot, site) {
      const answers = openAnswers(snapshot, site, createSyncQueue(snapshot, createPulls));
      return {
        ...answers,
        async ask(asked) {
          busy();
          await publishing;
          return answers.ask(asked);
        },
      };
    },
  });
  const files = await filesIn(out);
  expect(files.filter((path) => path.includes('2.0.0'))).toEqual([]);
  // The documentation has that version in an example.
  for (const path of files.filter((each) => !each.startsWith('docs/')))
    expect(await textOf(out, path)).not.toContain('2.0.0"');
  expect(await build(registry, out)).toMatchObject({ outcome: 'built' });
  expect(await filesIn(out)).toContain('@acme/apis/refund@2.0.0.json');
});

test('of two builds in one folder, one that began before the other ended begins again, and mixes nothing', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/refund', '1.0.0');
  const out = join(folder.path, 'site');
  await build(registry, out);
  await publishVersion(registry, '@acme/apis/pay', '1.1.0');
  let other: Promise<unknown> | null = null;
  const meanwhile = async () => {
    await publishVersion(registry, '@acme/apis/refund', '1.1.0');
    await build(registry, out);
  };
  const first = await build(registry, out, {
    openAnswers(snapshot, site) {
      const answers = openAnswers(snapshot, site, createSyncQueue(snapshot, createPulls));
      return {
        ...answers,
        async ask(asked) {
          await (other ??= meanwhile());
          return answers.ask(asked);
        },
      };
    },
  });
  expect(first).toMatchObject({ outcome: 'unchanged' });
  expect(await readdir(folder.path)).toEqual(['site']);
  await using fresh = await openFolder();
  await build(registry, join(fresh.path, 'site'));
  expect(await filesIn(out)).toEqual(await filesIn(join(fresh.path, 'site')));
  for (const path of await filesIn(out))
    expect((await readFile(join(out, path))).equals(await readFile(join(fresh.path, 'site', path))), path).toBe(true);
  expect(await build(registry, out)).toMatchObject({ outcome: 'unchanged' });
});

test('lists go on in files that their cursors name', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  for (let n = 0; n < 60; n++) await publishVersion(registry, '@acme/apis/pay', `1.${n}.0`);
  const out = join(folder.path, 'site');
  await build(registry, out);
  const first = JSON.parse(await textOf(out, '@acme/apis/pay/versions.json')) as { items: object[]; next: string };
  expect(first.items).toHaveLength(50);
  const second = JSON.parse(await textOf(out, `@acme/apis/pay/versions.${first.next}.json`)) as typeof first;
  expect(second).toMatchObject({ next: null });
  expect(second.items).toHaveLength(10);
});

test('compressed files are those that are asked for, and web servers know which', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  const endings = async () => {
    const files = await filesIn(out);
    return ['.gz', '.br', '.zst'].filter((ending) => files.some((path) => path.endsWith(ending)));
  };
  const few = await build(registry, out);
  expect(await endings()).toEqual([]);
  expect(await build(registry, out)).toMatchObject({ outcome: 'unchanged' });
  const more = await build(registry, out, { precompressed: 'gzip' });
  expect(await endings()).toEqual(['.gz']);
  expect(more.files).toBeGreaterThan(few.files);
  const nginx = await textOf(out, 'rules/nginx-http.conf');
  // A space before the field makes every weight of a coding without files 0.
  expect(nginx).toContain('map " $http_accept_encoding" $stele_q_br {');
  expect(nginx).toContain('map "$http_accept_encoding" $stele_q_gzip {');
});

test('a git worktree stays one, for a branch that a host publishes', async () => {
  await using folder = await openFolder();
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  const out = join(folder.path, 'site');
  await mkdir(out);
  await writeFile(join(out, '.git'), 'gitdir: /elsewhere\n');
  for (const label of ['1.1.0', '1.2.0']) {
    await build(registry, out);
    expect(await readFile(join(out, '.git'), 'utf8')).toBe('gitdir: /elsewhere\n');
    expect(await readFile(join(out, '.nojekyll'), 'utf8')).toBe('');
    await publishVersion(registry, '@acme/apis/pay', label);
  }
  await rm(join(out, '.git'));
  await mkdir(join(out, '.git'));
  await writeFile(join(out, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  await expect(build(registry, out)).rejects.toMatchObject({ code: 'conflict' });
});

test.for(['private', 'withdrawn', 'deleted'] as const)(
  'what is made %s while a build runs is not in it',
  async (what) => {
    await using folder = await openFolder();
    const registry = createTestRegistry();
    await publishVersion(registry, '@acme/apis/pay', '1.0.0');
    await publishVersion(registry, '@acme/apis/canary', '7.7.7');
    let isHidden = false;
    const hide = async () => {
      if (isHidden) return;
      isHidden = true;
      if (what === 'withdrawn')
        await setStatus(registry, '@acme/apis/canary', '7.7.7', { state: 'withdrawn', reason: 'leak', since: when });
      else
        await changeResource(registry, '@acme/apis/canary', (resource) =>
          what === 'private' ? { ...resource, visibility: 'private' } : { ...resource, deletedAt: when },
        );
    };
    const out = join(folder.path, 'site');
    await build(registry, out, {
      openAnswers(snapshot, site) {
        const answers = openAnswers(snapshot, site, createSyncQueue(snapshot, createPulls));
        return { ...answers, ask: async (asked) => [await answers.ask(asked), await hide()][0]! };
      },
    });
    const files = await filesIn(out);
    expect(files).toContain('@acme/apis/pay@1.0.0.json');
    expect(
      files.filter((path) => /canary.*\.(?:json|yaml|html)$/.test(path) && !/410|versions|feeds/.test(path)),
    ).toEqual(what === 'withdrawn' ? ['@acme/apis/canary/index.html'] : []);
    // That page says that all versions were withdrawn.
    if (what === 'withdrawn') expect(await textOf(out, '@acme/apis/canary/index.html')).toContain('were withdrawn');
    if (what === 'private') expect(files.filter((path) => path.includes('canary'))).toEqual([]);
  },
);
