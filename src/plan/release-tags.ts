import type { Coordinate } from '../model/address.ts';
import { matchesGlob } from '../model/glob.ts';
import { foldLabel, latestOf, readerOf, labelFromVersion } from '../model/label.ts';
import { refused } from '../model/errors.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Planned } from './planned.ts';
import type { Registry } from '../registry/registry.ts';

/** The usual patterns of release tags. Those of one document of a repository come first. */
function patternsFor({ slug }: Pick<Coordinate, 'slug'>): string[] {
  return [`${slug}-v*`, `${slug}@*`, `${slug}/v*`, 'v*', 'r*', 'release-*', 'release/*', '*'];
}

/** Patterns of release tags, each with the tag of the highest version among those that it fits. */
function releasePatterns(
  tags: readonly string[],
  coordinate: Pick<Coordinate, 'slug'>,
): { pattern: string; newest: string }[] {
  return patternsFor(coordinate).flatMap((pattern) => {
    const matching = tags.filter((name) => matchesGlob(pattern, name));
    const releases = matching.flatMap((name, order) => {
      const label = labelFromTag(name, pattern) ?? '';
      return /^\d/.test(label) ? [{ name, label, order }] : [];
    });
    const newest = latestOf(releases, readerOf(releases));
    return newest === null || (pattern === '*' && releases.length < matching.length)
      ? []
      : [{ pattern, newest: newest.name }];
  });
}

/** The first of the patterns of a document's release tags, or null if no tag matches any. */
export function releasePattern(tags: readonly string[], coordinate: Pick<Coordinate, 'slug'>): string | null {
  return releasePatterns(tags, coordinate)[0]?.pattern ?? null;
}

/**
 * The pattern of the tags that name a document's releases: the first one whose newest release
 * contains the document, or else the first. Null: there are no such tags.
 */
export async function patternWithDocument(
  tags: readonly string[],
  coordinate: Pick<Coordinate, 'slug'>,
  contains: (tag: string) => Promise<boolean>,
): Promise<string | null> {
  const patterns = releasePatterns(tags, coordinate);
  if (patterns.length > 1) for (const { pattern, newest } of patterns) if (await contains(newest)) return pattern;
  return patterns[0]?.pattern ?? null;
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

/**
 * The label for a tag: its name without the `v` before a number, and without the pattern's text
 * before its first star (`payments-v*`) unless that text starts a number (`v1.*`).
 */
export function labelFromTag(name: string, pattern: string): string | null {
  const prefix = pattern.includes('*') ? pattern.slice(0, pattern.indexOf('*')) : '';
  const { length } = prefix.replace(/(?:^|(?<=[-/_@+]))v?\d[\d.]*$/, '');
  return labelFromVersion(name.slice(length).replace(/^v(?=\d)/, ''));
}

/**
 * The version to publish instead of the one in the document: undefined for the document's own, null
 * for none. Rejects with `refused` when the file that should contain it does not.
 */
export async function statedVersion(
  registry: Registry,
  snapshot: Snapshot,
  { version, coordinate }: Pick<Planned, 'version' | 'coordinate'>,
  signal?: AbortSignal,
): Promise<string | null | undefined> {
  if (version.from !== 'file') return version.from === 'next' ? null : undefined;
  const { path, pointer } = version;
  const [file] = await snapshot.read([path]);
  if (!file?.found) throw refused(`Cannot read the version from ${path}. ${file?.problem.message ?? ''}`.trim());
  const { bytes } = file;
  const { limits } = registry.config;
  const read = await registry.compiler.readVersion({ path, bytes, pointer }, limits, { org: coordinate.org, signal });
  if ('version' in read) return read.version;
  const { line, column, message } = read.problem;
  throw refused(`${path}:${line}:${column} ${message}`);
}
