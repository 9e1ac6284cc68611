import { compareSemanticVersions } from '../label.ts';
import { findVersion, isOffered, type Resource, type Version } from '../resource.ts';
import { readerOf } from './version-order.ts';

/**
 * Whether latest goes back from one state of a resource to the next: to a version whose commit is
 * older. Returns both versions, or null.
 */
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
