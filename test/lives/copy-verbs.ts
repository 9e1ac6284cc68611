import { backup, restore } from '../../src/registry/maintenance/backup.ts';
import { createMemoryBucket } from '../memory-store.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { checkNode } from './check.ts';
import { type Life, type Verbs } from './life.ts';

/** The model as it is now. */
function freeze({ resources, keys, sites, gated }: Life): Life['moments'][number]['model'] {
  return structuredClone({ resources, keys, sites, gated });
}

/** What is not as the model was, in a store that holds the state of then. */
async function look(
  life: Life,
  bucket: Bucket,
  then: Life['moments'][number]['model'],
  where: string,
): Promise<string[]> {
  const node = await life.world.open(bucket);
  try {
    return await checkNode({ ...life, ...then }, node, where);
  } finally {
    await node.close();
  }
}

/** Backups, and stores that were taken back to what they were. */
export const copyVerbs: Verbs = {
  'back up': {
    weight: 2,
    plan(life) {
      const then = freeze(life);
      return {
        says: 'back up',
        async ask() {
          const bucket = createMemoryBucket();
          const { damages } = await backup(life.world.nodes[life.world.turn]!.registry, bucket);
          life.moments = [...life.moments, { bucket, at: life.world.now(), model: then }].slice(-3);
          return damages;
        },
        expected: [],
      };
    },
  },
  'restore an earlier backup': {
    weight: 2,
    plan(life, draw) {
      const moment = draw.of(life.moments);
      if (moment === undefined) return null;
      return {
        says: `restore the backup of ${new Date(moment.at).toISOString()}, and look at it`,
        async ask() {
          const bucket = createMemoryBucket();
          const { damages } = await restore(moment.bucket, bucket, []);
          return [...damages, ...(await look(life, bucket, moment.model, 'restored'))];
        },
        expected: [],
      };
    },
  },
  'restore to an earlier time': {
    weight: 2,
    plan(life, draw) {
      const moment = draw.of(life.moments);
      if (moment === undefined) return null;
      const then = structuredClone(moment.model);
      // What was withdrawn since is gone.
      for (const { slug, versions } of then.resources.values())
        for (const version of versions)
          if (life.resources.get(slug)!.versions.find(({ label }) => label === version.label)?.status === 'withdrawn')
            if (version.status !== 'withdrawn') return null;
      return {
        says: `back up, restore it to ${new Date(moment.at).toISOString()}, and look at it`,
        async ask() {
          const [copy, bucket] = [createMemoryBucket(), createMemoryBucket()];
          await backup(life.world.nodes[life.world.turn]!.registry, copy);
          await restore(copy, bucket, [{ at: new Date(moment.at).toISOString() }]);
          return look(life, bucket, then, 'restored to then');
        },
        expected: [],
      };
    },
  },
};
