import type { Digest } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import { chooseLatest, nameOf, parseResourceRef, type Resource } from '../../model/resource.ts';
import type { Bucket } from '../../store/bucket.ts';
import { parseWorkKey } from '../../store/work.ts';
import type { LostComparison, LostVersion } from '../fsck.ts';
import type { Author, Registry } from '../registry.ts';

/** What was done about one damage. */
export interface Repaired {
  /**
   * `repaired`: it is as it was written. `given up`: it is gone for good, and the registry says so.
   * `left`: nothing was done.
   */
  outcome: 'repaired' | 'given up' | 'left';
  /** Bucket key, or the coordinate of a version. */
  what: string;
  detail: string;
}

export interface GiveUpOptions {
  /** Whether to give up what no copy has: versions are withdrawn, and damaged keys deleted. */
  giveUp: boolean;
  author: Author;
  report: (repaired: Repaired) => void;
}

/** Withdraws versions of a resource whose bytes are lost, in one change. Their other bytes are left to garbage collection. */
export async function giveUpVersions(
  registry: Registry,
  name: string,
  lost: readonly LostVersion[],
  { giveUp, author, report }: GiveUpOptions,
): Promise<void> {
  const labels = new Map(lost.map(({ label, needs }) => [label, needs]));
  const reportAll = (outcome: Repaired['outcome'], about: (needs: Digest) => string): void => {
    for (const [label, needs] of labels) report({ outcome, what: coordinateIn(name, label), detail: about(needs) });
  };
  if (!giveUp) return reportAll('left', (needs) => `It needs ${needs}, which no copy has.`);
  const since = registry.now().toISOString();
  const isDone = await changeRecord(registry, name, (resource) => {
    const versions = resource.versions.map((version) => {
      const needs = labels.get(version.label);
      if (needs === undefined || version.status.state === 'withdrawn') return version;
      return {
        ...version,
        status: { state: 'withdrawn', reason: `Its stored bytes were lost (${needs}).`, since } as const,
      };
    });
    const { latest, latestPinned } = resource;
    const value = { ...resource, versions, latestPinned: latestPinned && !labels.has(latest!) };
    return {
      value: { ...value, latest: chooseLatest(value) },
      change: { ...author, action: `withdraw ${[...labels.keys()].join(', ')}: stored bytes were lost` },
    };
  });
  if (!isDone) return reportAll('left', () => `${logIsDamaged}, so it cannot be withdrawn.`);
  reportAll('given up', (needs) => `Withdrawn, because ${needs} is lost.`);
}

/**
 * Removes lost comparisons from the records of their versions, in one change of the resource.
 * Readers have the versions compared again.
 */
export async function giveUpComparisons(
  registry: Registry,
  name: string,
  lost: readonly LostComparison[],
  { giveUp, author, report }: GiveUpOptions,
): Promise<void> {
  const digests = new Map(lost.map(({ label, digest }) => [label, digest]));
  const reportAll = (outcome: Repaired['outcome'], detail: string): void => {
    for (const label of digests.keys()) report({ outcome, what: coordinateIn(name, label), detail });
  };
  if (!giveUp) return reportAll('left', 'Its comparison with the version before it is lost, and no copy has it.');
  const isDone = await changeRecord(registry, name, (resource) => ({
    value: {
      ...resource,
      versions: resource.versions.map((version) => {
        const { changes, ...rest } = version;
        return changes !== undefined && changes.digest === digests.get(version.label) ? rest : version;
      }),
    },
    change: { ...author, action: `forget comparisons of ${[...digests.keys()].join(', ')}: stored bytes were lost` },
  }));
  if (isDone)
    reportAll('given up', 'Its lost comparison was removed from its record. It is compared again when asked for.');
  else reportAll('left', `${logIsDamaged}, so its lost comparison cannot be removed from its record.`);
}

const logIsDamaged = 'Its organization has a damaged log';

/** Changes a resource's record. False if its log is damaged. */
async function changeRecord(
  { refs }: Registry,
  name: string,
  change: (resource: Resource) => { value: Resource; change: Author & { action: string } },
): Promise<boolean> {
  try {
    await refs.update<Resource>(name, (current) => change(current!.value));
    return true;
  } catch (error) {
    if (isRegistryError(error, 'corrupt')) return false;
    throw error;
  }
}

function coordinateIn(name: string, label: string): string {
  return `${nameOf(parseResourceRef(name)!)}@${label}`;
}

/** Deletes a damaged file. What is not there is left. */
export async function giveUpKey(bucket: Bucket, key: string, { giveUp, report }: GiveUpOptions): Promise<void> {
  const isOurs = !key.startsWith('work/') || parseWorkKey(key) !== null;
  // What is missing cannot be given up: the next check would miss it again.
  if (!giveUp || !isOurs || (await bucket.get(key)) === null) {
    const detail = isOurs ? 'No copy has it.' : 'Stele did not write this file. Move it away.';
    return report({ outcome: 'left', what: key, detail });
  }
  await bucket.delete(key);
  report({ outcome: 'given up', what: key, detail: 'Deleted, because it is damaged.' });
}
