import type { Draw } from './draw.ts';
import {
  evolve,
  expectedStanding,
  firstDoc,
  isPlain,
  send,
  standingOf,
  syncAll,
  syncModel,
  type Life,
  type Plan,
  type Repo,
  type Verbs,
} from './life.ts';
import { textOf, type Doc } from './model.ts';

const paths = ['a.json', 'b.json'];

/** What the configuration follows always. */
export const always = [
  { gitea: 'acme/*', only: ['owned', 'renamed-*'], credential: 'acme' },
  { url: 'https://git.test/acme/faces.git', visibility: 'public' },
  { url: 'https://git.test/acme/gated.git', credential: 'acme' },
] as const;

function followed(life: Life, draw: Draw): Repo | null {
  return (
    draw.of([...life.repos.values()].filter((repo) => isPlain(repo) && repo.isFollowed && repo.commits.length > 0)) ??
    null
  );
}

/** A title that no other document has. */
export function newTitle({ name, commits }: Repo): string {
  return `${name} ${[...String(commits.length)].map((digit) => 'klmnopqrst'[Number(digit)]).join('')}`;
}

export function commit(life: Life, repo: Repo, files: Map<string, Doc>, texts = textsOf(files)): void {
  // Two commits with the same files are two commits.
  const id = life.world.source.push(repo.url, { ...texts, 'README.md': `Commit ${repo.commits.length}` });
  repo.files = files;
  repo.commits.push({ id, files: new Map(files) });
}

const textsOf = (files: Map<string, Doc>): Record<string, string> =>
  Object.fromEntries([...files].map(([path, doc]) => [path, textOf(doc)]));

/** Asks for a sync, and compares everything that was ever published from the repository. */
export function sync(life: Life, repo: Repo, says: string, slug?: string): Plan {
  const touched = repo.isFollowed ? syncModel(life, repo) : [];
  const standing = Object.fromEntries(touched.map((one) => [one, expectedStanding(life.resources.get(one)!)]));
  return {
    says,
    async ask() {
      const what = slug === undefined ? `repositories/${repo.id}` : `apis/${slug}`;
      const run = await life.world.call('POST', `/v1/${what}/sync?wait=30`, { key: life.admin, body: {} });
      const stands = await Promise.all(touched.map(async (one) => [one, await standingOf(life, one)] as const));
      return { run: run.json['state'], ...Object.fromEntries(stands) };
    },
    expected: { run: 'succeeded', ...standing },
    isRepeatable: true,
  };
}

export const gitVerbs: Verbs = {
  follow: {
    weight: 2,
    asks: ['followRepository'],
    plan(life, draw) {
      const repo = life.repos.get('hand')!;
      if (repo.isFollowed) return null;
      if (repo.commits.length === 0) commit(life, repo, new Map([['a.json', firstDoc(newTitle(repo), draw)]]));
      repo.isFollowed = true;
      const body = { repository: repo.url, visibility: 'public' };
      return {
        says: `follow ${repo.url}`,
        async ask() {
          const { status, json } = await send(life, 'POST', '/v1/repositories', body);
          repo.id = String(json['id']);
          return status;
        },
        expected: 201,
        isRepeatable: true,
      };
    },
  },
  unfollow: {
    weight: 1,
    asks: ['unfollowRepository'],
    plan(life) {
      const repo = life.repos.get('hand')!;
      if (!repo.isFollowed) return null;
      repo.isFollowed = false;
      return {
        says: `follow ${repo.url} no more`,
        ask: async () => (await send(life, 'DELETE', `/v1/repositories/${repo.id}`)).status,
        expected: 204,
      };
    },
  },
  push: {
    weight: 16,
    asks: ['syncRepository'],
    plan(life, draw) {
      const repo = draw.of([...life.repos.values()].filter((each) => isPlain(each) && each.isFollowed));
      if (repo === undefined) return null;
      const files = new Map(repo.files);
      const path = draw.of([...new Set([...files.keys(), ...paths])]);
      const before = files.get(path);
      files.set(path, before ? evolve(before, draw) : firstDoc(newTitle(repo), draw));
      commit(life, repo, files);
      return sync(life, repo, `push ${path} ${JSON.stringify(files.get(path))} to ${repo.name}, and sync`);
    },
  },
  revert: {
    weight: 6,
    asks: ['syncRepository'],
    plan(life, draw) {
      const repo = followed(life, draw);
      const before = repo?.commits.at(-2);
      if (!repo || !before) return null;
      commit(life, repo, new Map(before.files));
      return sync(life, repo, `revert the last commit of ${repo.name}, and sync`);
    },
  },
  rename: {
    weight: 3,
    asks: ['syncRepository'],
    plan(life, draw) {
      const repo = followed(life, draw);
      const path = repo && draw.of([...repo.files.keys()]);
      if (!repo || !path) return null;
      const files = new Map(repo.files);
      const to = `${path.replace(/\d*\.json$/, '')}${repo.commits.length}.json`;
      files.set(to, files.get(path)!);
      files.delete(path);
      commit(life, repo, files);
      return sync(life, repo, `rename ${path} of ${repo.name} to ${to}, and sync`);
    },
  },
  retitle: {
    weight: 2,
    asks: ['syncRepository'],
    plan(life, draw) {
      const repo = followed(life, draw);
      const path = repo && draw.of([...repo.files.keys()]);
      if (!repo || !path || !repo.slugs.has(path)) return null;
      const files = new Map(repo.files);
      files.set(path, { ...files.get(path)!, title: newTitle(repo) });
      commit(life, repo, files);
      return sync(life, repo, `change the title of ${path} of ${repo.name}, and sync`);
    },
  },
  sync: {
    weight: 3,
    asks: ['syncRepository', 'syncApi'],
    plan(life, draw) {
      const repo = followed(life, draw);
      const slug = repo && draw.chance(0.5) ? draw.of([...repo.slugs.values()]) : undefined;
      const isThere = slug !== undefined && life.resources.get(slug)?.deletedAt === null;
      return repo && sync(life, repo, `sync ${isThere ? slug : repo.name}`, isThere ? slug : undefined);
    },
  },
  look: {
    weight: 3,
    plan(life) {
      return {
        says: 'look at all repositories',
        touches: syncAll(life),
        ask: () => life.world.look(),
        expected: undefined,
      };
    },
  },
  configure: {
    weight: 2,
    plan(life) {
      const { world } = life;
      const repo = life.repos.get('conf')!;
      repo.isFollowed = !repo.isFollowed;
      const repositories = repo.isFollowed ? [{ url: repo.url, visibility: 'public' as const }] : [];
      const { organizations } = world.config;
      world.config = {
        ...world.config,
        organizations: { ...organizations, acme: { repositories: [...always, ...repositories] } },
      };
      // Somebody pushes meanwhile.
      if (!repo.isFollowed && repo.files.size > 0) {
        const [[path, doc]] = [...repo.files] as [[string, Doc]];
        commit(life, repo, new Map(repo.files).set(path, { ...doc, note: repo.commits.length + 5000 }));
      }
      const touches = syncAll(life);
      return {
        says: `restart with ${repo.isFollowed ? repo.name : 'no repository'} in the configuration`,
        ask: () => world.restart(),
        expected: undefined,
        touches: [...touches, ...repo.slugs.values()],
      };
    },
  },
};
