import type { Resource, Version } from '../../model/resource.ts';

/** The tag of a label. Tags have no `+`, so it becomes `_`, as in Helm. */
function tagOf(label: string): string {
  return label.replaceAll('+', '_');
}

/**
 * The label that a tag means, or null. Of two labels with the same tag, the tag is that of the one
 * that was published first, so that a tag never moves; the other has only its digest.
 */
export function labelOfTag({ versions, latest }: Pick<Resource, 'versions' | 'latest'>, tag: string): string | null {
  if (tag === 'latest') return latest;
  const named = versions.filter(({ label }) => tagOf(label) === tag);
  return named.length === 0 ? null : named.reduce(firstPublished).label;
}

function firstPublished(a: Version, b: Version): Version {
  return b.publishedAt < a.publishedAt ? b : a;
}

/** The tags of all versions that can be read, in lexical order after the tag `last`. */
export function listTags(resource: Pick<Resource, 'versions' | 'latest'>, last: string | null): string[] {
  const tags = new Set(resource.latest === null ? [] : ['latest']);
  for (const { label, status } of resource.versions) if (status.state !== 'withdrawn') tags.add(tagOf(label));
  const sorted = [...tags].sort(inOrder);
  return last === null ? sorted : sorted.filter((tag) => inOrder(tag, last) > 0);
}

/** Ignoring case first, as the specification asks. */
function inOrder(a: string, b: string): number {
  return compare(a.toLowerCase(), b.toLowerCase()) || compare(a, b);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
