import { expect, test } from 'vitest';
import type { Merge } from '../../src/source/source.ts';
import type { Snapshot } from '../../src/source/snapshot.ts';
import type { SourceWorld } from './source.ts';

const lines = (...changed: [number, string][]) =>
  Array.from({ length: 20 }, (_, n) => changed.find(([at]) => at === n)?.[1] ?? `line ${n}`)
    .concat('')
    .join('\n');

/** What every source promises about `merge`. */
export function testMerge(open: () => Promise<SourceWorld>): void {
  const headRef = 'refs/heads/topic';

  async function merge({ source, remote }: SourceWorld, commit: string, head: string): Promise<Merge> {
    return source.merge(remote('main'), commit, { commit: head, ref: headRef });
  }

  async function textsOf(snapshot: Snapshot): Promise<Record<string, string>> {
    const paths = (await snapshot.entries()).map(({ path }) => path);
    const files = await snapshot.read(paths);
    return Object.fromEntries(
      files.map((file) => [file.path, file.found ? Buffer.from(file.bytes).toString() : file.problem.rule]),
    );
  }

  async function merged(world: SourceWorld, commit: string, head: string): Promise<Record<string, string>> {
    const result = await merge(world, commit, head);
    if (result.outcome !== 'merged') throw new Error(`It is ${JSON.stringify(result)}.`);
    expect(result.snapshot.origin).toEqual({ repository: world.remote(null).url, commit: head });
    return textsOf(result.snapshot);
  }

  test('applies the changes since the merge base to the tip of the target', async () => {
    const world = await open();
    const { repository } = world;
    const base = repository.commit({
      files: { 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n', 'gone.yaml': '', 'x/y.yaml': 'y' },
    });
    const head = repository.commit({
      branch: 'topic',
      parent: base,
      files: { 'a.yaml': 'a: 2\n', 'gone.yaml': null, 'x/new.yaml': 'new' },
    });
    const tip = repository.commit({ files: { 'b.yaml': 'b: 2\n', 'c.yaml': 'c' } });
    expect(await merged(world, tip, head)).toEqual({
      'a.yaml': 'a: 2\n',
      'b.yaml': 'b: 2\n',
      'c.yaml': 'c',
      'x/new.yaml': 'new',
      'x/y.yaml': 'y',
    });
  });

  test('is written by those of both sides since a commit', async () => {
    const world = await open();
    const write = (by: string, branch: string, text: string, parent?: string) => {
      const files = branch === 'main' ? { 'a.yaml': text } : { 'b.yaml': text };
      return world.repository.commit({ by: `${by} <${by}@acme.test>`, branch, files, ...(parent && { parent }) });
    };
    const base = write('Ann', 'main', '1');
    write('Bob', 'topic', '1', base);
    const head = write('Cid', 'topic', '2');
    const tip = write('Dan', 'main', '2');
    const result = await merge(world, tip, head);
    if (result.outcome !== 'merged') throw new Error(`It is ${JSON.stringify(result)}.`);
    const writers = await result.snapshot.writers!(base, ['a.yaml', 'b.yaml']);
    expect([...new Set(writers!.map(({ name }) => name))].sort()).toEqual(['Bob', 'Cid', 'Dan']);
  });

  test('of a head that the target has, or that has the target, is the newer of the two', async () => {
    const world = await open();
    const base = world.repository.commit({ files: { 'a.yaml': '1' } });
    const head = world.repository.commit({ branch: 'topic', parent: base, files: { 'a.yaml': '2' } });
    expect(await merged(world, base, head)).toEqual({ 'a.yaml': '2' });
    const result = await merge(world, head, base);
    expect(result.outcome === 'merged' && (await textsOf(result.snapshot))).toEqual({ 'a.yaml': '2' });
  });

  test('combines the lines of a file that both changed', async () => {
    const world = await open();
    const base = world.repository.commit({ files: { 'a.yaml': lines() } });
    const head = world.repository.commit({ branch: 'topic', parent: base, files: { 'a.yaml': lines([2, 'theirs']) } });
    const tip = world.repository.commit({ files: { 'a.yaml': lines([15, 'ours']) } });
    expect(await merged(world, tip, head)).toEqual({ 'a.yaml': lines([2, 'theirs'], [15, 'ours']) });
  });

  test('follows a file that one side moved and the other changed', async () => {
    const world = await open();
    const base = world.repository.commit({ files: { 'a.yaml': lines(), 'other.yaml': 'o' } });
    const files = { 'a.yaml': null, 'apis/a.yaml': lines([1, 'moved']) };
    const head = world.repository.commit({ branch: 'topic', parent: base, files });
    const tip = world.repository.commit({ files: { 'a.yaml': lines([15, 'ours']) } });
    expect(await merged(world, tip, head)).toEqual({
      'apis/a.yaml': lines([1, 'moved'], [15, 'ours']),
      'other.yaml': 'o',
    });
  });

  test('follows a folder that one side moved and the other changed', async () => {
    const world = await open();
    const names = ['a', 'b', 'c'];
    const all = (folder: string, text: (name: string) => string | null) =>
      Object.fromEntries(names.map((name) => [`${folder}/${name}.yaml`, text(name)]));
    const base = world.repository.commit({ files: all('old', (name) => lines([0, name])) });
    const moved = { ...all('old', () => null), ...all('new', (name) => lines([0, name], [1, 'moved'])) };
    const head = world.repository.commit({ branch: 'topic', parent: base, files: moved });
    const tip = world.repository.commit({ files: all('old', (name) => lines([0, name], [15, 'ours'])) });
    expect(await merged(world, tip, head)).toEqual(all('new', (name) => lines([0, name], [1, 'moved'], [15, 'ours'])));
  });

  test('names the files that are in conflict', async () => {
    const world = await open();
    const base = world.repository.commit({ files: { 'a.yaml': '1', 'b.yaml': '1', 'c.yaml': '1' } });
    const theirs = { 'a.yaml': '2', 'b.yaml': null, 'c.yaml': '2' };
    const head = world.repository.commit({ branch: 'topic', parent: base, files: theirs });
    const tip = world.repository.commit({ files: { 'a.yaml': '3', 'b.yaml': '3' } });
    expect(await merge(world, tip, head)).toEqual({ outcome: 'conflict', paths: ['a.yaml', 'b.yaml'] });
  });

  test('of two histories without a common commit is said to be of unrelated ones', async () => {
    const world = await open();
    const tip = world.repository.commit({ files: { 'a.yaml': '1' } });
    const head = world.repository.commit({ branch: 'topic', parent: null, files: { 'a.yaml': '2' } });
    expect(await merge(world, tip, head)).toEqual({ outcome: 'unrelated' });
  });

  test('finds the merge base behind a thousand commits, and past merges of the target', async () => {
    const world = await open();
    const { repository } = world;
    const base = repository.commit({ files: { 'a.yaml': '0', 'b.yaml': '0' } });
    const head = repository.commit({ branch: 'topic', parent: base, files: { 'b.yaml': 'theirs' } });
    const commits = Array.from({ length: 1100 }, (_, n) => ({ files: { 'a.yaml': `${n + 1}` } }));
    const tip = repository.commitAll(commits).at(-1)!;
    expect(await merged(world, tip, head)).toEqual({ 'a.yaml': '1100', 'b.yaml': 'theirs' });
    const tree = repository.git('merge-tree', '--write-tree', head, tip);
    const identity = ['-c', 'user.name=T', '-c', 'user.email=t@stele.test'];
    const both = repository.git(...identity, 'commit-tree', '-p', head, '-p', tip, '-m', 'Merge', tree);
    repository.setBranch('topic', both);
    const after = repository.commit({ files: { 'a.yaml': 'after' } });
    expect(await merged(world, after, both)).toEqual({ 'a.yaml': 'after', 'b.yaml': 'theirs' });
  });

  test('keeps links, submodules and odd names as they are, and reads what is not there as any snapshot does', async () => {
    const world = await open();
    const odd = 'a b/ünï "q"\\.yaml';
    const base = world.repository.commit({ files: { 'a.yaml': '1', link: { symlink: 'a.yaml' }, [odd]: 'odd' } });
    const files = { 'lib/sub': { submodule: '1'.repeat(40) }, 'two.yaml': '2' };
    const head = world.repository.commit({ branch: 'topic', parent: base, files });
    const tip = world.repository.commit({ files: { 'a.yaml': '3' } });
    const result = await merge(world, tip, head);
    if (result.outcome !== 'merged') throw new Error('It is not merged.');
    const { snapshot } = result;
    expect((await snapshot.entries()).map(({ path, kind }) => [path, kind])).toEqual([
      [odd, 'file'],
      ['a.yaml', 'file'],
      ['lib/sub', 'submodule'],
      ['link', 'symlink'],
      ['two.yaml', 'file'],
    ]);
    const paths = ['a.yaml', 'link', 'lib/sub/x', 'A.yaml', '../x', odd];
    expect(
      (await snapshot.read(paths)).map((file) => (file.found ? Buffer.from(file.bytes).toString() : file.problem.rule)),
    ).toEqual(['3', 'symlink', 'submodule', 'file-missing', 'path-outside-tree', 'odd']);
  });
}
