import type { Coordinate } from '../model/address.ts';
import { matchesGlob } from '../model/glob.ts';
import { foldLabel } from '../model/label.ts';
import { labelFromTag } from './tag-label.ts';

/** The usual patterns of release tags. Those of one document of a repository come first. */
function patternsFor({ slug }: Pick<Coordinate, 'slug'>): string[] {
  return [`${slug}-v*`, `${slug}@*`, `${slug}/v*`, 'v*', '*'];
}

/**
 * The pattern of the tags that name a document's releases: the first of the usual ones that gives a
 * tag a label beginning with a number. `*` only if all tags do. Null: there are no such tags.
 */
export function releasePattern(tags: readonly string[], coordinate: Pick<Coordinate, 'slug'>): string | null {
  for (const pattern of patternsFor(coordinate)) {
    const matching = tags.filter((name) => matchesGlob(pattern, name));
    const releases = matching.filter((name) => /^\d/.test(labelFromTag(name, pattern) ?? ''));
    if (releases.length > 0 && (pattern !== '*' || releases.length === matching.length)) return pattern;
  }
  return null;
}

/** The tag that gives a document this label, its pattern, and how many tags that matches. Null: none does. */
export function findRelease<T extends { name: string }>(
  tags: readonly T[],
  coordinate: Pick<Coordinate, 'slug'>,
  label: string,
): { tag: T; pattern: string; count: number } | null {
  for (const pattern of patternsFor(coordinate)) {
    const matching = tags.filter(({ name }) => matchesGlob(pattern, name));
    const tag = matching.find(({ name }) => foldLabel(labelFromTag(name, pattern) ?? '') === foldLabel(label));
    if (tag !== undefined) return { tag, pattern, count: matching.length };
  }
  return null;
}
