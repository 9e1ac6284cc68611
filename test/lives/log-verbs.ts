import { parseCheckpoint } from '../../src/model/transparency/checkpoint.ts';
import { signersOf } from '../../src/model/transparency/note.ts';
import { publicLogOf } from '../../src/registry/transparency/public-log.ts';
import { leavesIn } from '../registry/transparency/logged.ts';
import type { Life, Verbs } from './life.ts';
import { latestOf } from './model.ts';
import type { Node } from './world.ts';

interface Standing {
  versions: Record<string, string>;
  latest: string | null;
}

/** public-log.md, What is in it: what the log says of every public resource, once all is written. */
function expectedLog({ resources }: Life): Record<string, Standing> {
  const there = [...resources.values()].filter((each) => each.visibility === 'public' && each.deletedAt === null);
  return Object.fromEntries(
    there.map((resource) => {
      const versions = Object.fromEntries(resource.versions.map(({ label, status }) => [label, status]));
      return [resource.slug, { versions, latest: latestOf(resource)?.label ?? null }];
    }),
  );
}

/** What the log of a process says of these resources, and of which it says anything, after it has read what is new. */
async function readLog(
  { registry }: Node,
  slugs: readonly string[],
): Promise<{ standing: Record<string, Standing>; all: string[] }> {
  const log = (await publicLogOf(registry))!;
  await log.update();
  const told = new Map<string, Standing>();
  for (const leaf of await leavesIn(log)) {
    if (leaf.event === 'key') continue;
    const slug = leaf.coordinate.slice('@acme/apis/'.length);
    const standing = told.get(slug) ?? { versions: {}, latest: null };
    told.set(slug, standing);
    if (leaf.event === 'latest') standing.latest = leaf.label;
    else if (leaf.event === 'published' || leaf.event === 'listed') standing.versions[leaf.label] ??= 'active';
    else standing.versions[leaf.label] = leaf.event === 'reactivated' ? 'active' : leaf.event;
  }
  const none: Standing = { versions: {}, latest: null };
  return { standing: Object.fromEntries(slugs.map((slug) => [slug, told.get(slug) ?? none])), all: [...told.keys()] };
}

/** What of the log is not as the model has it. */
export async function faultsOfLog(life: Life, node: Node): Promise<string[]> {
  const expected = expectedLog(life);
  const { standing, all } = await readLog(node, Object.keys(expected));
  const found = all
    .filter((slug) => life.resources.get(slug)?.wasPublic === false)
    .map((slug) => `The log tells of ${slug}, which was never public`);
  for (const [slug, { versions, latest }] of Object.entries(expected)) {
    const told = standing[slug]!;
    if (told.latest !== latest) found.push(`The log says that ${slug} is ${told.latest}, and it is ${latest}`);
    for (const label of new Set([...Object.keys(versions), ...Object.keys(told.versions)])) {
      // What was withdrawn before it was public is not in the log.
      const [says, is] = [told.versions[label] ?? 'withdrawn', versions[label] ?? 'nowhere'];
      if (says !== is || (told.versions[label] === undefined && is !== 'withdrawn'))
        found.push(`The log says that ${slug}@${label} is ${told.versions[label] ?? 'nowhere'}, and it is ${is}`);
    }
  }
  return found;
}

/** What everybody can check, and those who have seen it. */
export const logVerbs: Verbs = {
  'read the public log': {
    weight: 5,
    plan(life, draw) {
      const { witness } = life.world;
      const isSilent = draw.chance(0.3);
      return {
        says: `read the public log${isSilent ? ', while its witness does not answer' : ''}`,
        async ask() {
          const node = life.world.nodes[life.world.turn]!;
          witness.setSilent(isSilent);
          // A witness that did not answer is asked again a minute later.
          life.world.pass(60_000);
          const faults = await faultsOfLog(life, node).finally(() => witness.setSilent(false));
          const { status, text } = await life.world.call('GET', '/log/checkpoint', {}, node);
          const { size, note } = parseCheckpoint(text)!;
          const isShorter = size < life.logSize;
          life.logSize = size;
          const isCosigned = signersOf(note, [witness.key])!.length === 1;
          return { faults, status, isShorter, isCosigned: isSilent || isCosigned };
        },
        expected: { faults: [], status: 200, isShorter: false, isCosigned: true },
        isRepeatable: true,
      };
    },
  },
};
