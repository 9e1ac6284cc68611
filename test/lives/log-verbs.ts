import { parseCheckpoint } from '../../src/model/transparency/checkpoint.ts';
import { signersOf } from '../../src/model/transparency/note.ts';
import { publicLogOf } from '../../src/registry/transparency/public-log.ts';
import { leavesIn } from '../registry/transparency/logged.ts';
import type { Life, Verbs } from './life.ts';
import { latestOf } from './model.ts';
import type { Node } from './world.ts';

/** What a log says of a resource: the state of each version, and what `latest` means. */
interface Told {
  versions: Record<string, string>;
  latest: string | null;
}

/** What the log of a process says of each resource, after it has read what is new. */
async function readLog({ registry }: Node): Promise<Map<string, Told>> {
  const log = (await publicLogOf(registry))!;
  await log.update();
  const told = new Map<string, Told>();
  for (const leaf of await leavesIn(log)) {
    if (leaf.event === 'key') continue;
    const { event, coordinate, label } = leaf;
    const of = told.getOrInsertComputed(coordinate.slice('@acme/apis/'.length), () => ({ versions: {}, latest: null }));
    if (event === 'latest') of.latest = label;
    else of.versions[label!] = ['published', 'listed', 'reactivated'].includes(event) ? 'active' : event;
  }
  return told;
}

/** All processes write the public log at once. */
export async function writeLogs({ world }: Life): Promise<void> {
  await Promise.all(world.nodes.map(async ({ registry }) => (await publicLogOf(registry))!.update()));
}

/** A process begins to write the public log, and stops at the call of the log after so many. Returns what lets it go on to the end. */
export async function beginLog(node: Node, calls: number): Promise<() => Promise<void>> {
  const log = (await publicLogOf(node.registry))!;
  const { reached, goOn } = node.pause('tree/', calls);
  const writing = log.update();
  await Promise.race([reached, writing]);
  return () => {
    goOn();
    return writing;
  };
}

/** public-log.md, What is in it: what of the log is not as the model has it, once all is written. */
export async function faultsOfLog(life: Life, node: Node): Promise<string[]> {
  const told = await readLog(node);
  const isUnknown = (slug: string) => life.resources.get(slug)?.wasPublic !== true;
  const found = [...told.keys()].filter(isUnknown).map((slug) => `The log tells of ${slug}, which was never public`);
  for (const resource of life.resources.values()) {
    const { slug, versions, visibility, deletedAt } = resource;
    if (visibility === 'private' || deletedAt !== null) continue;
    const { versions: said = {}, latest: saidLatest = null } = told.get(slug) ?? {};
    const latest = latestOf(resource)?.label ?? null;
    if (saidLatest !== latest) found.push(`The log says that ${slug} is ${saidLatest}, and it is ${latest}`);
    // What was withdrawn before it was public is not in the log.
    for (const { label, status } of versions)
      if ((said[label] ?? 'withdrawn') !== status)
        found.push(`The log says that ${slug}@${label} is ${said[label] ?? 'nowhere'}, and it is ${status}`);
    for (const label of Object.keys(said))
      if (!versions.some((each) => each.label === label)) found.push(`The log has ${slug}@${label}, which is nowhere`);
  }
  return found;
}

/** What everybody can check, and those who have seen it. */
export const logVerbs: Verbs = {
  'fail to write the public log': {
    weight: 4,
    plan(life, draw) {
      const writes = 1 + draw.number(3);
      return {
        says: `the first ${writes} writes of the public log fail`,
        async ask() {
          const node = life.world.nodes[life.world.turn]!;
          const log = (await publicLogOf(node.registry))!;
          node.stumble('tree/', writes);
          for (let tries = 0; tries < writes; tries++) await log.update().catch(() => undefined);
          node.stumble('tree/', 0);
          // What failed is tried again, and is no fault by then.
          return faultsOfLog(life, node);
        },
        expected: [],
      };
    },
  },
  'read the public log': {
    weight: 5,
    plan(life, draw) {
      const { witness } = life.world;
      const isSilent = draw.chance(0.3);
      const areAtOnce = draw.chance(0.5);
      return {
        says: `read the public log${areAtOnce ? ', which all processes write at once' : ''}${isSilent ? ', while its witness does not answer' : ''}`,
        async ask() {
          const node = life.world.nodes[life.world.turn]!;
          if (areAtOnce) await writeLogs(life);
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
