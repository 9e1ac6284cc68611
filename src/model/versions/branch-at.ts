import { latestOf } from '../label.ts';
import { candidatesOf, chooseLatest, type Resource } from '../resource.ts';
import { haveEqualRank, readerOf } from './version-order.ts';

/**
 * The resource after its branch was read and has this version. Among versions of equal rank that
 * came from a commit, the one that the branch has counts as the newest (design §7). The same object
 * if nothing changes.
 */
export function withBranchAt(resource: Resource, label: string): Resource {
  const { versions } = resource;
  const read = readerOf(versions);
  const equals = candidatesOf(resource).filter((one) => haveEqualRank(read, one.label, label));
  const own = equals.find((one) => one.label === label);
  const newest = latestOf(equals, read);
  const isBack = own !== undefined && newest !== null && newest !== own && newest.version.createdAt !== undefined;
  const isKnown = (resource.onBranch ?? resource.latest) === label;
  if (!isBack) return isKnown ? resource : { ...resource, onBranch: label };
  const last = equals.reduce((one, other) => (Math.floor(other.order) > Math.floor(one.order) ? other : one));
  const next = versions.map((version) => {
    if (version === own.version) return { ...version, returnedAfter: versions[Math.floor(last.order)]!.label };
    if (version.returnedAfter === undefined || !haveEqualRank(read, version.label, label)) return version;
    const { returnedAfter: _, ...rest } = version;
    return rest;
  });
  const moved = { ...resource, versions: next, onBranch: label };
  return { ...moved, latest: chooseLatest(moved) };
}
