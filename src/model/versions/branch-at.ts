import { chooseLatest, orderOf, type Resource } from '../resource.ts';
import { haveEqualRank, readerOf } from './version-order.ts';

/**
 * The resource after its branch was read and has this version. Among versions of equal rank that
 * came from a commit, whatever their status, the one that the branch has counts as the newest
 * (design §7). The same object if nothing changes.
 */
export function withBranchAt(resource: Resource, label: string): Resource {
  const { versions } = resource;
  const read = readerOf(versions);
  const order = versions.map((_, index) => orderOf(versions, index));
  const place = versions.findIndex((version) => version.label === label);
  let newest = place;
  for (const [index, version] of versions.entries())
    if (version.createdAt !== undefined && order[index]! > order[newest]! && haveEqualRank(read, version.label, label))
      newest = index;
  if (newest === place) {
    const isKnown = (resource.onBranch ?? resource.latest) === label;
    return isKnown ? resource : { ...resource, onBranch: label };
  }
  const { returnedAfter, returnCount = 1 } = versions[newest]!;
  const back = {
    ...versions[place]!,
    returnedAfter: versions[Math.floor(order[newest]!)]!.label,
    returnCount: returnedAfter === undefined ? 1 : returnCount + 1,
  };
  const moved = { ...resource, versions: versions.with(place, back), onBranch: label };
  return { ...moved, latest: chooseLatest(moved) };
}
