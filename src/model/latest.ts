import { latestOf, readerOf, haveEqualRank, compareSemanticVersions } from './label.ts';
import { findVersion, isOffered, type Resource, type Version, chooseLatest, orderOf } from './resource.ts';

/** Says in one to three sentences why the latest version is the latest. Null when there is none. */
export function whyLatest(resource: Resource): string | null {
  const why = reasonFor(resource);
  return why === null ? null : `${why}${branchNote(resource)}`;
}

function reasonFor(resource: Resource): string | null {
  const { latest, latestPinned, versions } = resource;
  if (latest === null) return null;
  if (latestPinned) return `Latest is ${latest} because somebody pinned it.`;
  const held = heldBack(resource, latest);
  const read = readerOf(versions)(latest);
  if (read === null) {
    return held === null
      ? `Latest is ${latest}, the newest: no label is a semantic version.`
      : `Latest is ${latest}, the newest. ${held} was published so that it does not become latest.`;
  }
  const isRelease = read.prerelease.length === 0;
  const rule = isRelease ? 'the highest release' : 'the highest pre-release, since there is no release';
  const more = held === null ? '' : ` ${held} is higher, but was published so that it does not become latest.`;
  return `Latest is ${latest}, ${rule}.${more}`;
}

/** The version that would be latest if none was held back, when that is another than `latest`. */
function heldBack(resource: Resource, latest: string): string | null {
  const candidates = resource.versions.flatMap((version, order) =>
    isOffered(version) ? [{ label: version.label, order }] : [],
  );
  const highest = latestOf(candidates, readerOf(resource.versions))?.label ?? null;
  const isHeld = highest !== null && findVersion(resource, highest)?.neverLatest === true;
  return isHeld && highest !== latest ? highest : null;
}

/** Says that the branch has another version than the latest one. */
function branchNote({ connection, onBranch, latest }: Resource): string {
  const isOther = connection?.tags === null && onBranch !== undefined && onBranch !== latest;
  return isOther ? ` The branch has ${onBranch}.` : '';
}

/**
 * Says what a version that was read from a branch or a tag means for `latest`, in one sentence.
 * `was`: the latest version before. Null: it is the latest, as everybody expects.
 */
export function effectOnLatest(resource: Resource, version: Version, was: string | null): string | null {
  const { latest } = resource;
  const { label } = version;
  if (latest === label) return hasReturned(version, was) ? `Latest becomes ${label} again; it was ${was}.` : null;
  if (latest === null) return `There is no latest version, because ${label} is ${version.status.state}.`;
  const what = was === null || was === latest ? `stays ${latest}` : `becomes ${latest} instead of ${was}`;
  return `Latest ${what}, ${whyNot(resource, version)}.`;
}

function hasReturned({ label, returnedAfter }: Version, was: string | null): boolean {
  return was !== null && was !== label && returnedAfter !== undefined;
}

function whyNot({ latestPinned, latest, versions }: Resource, version: Version): string {
  const { label, neverLatest } = version;
  if (latestPinned) return 'because somebody pinned it';
  if (!isOffered(version)) return `because ${label} is ${version.status.state}`;
  if (neverLatest) return `because ${label} was published so that it does not become latest`;
  const read = readerOf(versions);
  const [own, other] = [read(label), read(latest!)];
  if (own === null) return other === null ? 'which was published later' : `because ${label} is not a semantic version`;
  if (own.prerelease.length > 0 && other?.prerelease.length === 0) return `because ${label} is a pre-release`;
  return `which is higher than ${label}`;
}

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

/** Both versions, where latest goes back to a version with an older commit; else null. */
export function latestMovedBack(resource: Resource, next: Resource): { from: Version; to: Version } | null {
  const from = resource.latest === null ? null : findVersion(resource, resource.latest);
  const to = next.latest === null ? null : findVersion(next, next.latest);
  if (from === null || to === null || !isOffered(from)) return null;
  // A date in the future comes from a clock that was ahead.
  const isKnown = dateOf(from) <= Date.parse(to.publishedAt);
  return isKnown && dateOf(to) < dateOf(from) ? { from, to } : null;
}

/**
 * When its content was made, as far as is known: its commit, else its publication. A commit that is
 * newer than its publication has the date of a clock that was ahead.
 */
function dateOf({ createdAt, publishedAt }: Pick<Version, 'createdAt' | 'publishedAt'>): number {
  const published = Date.parse(publishedAt);
  return createdAt === undefined ? published : Math.min(Date.parse(createdAt), published);
}

/**
 * Inserts an imported version before the first version that is newer than it; of commits of one second,
 * as after a rebase, the higher version is newer. It comes first when its date cannot be parsed.
 */
export function insertByDate(versions: readonly Version[], past: Version): Version[] {
  const date = past.createdAt === undefined ? Number.NEGATIVE_INFINITY : dateOf(past);
  const read = readerOf(versions, past);
  const ordered = read(past.label);
  const isHigher = ({ label }: Version): boolean => {
    const other = read(label);
    return ordered !== null && other !== null && compareSemanticVersions(other, ordered) > 0;
  };
  const index = versions.findIndex((each) => dateOf(each) > date || (dateOf(each) === date && isHigher(each)));
  return index < 0 ? [...versions, past] : versions.toSpliced(index, 0, past);
}
