import { problemAtFile } from '../../../src/model/problem.ts';
import { createHash } from 'node:crypto';
import { RegistryError } from '../../../src/model/errors.ts';
import type { Snapshot } from '../../../src/source/snapshot.ts';
import type { Source, Tag } from '../../../src/source/source.ts';

/** A repository in memory, and the source that reaches it alone. */
export interface TestRepository {
  url: string;
  source: Source;
  /** Makes a commit with these files; answers its id. */
  commit(files: Record<string, string>): string;
  tag(name: string, commit: string): void;
  /** From now on it does not answer. */
  lose(): void;
}

export function createTestRepository(url: string): TestRepository {
  const commits: { id: string; files: Record<string, string> }[] = [];
  const tags: Tag[] = [];
  let isLost = false;
  const id = (text: string) => createHash('sha1').update(text).digest('hex');
  const reach = (asked: string) => {
    if (asked !== url || isLost) throw new RegistryError('unreachable', `${asked} does not answer.`);
  };
  const snapshotOf = (commit: string): Snapshot => {
    const { files } = commits.find((each) => each.id === commit)!;
    return {
      origin: { repository: url, commit },
      committedAt: '2026-01-01T00:00:00Z',
      entries: async () => Object.entries(files).map(([path, text]) => ({ path, kind: 'file' as const, id: id(text) })),
      read: async (paths) =>
        paths.map((path) => {
          const text = files[path];
          return text === undefined
            ? { path, found: false, problem: problemAtFile('file-missing', path, 'There is no such file.') }
            : { path, found: true, bytes: Buffer.from(text), blob: id(text) };
        }),
    };
  };
  return {
    url,
    source: {
      async tip(remote) {
        reach(remote.url);
        const newest = commits.at(-1);
        return newest ? { found: true, commit: newest.id } : { found: false, detail: 'It has no commits.' };
      },
      async snapshot(remote, commit) {
        reach(remote.url);
        return snapshotOf(commit);
      },
      async tags(remote) {
        reach(remote.url);
        return tags;
      },
      ancestry: async () => 'descendant',
      merge: async (_remote, _commit, head) => ({ outcome: 'merged', snapshot: snapshotOf(head.commit) }),
      history: async () => [],
      bring: async () => undefined,
      bringBlobs: async () => undefined,
      watchable: () => null,
    },
    commit(files) {
      const commit = id(`${commits.length} ${JSON.stringify(files)}`);
      commits.push({ id: commit, files });
      return commit;
    },
    tag: (name, commit) => void tags.push({ name, commit }),
    lose: () => void (isLost = true),
  };
}
