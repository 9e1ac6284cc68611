import { day, evolve, expectedStanding, firstDoc, standingOf, syncAll, type Life, type Verbs } from './life.ts';
import { commit, newTitle } from './git-verbs.ts';

/** Pushes to the repository that is found by its owner, lets a day pass, and looks. */
function lookAfterADay(life: Life, says: string): ReturnType<Verbs[string]['plan']> {
  const { world } = life;
  const touched = syncAll(life);
  return {
    says,
    async ask() {
      world.pass(day + 60_000);
      await world.look();
      return Object.fromEntries(
        await Promise.all(touched.map(async (slug) => [slug, await standingOf(life, slug)] as const)),
      );
    },
    expected: Object.fromEntries(touched.map((slug) => [slug, expectedStanding(life.resources.get(slug)!)])),
  };
}

/** The repositories of an owner on a git host: `{ gitea: 'acme/*' }`. */
export const ownerVerbs: Verbs = {
  'push to a repository of the owner': {
    weight: 3,
    plan(life, draw) {
      const repo = life.repos.get('owned')!;
      const files = new Map(repo.files);
      const before = files.get('api.json');
      files.set('api.json', before ? evolve(before, draw) : firstDoc(newTitle(repo), draw));
      if (!repo.isFollowed) life.world.owned.push({ id: 17, full_name: 'acme/owned' });
      repo.isFollowed = true;
      commit(life, repo, files);
      return lookAfterADay(
        life,
        `push api.json ${JSON.stringify(files.get('api.json'))} to a repository of the owner, and look`,
      );
    },
  },
  'rename a repository of the owner': {
    weight: 2,
    plan(life) {
      const repo = life.repos.get('owned')!;
      const { moved, owned } = life.world;
      const [item] = owned;
      if (!repo.isFollowed || item === undefined) return null;
      const name = `acme/renamed-${repo.commits.length}-${moved.size}`;
      item.full_name = name;
      moved.set(repo.url, `https://git.test/${name}.git`);
      const [[path, doc]] = [...repo.files] as [[string, typeof repo.files extends Map<string, infer D> ? D : never]];
      commit(life, repo, new Map(repo.files).set(path, { ...doc, note: repo.commits.length + 9000 }));
      return lookAfterADay(life, `rename the repository of the owner to ${name}, push, and look`);
    },
  },
};
