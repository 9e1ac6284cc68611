import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HistoryCommit } from '../../src/source/source.ts';
import type { FixtureRepository } from '../servers/fixture-repository.ts';
import type { SourceWorld } from './source.ts';

const identity = ['-c', 'user.name=T', '-c', 'user.email=t@stele.test'];

/** A merge of two commits with the files of this tree. */
function merge(repository: FixtureRepository, tree: string, ...parents: string[]): string {
  return repository.git(...identity, 'commit-tree', '-m', 'Merge', ...parents.flatMap((each) => ['-p', each]), tree);
}

/** The commits without their dates, and maps as objects, to compare. */
function shown(history: readonly HistoryCommit[]): unknown[] {
  return history.map(({ commit, files, moves }) => ({
    commit,
    files: Object.fromEntries(files),
    moves: Object.fromEntries(moves),
  }));
}

/** What every source promises of histories, and of what it is told to bring (src/source/source.ts). */
export function testHistory(open: () => Promise<SourceWorld>): void {
  describe('a history', () => {
    const blobs = { one: '5626abf0f72e58d7a153368ba57db4c673c0e171', two: 'f719efd430d52bcfc8566a43b2eb655688d38871' };

    test('lists what was added, changed and removed, oldest first, and when', async () => {
      const { source, repository, remote } = await open();
      const commits = repository.commitAll([
        { files: { 'a.yaml': 'one\n', 'b/c.yaml': 'one\n' }, date: 1_767_225_600 },
        { files: { 'a.yaml': 'two\n' }, date: 1_767_225_500 },
        { files: {} },
        { files: { 'b/c.yaml': null, 'd.yaml': 'two\n' } },
      ]);
      const history = await source.history(remote('main'), commits[3]!, 4);
      expect(shown(history)).toEqual([
        { commit: commits[0], files: { 'a.yaml': blobs.one, 'b/c.yaml': blobs.one }, moves: {} },
        { commit: commits[1], files: { 'a.yaml': blobs.two }, moves: {} },
        { commit: commits[2], files: {}, moves: {} },
        { commit: commits[3], files: { 'b/c.yaml': null, 'd.yaml': blobs.two }, moves: {} },
      ]);
      const [first, second] = history.map(({ committedAt }) => committedAt);
      expect([first, second]).toEqual(['2026-01-01T00:00:00.000Z', '2025-12-31T23:58:20.000Z']);
    });

    test('sees files that moved as they were, and those that also changed as gone and new', async () => {
      const { source, repository, remote } = await open();
      const long = 'line\n'.repeat(100);
      repository.commit({ files: { 'a.yaml': 'one\n', 'x/b.yaml': long, 'gone.yaml': 'two\n' } });
      const tip = repository.commit({
        files: {
          'a.yaml': null,
          'x/y/a.yaml': 'one\n',
          'x/b.yaml': null,
          'b.yaml': `${long}more\n`,
          'gone.yaml': null,
        },
      });
      const [, { files, moves }] = (await source.history(remote('main'), tip, 9)) as [HistoryCommit, HistoryCommit];
      expect(Object.fromEntries(moves)).toEqual({ 'x/y/a.yaml': 'a.yaml' });
      expect([...files.keys()].sort()).toEqual(['a.yaml', 'b.yaml', 'gone.yaml', 'x/b.yaml', 'x/y/a.yaml']);
      expect(files.get('x/y/a.yaml')).toBe(blobs.one);
      expect(['a.yaml', 'gone.yaml', 'x/b.yaml'].map((path) => files.get(path))).toEqual([null, null, null]);
    });

    test('knows symbolic links and submodules only as files that went', async () => {
      const { source, repository, remote } = await open();
      const submodule = { submodule: '1'.repeat(40) };
      const commits = repository.commitAll([
        { files: { link: { symlink: 'a' }, module: submodule, a: 'one\n', b: 'one\n', c: 'two\n' } },
        { files: { a: { symlink: 'b' }, b: submodule, link: null, moved: { symlink: 'a' } } },
        { files: { a: 'two\n', b: null, moved: null } },
      ]);
      expect(shown(await source.history(remote('main'), commits[2]!, 9))).toEqual([
        { commit: commits[0], files: { a: blobs.one, b: blobs.one, c: blobs.two }, moves: {} },
        { commit: commits[1], files: { a: null, b: null }, moves: {} },
        { commit: commits[2], files: { a: blobs.two }, moves: {} },
      ]);
    });

    const odd = [
      'new\nline',
      'tab\t',
      '"q"',
      ':100644',
      'R100',
      'ä/ü ö',
      '-rf',
      '--all',
      ' ',
      'a\\b',
      `${'1'.repeat(40)} 1`,
    ];
    test('takes no path for something else', async () => {
      const { source, repository, remote } = await open();
      repository.commit({ files: Object.fromEntries(odd.map((path) => [path, `${path}\n`])) });
      const tip = repository.commit({
        files: Object.fromEntries(
          odd.flatMap((path) => [
            [path, null],
            [`:moved/${path}`, `${path}\n`],
          ]),
        ),
      });
      const [first, second] = await source.history(remote('main'), tip, 9);
      expect([...first!.files.keys()].sort()).toEqual(odd.toSorted());
      expect(Object.fromEntries(second!.moves)).toEqual(
        Object.fromEntries(odd.map((path) => [`:moved/${path}`, path])),
      );
    });

    test('follows first parents alone, and lists what a merge brought', async () => {
      const { source, repository, remote } = await open();
      const root = repository.commit({ files: { 'a.yaml': 'one\n' } });
      const side = repository.commit({ branch: 'side', parent: root, files: { 'b.yaml': 'one\n' } });
      const main = repository.commit({ files: { 'c.yaml': 'two\n' } });
      const both = repository.commit({ branch: 'both', parent: main, files: { 'b.yaml': 'one\n' } });
      const tip = merge(repository, `${both}^{tree}`, main, side);
      repository.setBranch('main', tip);
      expect(shown(await source.history(remote('main'), tip, 9)).slice(1)).toEqual([
        { commit: main, files: { 'c.yaml': blobs.two }, moves: {} },
        { commit: tip, files: { 'b.yaml': blobs.one }, moves: {} },
      ]);
    });

    test('says who changed files since a commit: every commit, both sides of a merge, co-authors, and nobody else', async () => {
      const { source, repository, remote } = await open();
      const people = (each: readonly { name: string; email: string }[] | null) => each?.map(({ name }) => name) ?? null;
      const write = (name: string, files: Record<string, string>, more: object = {}) =>
        repository.commit({ by: `${name} <${name}@acme.test>`, files, ...more });
      const first = write('Ann', { 'a.yaml': 'one\n', 'b.yaml': 'one\n' });
      const second = write('Bob', { 'a.yaml': 'two\n' });
      const third = write('Cid', { 'b.yaml': 'two\n' }, { message: 'Odd\n\nCo-Authored-By: Eve <e@acme.test>\n' });
      const side = write('Dan', { 'a.yaml': 'side\n' }, { branch: 'side', parent: first });
      const tip = merge(repository, `${side}^{tree}`, third, side);
      repository.setBranch('main', tip);
      const snapshot = await source.snapshot(remote('main'), tip);
      const since = async (from: string | null, ...paths: string[]) =>
        [...new Set(people(await snapshot.writers!(from, paths)))].sort();
      expect(await since(first, 'a.yaml')).toEqual(['Bob', 'Dan', 'T']);
      expect(await since(second, 'a.yaml')).toEqual(['Dan', 'T']);
      expect(await since(first, 'b.yaml')).toEqual(['Cid', 'Eve', 'T']);
      expect(await since(tip, 'a.yaml', 'b.yaml')).toEqual([]);
      expect(await since('1'.repeat(40), 'a.yaml')).toEqual(['Ann', 'Bob', 'Dan', 'T']);
      expect(await since(null, 'none.yaml', ':(glob)**')).toEqual([]);
    });

    test('says who changed files under names, or in files, that they had only in between', async () => {
      const { source, repository, remote } = await open();
      const write = (name: string, files: Record<string, string | null>) =>
        repository.commit({ by: `${name} <${name}@acme.test>`, files });
      const first = write('Ann', { 'a.yaml': 'one\n', 'b.yaml': 'one\n' });
      write('Bob', { 'a.yaml': null, 'between.yaml': 'one\n' });
      write('Cid', { 'between.yaml': 'two\n' });
      write('Bob', { 'between.yaml': null, 'c.yaml': 'two\n' });
      write('Dan', { 'part.yaml': 'two\n' });
      write('Eve', { 'b.yaml': 'two\n' });
      const tip = write('Bob', { 'part.yaml': null, 'c.yaml': 'side\n' });
      const snapshot = await source.snapshot(remote('main'), tip);
      const since = async (...paths: string[]) =>
        [...new Set((await snapshot.writers!(first, paths))!.map(({ name }) => name))].sort();
      expect(await since('a.yaml', 'c.yaml')).toEqual(['Bob', 'Cid', 'Dan']);
      expect(await since('a.yaml')).toEqual(['Bob']);
      expect(await since('b.yaml')).toEqual(['Eve']);
    });

    test('says who changed files under names that they lost in a merge, and nobody of what a merge only brings', async () => {
      const { source, repository, remote } = await open();
      const write = (name: string, branch: string, files: Record<string, string | null>, parent?: string) =>
        repository.commit({ by: `${name} <${name}@acme.test>`, branch, files, ...(parent && { parent }) });
      const first = write('Ann', 'main', { 'a.yaml': 'one\n', 'b.yaml': 'one\n', 'other.yaml': 'one\n' });
      write('Bob', 'side', { 'a.yaml': null, 'between.yaml': 'one\n' }, first);
      const side = write('Cid', 'side', { 'between.yaml': 'two\n' });
      const moved = write('Eve', 'tree', { 'a.yaml': null, 'c.yaml': 'two\n' }, first);
      const main = write('Dan', 'main', { 'd.md': 'one\n' });
      const merged = merge(repository, `${moved}^{tree}`, main, side);
      write('Fay', 'work', { 'other.yaml': null }, merged);
      const work = write('Fay', 'work', { 'b.yaml': 'two\n' });
      write('Gil', 'main', { 'e.yaml': 'one\n', 'other.yaml': 'two\n' }, merged);
      const tip = merge(repository, `${work}^{tree}`, repository.git('rev-parse', 'main'), work);
      repository.setBranch('main', tip);
      const snapshot = await source.snapshot(remote('main'), tip);
      const since = async (...paths: string[]) =>
        [...new Set((await snapshot.writers!(first, paths))!.map(({ name }) => name))].sort();
      expect(await since('c.yaml')).toEqual(['Bob', 'Cid', 'T']);
      expect(await since('b.yaml')).toEqual(['Fay', 'T']);
    });

    test('says who merged away what a file had before the commit since which writers are asked for', async () => {
      const { source, repository, remote } = await open();
      const first = repository.commit({ files: { 'a.yaml': 'one\n' } });
      const side = repository.commit({ branch: 'side', files: { 'b.yaml': 'one\n' }, parent: first });
      const added = repository.commit({ files: { 'a.yaml': 'two\n' } });
      const since = repository.commit({ files: { 'c.yaml': 'one\n' } });
      const dropped = merge(repository, `${side}^{tree}`, side, added);
      const tip = repository.commit({ by: 'Bob <b@acme.test>', files: { 'd.yaml': 'one\n' }, parent: dropped });
      repository.setBranch('main', tip);
      repository.setBranch('side', since);
      const snapshot = await source.snapshot(remote('main'), tip);
      await source.snapshot(remote('side'), since);
      expect(await snapshot.writers!(since, ['a.yaml'])).toMatchObject([{ name: 'T' }, { name: 'T' }]);
    });

    test('of a commit without a valid date has no date', async () => {
      const { source, repository, remote } = await open();
      const tree = repository.git('rev-parse', `${repository.commit({ files: { 'a.yaml': 'one\n' } })}^{tree}`);
      const file = join(repository.folder, 'commit');
      writeFileSync(file, `tree ${tree}\nauthor T <t> 1 +0000\ncommitter T <t> 99999999999999999999 +0000\n\nOdd\n`);
      const commit = repository.git('hash-object', '-t', 'commit', '-w', '--literally', file);
      repository.setBranch('main', commit);
      const [only] = await source.history(remote('main'), commit, 9);
      expect(only?.committedAt).toBeNull();
      expect((await source.snapshot(remote('main'), commit)).committedAt).toBeNull();
    });

    test('grows with the branch, and is another after the branch was rewritten', async () => {
      const { source, repository, remote } = await open();
      const commits = repository.commitAll(
        Array.from({ length: 5 }, (_, index) => ({ files: { [`${index}`]: 'one\n' } })),
      );
      const idsOf = async (commit: string) =>
        (await source.history(remote('main'), commit, 9)).map((each) => each.commit);
      expect(await idsOf(commits[2]!)).toEqual(commits.slice(0, 3));
      // The tree of the first commit again: nothing but the commit is new.
      const tree = `${commits[0]}^{tree}`;
      const back = merge(repository, tree, commits[4]!);
      repository.setBranch('main', back);
      expect(await idsOf(back)).toEqual([...commits, back]);
      const rewritten = repository.commit({ parent: commits[1]!, files: { x: 'two\n' } });
      expect(await idsOf(rewritten)).toEqual([commits[0], commits[1], rewritten]);
      expect((await (await source.snapshot(remote('main'), back)).entries()).map(({ path }) => path)).toEqual(['0']);
    });

    test('of too many commits is refused', async () => {
      const { source, repository, remote } = await open();
      const commits = repository.commitAll(Array.from({ length: 5 }, (_, index) => ({ files: { n: `${index}` } })));
      expect(await source.history(remote('main'), commits[4]!, 5)).toHaveLength(5);
      await expect(source.history(remote('main'), commits[4]!, 4)).rejects.toMatchObject({
        code: 'too_large',
        message: expect.stringContaining('more than 4 commits'),
      });
    });

    test('of what is not a commit, or is missing, is refused', async () => {
      const { source, repository, remote } = await open();
      const commit = repository.commit({ files: { 'a.yaml': 'one\n' } });
      repository.git('tag', 'blob', blobs.one);
      expect(commit).toMatch(/^[0-9a-f]{40}$/);
      await expect(source.history(remote('main'), blobs.one, 9)).rejects.toMatchObject({ code: 'refused' });
      await expect(source.history(remote('main'), 'd'.repeat(40), 9)).rejects.toMatchObject({ code: 'unreachable' });
      for (const id of ['main', '--all', '', 'D'.repeat(40)]) {
        const refusal = { code: 'malformed' };
        await expect(source.history(remote('main'), id, 9), id).rejects.toMatchObject(refusal);
        await expect(source.bring(remote('main'), [commit, id]), id).rejects.toMatchObject(refusal);
        await expect(source.bringBlobs(remote('main'), commit, [id]), id).rejects.toMatchObject(refusal);
      }
    });

    test('stops when its signal aborts', async () => {
      const { source, repository, remote } = await open();
      const commit = repository.commit({ files: { 'a.yaml': 'one\n' } });
      const signal = AbortSignal.abort(new Error('stop'));
      await expect(source.history(remote('main'), commit, 9, signal)).rejects.toThrow('stop');
      await expect(source.bring(remote('main'), [commit], signal)).rejects.toThrow('stop');
      await expect(source.bringBlobs(remote('main'), commit, [blobs.one], signal)).rejects.toThrow('stop');
    });
  });

  describe('objects that are to be fetched', () => {
    test('is there for snapshots, also what is on no branch, and what cannot be had is left to them', async () => {
      const { source, repository, remote } = await open();
      const commits = repository.commitAll(Array.from({ length: 9 }, (_, index) => ({ files: { n: `${index}` } })));
      const aside = repository.commit({ branch: 'aside', parent: null, files: { n: 'aside' } });
      repository.setBranch('aside', null);
      await source.bring(remote('main'), []);
      await source.bring(remote('main'), [...commits, aside, commits[0]!]);
      await source.bring(remote('main'), ['d'.repeat(40)]);
      const blobIds = commits.map((commit) => repository.git('rev-parse', `${commit}:n`));
      await source.bringBlobs(remote('main'), commits[8]!, []);
      await source.bringBlobs(remote('main'), commits[8]!, [...blobIds, blobIds[0]!]);
      const texts = [...commits, aside].map(async (commit) => {
        const [file] = await (await source.snapshot(remote('main'), commit)).read(['n']);
        return file?.found && Buffer.from(file.bytes).toString();
      });
      expect(await Promise.all(texts)).toEqual([...commits.keys()].map(String).concat('aside'));
      await expect(source.snapshot(remote('main'), 'd'.repeat(40))).rejects.toMatchObject({ code: 'unreachable' });
    });
  });

  describe('a ref that is not a branch', () => {
    test.each(['refs/pull/7/head', 'refs/merge-requests/7/head', 'refs/pull-requests/7/from', 'refs/tags/v1'])(
      '%s is found and read',
      async (ref) => {
        const { source, repository, remote } = await open();
        repository.commit({ files: { 'a.yaml': 'one\n' } });
        const head = repository.commit({ branch: 'fork', files: { 'a.yaml': 'two\n' } });
        repository.git('update-ref', ref, head);
        repository.setBranch('fork', null);
        const at = { ...remote(null), ref };
        expect(await source.tip(at)).toEqual({ found: true, commit: head });
        const [file] = await (await source.snapshot(at, head)).read(['a.yaml']);
        expect(file).toMatchObject({ found: true, bytes: Buffer.from('two\n') });
        expect(await source.history(at, head, 9)).toHaveLength(1);
        repository.git('update-ref', '-d', ref);
        expect(await source.tip(at)).toEqual({ found: false, detail: expect.stringContaining('has no ') });
      },
    );

    test('stands for the commit where it is an annotated tag', async () => {
      const { source, repository, remote } = await open();
      const commit = repository.commit({ files: { 'a.yaml': 'one\n' } });
      repository.git(...identity, 'tag', '-a', '-m', 'One', 'v1', commit);
      expect(await source.tip({ ...remote(null), ref: 'refs/tags/v1' })).toEqual({ found: true, commit });
    });

    const hostile = [
      '--upload-pack=touch x',
      '-',
      '',
      'main',
      'refs/heads',
      'refs/',
      '+refs/heads/main',
      'HEAD^',
      'head',
    ].concat(
      [
        'refs/heads/main:refs/heads/x',
        '^refs/heads/main',
        'refs/pull/*/head',
        'refs/pull/../heads/main',
        'refs/pull/7/head\n',
      ],
      [
        'refs/x/-y',
        'HEAD:refs/x',
        'file:///etc',
        '@',
        'refs//x',
        'refs/pull//head',
        'refs/pull/a b',
        `refs/x/${'y'.repeat(2000)}`,
      ],
    );
    test('of a name that git forbids is neither looked for nor fetched', async () => {
      const { source, repository, remote } = await open();
      const commit = repository.commit({ files: { 'a.yaml': 'one\n' } });
      for (const ref of hostile) {
        const at = { ...remote(null), ref };
        expect(await source.tip(at), ref).toEqual({ found: false, detail: expect.stringContaining('is not a valid') });
        const refusal = { code: 'malformed', message: expect.stringContaining('is not a valid') };
        await expect(source.snapshot(at, commit), ref).rejects.toMatchObject(refusal);
        await expect(source.history(at, commit, 9), ref).rejects.toMatchObject(refusal);
        await expect(source.bring(at, [commit]), ref).rejects.toMatchObject(refusal);
        await expect(source.bringBlobs(at, commit, [commit]), ref).rejects.toMatchObject(refusal);
        await expect(source.ancestry(at, commit, 'a'.repeat(40)), ref).rejects.toMatchObject(refusal);
      }
    });
  });
}
