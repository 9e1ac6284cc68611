import { latestOf } from '../label.ts';
import { findVersion, isOffered, type Resource, type Version } from '../resource.ts';
import { readerOf } from './version-order.ts';

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
  return `Latest stays ${latest}, ${whyNot(resource, version)}.`;
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
