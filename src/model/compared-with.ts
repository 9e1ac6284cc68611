import type { ToldChanges, VersionChanges, WorstVerdict } from './comparison.ts';
import {
  compareSemanticVersions,
  placeOfLabel,
  type SemanticVersion,
  readerOf,
  nextLabel,
  parseSemanticVersion,
} from './label.ts';
import { isOffered, orderOf, type Resource, type Version, findVersion } from './resource.ts';

type Compared = Pick<Version, 'label'> & Partial<Pick<Version, 'changes'>>;

/**
 * The version that a version is compared with (design §7), of those published before it that are not
 * yanked or withdrawn: for a release the highest release below it, for a pre-release the highest
 * version below it, and for a label without an order the version published last. Null: there is
 * none. A label that is not published counts as the next. What a version was compared with when it
 * was published stays, even yanked, unless a better one was put in between.
 */
export function comparedWith(resource: Pick<Resource, 'versions'>, version: Compared): Version | null {
  return find(resource, version, (parsed) => parsed.prerelease.length > 0);
}

/**
 * The version whose clients a version must not break: as `comparedWith`, but for a pre-release, too,
 * the highest release below it, since pre-releases promise nothing.
 */
export function releaseBefore(resource: Pick<Resource, 'versions'>, version: Compared): Version | null {
  return find(resource, version, () => false);
}

/** Why a version is compared with the one that `comparedWith` finds, to say after its label. */
export function whyCompared({ versions }: Pick<Resource, 'versions'>, { label }: Pick<Version, 'label'>): string {
  const parsed = readerOf(versions)(label);
  if (parsed === null) return 'the version published before it';
  return parsed.prerelease.length > 0 ? 'the highest version below it' : 'the highest release below it';
}

/**
 * What changed since the version before, if that is still the one that it was compared with: it may
 * have been withdrawn, or an import may have put another between them.
 */
export function changesOf(resource: Resource, version: Version): VersionChanges | null {
  if (version.changes === undefined) return null;
  return version.changes.from === comparedWith(resource, version)?.label ? version.changes : null;
}

/** The same for events and answers, with the reason for the choice; without the address of the comparison. */
export function toldChanges(resource: Resource, version: Version): ToldChanges | null {
  const changes = changesOf(resource, version);
  if (changes === null) return null;
  const { from, verdict, counts } = changes;
  return { from, why: whyCompared(resource, version), verdict, counts };
}

interface Place {
  at: number;
  /** Null: the label has no order. */
  parsed: SemanticVersion | null;
}

function find(
  { versions }: Pick<Resource, 'versions'>,
  { label, changes }: Compared,
  takesPrereleases: (version: SemanticVersion) => boolean,
): Version | null {
  const index = placeOfLabel(versions, label);
  const end = index < 0 ? versions.length : index;
  const read = readerOf(versions, index < 0 ? { label } : undefined);
  const ordered = read(label);
  const fits = (parsed: SemanticVersion | null): boolean =>
    ordered === null ||
    (parsed !== null &&
      (takesPrereleases(ordered) || parsed.prerelease.length === 0) &&
      compareSemanticVersions(parsed, ordered) <= 0);

  const place = changes === undefined ? -1 : placeOfLabel(versions, changes.from);
  let best: Place | null = null;
  if (place >= 0 && place < end && versions[place]!.status.state !== 'withdrawn') {
    const parsed = read(versions[place]!.label);
    if (fits(parsed)) best = { at: place, parsed };
  }
  // Versions before the recorded one could have been chosen then, and so could those that were
  // published before the version itself and passed over because they were yanked.
  const floor = best === null ? -1 : place;
  const chosenAt = best === null ? undefined : versions[index]?.publishedAt;
  for (let at = end - 1; at > floor; at--) {
    if (!isOffered(versions[at]!)) continue;
    if (chosenAt !== undefined && versions[at]!.publishedAt <= chosenAt) continue;
    const parsed = read(versions[at]!.label);
    if (ordered === null) return versions[at]!;
    if (!fits(parsed)) continue;
    const difference = best === null ? 1 : compareSemanticVersions(parsed!, best.parsed!);
    if (difference > 0 || (difference === 0 && floor < 0 && isNewer(versions, at, best!.at, end)))
      best = { at, parsed };
  }
  if (best !== null) return versions[best.at]!;
  const isUnordered = versions.slice(0, end).every((each) => !isOffered(each) || read(each.label) === null);
  return isUnordered ? (versions.slice(0, end).findLast(isOffered) ?? null) : null;
}

/** Of two versions of equal rank, whether the first counted as newer when there were `end` versions. */
function isNewer(versions: readonly Version[], one: number, other: number, end: number): boolean {
  const place = (at: number) => (orderOf(versions, at) < end ? orderOf(versions, at) : at);
  return place(one) > place(other);
}

/**
 * The version that announces changes since a version as Semantic Versioning says: a higher major
 * version for what breaks or cannot be judged (for 0.x a minor one), a minor one for what is new, a
 * patch for the rest. For dotted numbers it is the next one. Null: the label has no order.
 */
export function fittingVersion(resource: Resource, before: string, verdict: WorstVerdict): string | null {
  const old = parseSemanticVersion(before);
  if (old === null) {
    const read = readerOf(resource.versions);
    const labels = resource.versions.map(({ label }, order) => ({ label, order }));
    return read(before) === null ? null : nextLabel(labels, read);
  }
  const [major, minor, patch] = old.core;
  const isBreak = verdict === 'breaking' || verdict === 'unknown';
  const isNew = verdict === 'risky' || verdict === 'safe';
  for (let n = 1n; ; n++) {
    const label =
      isBreak && major > 0n
        ? `${major + n}.0.0`
        : isBreak || isNew
          ? `${major}.${minor + n}.0`
          : `${major}.${minor}.${patch + n}`;
    if (findVersion(resource, label) === null) return label;
  }
}
