import { importHistory } from '../../src/sync/import/import-repository.ts';
import type { Verbs } from './life.ts';
import { floorOf, importVersion, type Resource } from './model.ts';

/** Release tags, and versions from before that are imported from them. */
export const importVerbs: Verbs = {
  tag: {
    weight: 6,
    plan(life, draw) {
      const repo = draw.of(
        [...life.repos.values()].filter(({ isFollowed, commits }) => isFollowed && commits.length > 0),
      );
      const tip = repo?.commits.at(-1);
      if (!repo || !tip || [...tip.files.keys()].some((path) => !repo.slugs.has(path))) return null;
      // Below all that the branch publishes, or above most of it: the branch never comes there.
      const label = draw.chance(0.6) ? `0.0.${repo.tags.length}` : `${draw.number(2)}.${900 + repo.tags.length}.0`;
      const docs = new Map([...tip.files].flatMap(([path, doc]) => [[repo.slugs.get(path)!, doc] as const]));
      repo.tags.push({ label, commit: tip.id, docs });
      return {
        says: `tag the tip of ${repo.name} v${label}`,
        ask: async () => life.world.source.tag(repo.url, `v${label}`, tip.id),
        expected: undefined,
      };
    },
  },
  import: {
    weight: 6,
    plan(life, draw) {
      const resources = [...life.resources.values()].filter(
        ({ from, deletedAt }) => from !== null && deletedAt === null,
      );
      const isNew = ({ slug, from, versions }: Resource): boolean =>
        life.repos
          .get(from!.repository)!
          .tags.some(({ label, docs }) => docs.has(slug) && versions.every((each) => each.label !== label));
      const resource = draw.of(resources.filter(isNew)) ?? draw.of(resources);
      const repo = resource && life.repos.get(resource.from!.repository);
      if (!resource || !repo?.isFollowed || !repo.files.has(resource.from!.path)) return null;
      const { slug } = resource;
      const latest = draw.of(['keep', 'rule'] as const);
      const [floor, there] = [floorOf(resource), [...resource.versions]];
      for (const { label, commit, docs } of repo.tags) {
        const doc = docs.get(slug);
        const isKnown = resource.versions.some((each) => each.label === label);
        const date = repo.commits.findIndex(({ id }) => id === commit);
        if (doc !== undefined && !isKnown)
          importVersion(
            resource,
            { doc, label, commit, date, isStrict: life.ruleset.isStrict },
            { latest, floor, there },
          );
      }
      return {
        says: `import the tags of ${repo.name} into ${slug}, latest by ${latest}`,
        async ask() {
          const { registry } = life.world.nodes[0]!;
          const options = { tags: 'v*', eachChange: false, since: null, latest } as const;
          const run = await importHistory(
            registry,
            { org: 'acme', type: 'apis', slug },
            options,
            new AbortController().signal,
          );
          return run.state;
        },
        expected: 'succeeded',
        touches: [slug],
      };
    },
  },
};
