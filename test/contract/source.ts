import { expect, test } from 'vitest';
import type { Remote, Source } from '../../src/source/source.ts';
import type { FixtureRepository } from '../servers/fixture-repository.ts';

/** A source, an empty repository that it can reach, and the remote that names it. */
export interface SourceWorld {
  source: Source;
  repository: FixtureRepository;
  remote(branch: string | null): Remote;
}

/** What every source promises (src/source/source.ts), whatever way leads to the repository. */
export function testSource(open: () => Promise<SourceWorld>): void {
  test('gives the commit of a branch, and of HEAD', async () => {
    const { source, repository, remote } = await open();
    const main = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    const other = repository.commit({ branch: 'feature/x', files: { 'a.yaml': 'a: 2\n' } });
    expect(await source.tip(remote(null))).toEqual({ found: true, commit: main, branch: 'main' });
    expect(await source.tip(remote('main'))).toEqual({ found: true, commit: main });
    expect(await source.tip(remote('feature/x'))).toEqual({ found: true, commit: other });
  });

  test('gives the commit of a detached HEAD', async () => {
    const { source, repository, remote } = await open();
    const first = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    repository.commit({ files: { 'a.yaml': 'a: 2\n' } });
    repository.git('update-ref', '--no-deref', 'HEAD', first);
    expect(await source.tip(remote(null))).toEqual({ found: true, commit: first });
  });

  test('gives the commits of the tags, annotated or not, and opens them', async () => {
    const { source, repository, remote } = await open();
    expect(await source.tags(remote(null))).toEqual([]);
    const first = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    const second = repository.commit({ files: { 'a.yaml': 'a: 2\n' } });
    repository.git('tag', 'v1', first);
    repository.git('-c', 'user.name=T', '-c', 'user.email=t@stele.test', 'tag', '-a', '-m', 'Two', 'rel/v2', second);
    expect(await source.tags(remote(null))).toEqual([
      { name: 'rel/v2', commit: second },
      { name: 'v1', commit: first },
    ]);
    const [file] = await (await source.snapshot(remote(null), first)).read(['a.yaml']);
    expect(file).toMatchObject({ found: true, bytes: Buffer.from('a: 1\n') });
  });

  test('says that an empty repository has no commits', async () => {
    const { source, remote } = await open();
    expect(await source.tip(remote(null))).toEqual({ found: false, detail: expect.stringContaining('no commits') });
  });

  test('says that a branch is not there, and finds it when it is', async () => {
    const { source, repository, remote } = await open();
    const commit = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    expect(await source.tip(remote('later'))).toEqual({ found: false, detail: expect.stringContaining('"later"') });
    repository.setBranch('later', commit);
    expect(await source.tip(remote('later'))).toEqual({ found: true, commit });
    repository.setBranch('later', null);
    expect(await source.tip(remote('later'))).toMatchObject({ found: false });
  });

  test('finds only the branch of exactly this name', async () => {
    const { source, repository, remote } = await open();
    const commit = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    repository.git('update-ref', 'refs/heads/refs/heads/main2', commit);
    repository.git('update-ref', 'refs/tags/v1', commit);
    expect(await source.tip(remote('main2'))).toMatchObject({ found: false });
    expect(await source.tip(remote('v1'))).toMatchObject({ found: false });
    expect(await source.tip(remote('refs/heads/main2'))).toEqual({ found: true, commit });
  });

  const odd = ['bug)', 'ünï/cødé', "it's", 'a"b', '$(id)', '`id`', 'a&b;c|d', '#1', '100%', 'HEAD', 'a{b}', 'x@y'];
  test(`finds branches of odd names: ${odd.join(' ')}`, async () => {
    const { source, repository, remote } = await open();
    const commit = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    for (const branch of odd) repository.setBranch(branch, commit);
    const tips = await Promise.all(odd.map((branch) => source.tip(remote(branch))));
    expect(tips).toEqual(odd.map(() => ({ found: true, commit })));
  });

  const hostile = ['--upload-pack=touch x', '-', '--', '-c', '..', 'a..b', 'main\n', 'a b', '', '/', 'a//b'].concat(
    ['*', 'm*', 'ma?n', '[m]ain', 'main~1', 'main^', 'a:b', '@{-1}', '@', '.a', 'a/.b', 'a.lock', 'a.', 'a\\b', 'a\0b'],
    ['x'.repeat(2000), '\ud800'],
  );
  test('finds no branch whose name git forbids, whatever it would do on a command line', async () => {
    const { source, repository, remote } = await open();
    repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    for (const branch of hostile) {
      expect(await source.tip(remote(branch)), branch).toEqual({
        found: false,
        detail: expect.stringContaining('is not a valid branch name'),
      });
    }
  });

  test('gives the files of a commit, also when the branch has moved on, been rewritten or deleted', async () => {
    const { source, repository, remote } = await open();
    repository.commit({ files: {} });
    const first = repository.commit({ branch: 'b', files: { 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' }, parent: null });
    const second = repository.commit({ branch: 'b', files: { 'a.yaml': 'a: 2\n' } });
    const rewritten = repository.commit({ branch: 'b', files: { 'c.yaml': 'c: 3\n' }, parent: null });
    repository.setBranch('b', null);
    for (const [commit, texts] of [
      [second, { 'a.yaml': 'a: 2\n', 'b.yaml': 'b: 1\n' }],
      [first, { 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' }],
      [rewritten, { 'c.yaml': 'c: 3\n' }],
    ] as const) {
      const snapshot = await source.snapshot(remote('b'), commit);
      expect(snapshot.origin).toEqual({ repository: remote('b').url, commit });
      expect((await snapshot.entries()).map(({ path }) => path)).toEqual(Object.keys(texts));
      const files = await snapshot.read(Object.keys(texts));
      expect(files.map((file) => file.found && Buffer.from(file.bytes).toString())).toEqual(Object.values(texts));
    }
  });

  test('refuses submodules, also as folders on the way', async () => {
    const { source, repository, remote } = await open();
    const commit = repository.commit({ files: { 'vendor/lib': { submodule: '1'.repeat(40) }, 'a.yaml': '' } });
    const snapshot = await source.snapshot(remote(null), commit);
    expect(await snapshot.entries()).toContainEqual({ path: 'vendor/lib', kind: 'submodule', id: '1'.repeat(40) });
    const files = await snapshot.read(['vendor/lib', 'vendor/lib/openapi.yaml']);
    expect(files.map((file) => !file.found && file.problem.rule)).toEqual(['submodule', 'submodule']);
  });

  test('names the blob of each file', async () => {
    const { source, repository, remote } = await open();
    const commit = repository.commit({ files: { 'hello.txt': 'hello\n' } });
    const [file] = await (await source.snapshot(remote(null), commit)).read(['hello.txt']);
    expect(file?.found && file.blob).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
  });

  test('refuses a commit that the repository does not have', async () => {
    const { source, repository, remote } = await open();
    repository.commit({ files: { 'a.yaml': '' } });
    await expect(source.snapshot(remote(null), 'd'.repeat(40))).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('a tag that names no commit is refused, without a failure of the repository', async () => {
    const { source, repository, remote } = await open();
    const commit = repository.commit({ files: { 'a.yaml': 'a' } });
    const blob = repository.git('rev-parse', `${commit}:a.yaml`).trim();
    await expect(source.snapshot(remote(null), blob)).rejects.toMatchObject({ code: 'refused' });
  });

  test('refuses what is not a commit id', async () => {
    const { source, remote } = await open();
    for (const commit of ['HEAD', 'main', '--help', 'abc', '', 'G'.repeat(40)]) {
      const refusal = { code: 'malformed' };
      await expect(source.snapshot(remote(null), commit), commit).rejects.toMatchObject(refusal);
      await expect(source.ancestry(remote(null), commit, 'a'.repeat(40)), commit).rejects.toMatchObject(refusal);
    }
  });

  test('knows descendants, near and far, from rewritten history and from another one', async () => {
    const { source, repository, remote } = await open();
    const commits = repository.commitAll(Array.from({ length: 60 }, (_, index) => ({ files: { n: `${index}` } })));
    const [root = '', early = '', near = '', tip = ''] = [0, 20, 58, 59].map((index) => commits[index]);
    const sibling = repository.commit({ branch: 'aside', files: { n: 'x' }, parent: early });
    const stranger = repository.commit({ branch: 'other', files: { n: 'x' }, parent: null });
    const ancestry = (commit: string, ancestor: string) => source.ancestry(remote('main'), commit, ancestor);
    expect(await ancestry(tip, near)).toBe('descendant');
    expect(await ancestry(tip, early)).toBe('descendant');
    expect(await ancestry(tip, root)).toBe('descendant');
    expect(await ancestry(tip, tip)).toBe('descendant');
    expect(await ancestry(near, tip)).toBe('rewritten');
    expect(await ancestry(tip, sibling)).toBe('rewritten');
    expect(await ancestry(tip, stranger)).toBe('unrelated');
    expect(await ancestry(tip, 'd'.repeat(40))).toBe('unrelated');
  });

  test('stops when its signal aborts', async () => {
    const { source, repository, remote } = await open();
    const commit = repository.commit({ files: { 'a.yaml': '' } });
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(source.tip(remote(null), signal)).rejects.toThrow('stop');
    await expect(source.snapshot(remote(null), commit, signal)).rejects.toThrow('stop');
    await expect(source.ancestry(remote(null), commit, 'a'.repeat(40), signal)).rejects.toThrow('stop');
  });
}
