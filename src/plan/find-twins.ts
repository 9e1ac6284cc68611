import { slugFrom } from '../model/address.ts';
import { posix } from 'node:path';
import type { Detected } from '../compile/sandboxes.ts';
import { documentName } from './find-documents.ts';

// Words that say that a document is a document. Generators write them when nobody gave a title.
const words = new Set(
  [
    'api apis app application http json my new rest restful service the untitled web',
    'contract contracts definition definitions description doc docs document documentation generated',
    'index interface main openapi reference root schema schemas spec specification specs swagger title',
  ].flatMap((line) => line.split(' ')),
);

/** Whether a title names no API in particular: `OpenAPI definition`, `API v1`. */
export function isGenericTitle(title: string): boolean {
  return isGeneric(slugFrom(title) ?? '');
}

/** Whether a slug is made of such words, versions and numbers alone. */
export function isGeneric(slug: string): boolean {
  return slug.split('-').every((word) => words.has(word) || /^v?\d*$/.test(word));
}

/** Titles are compared up to this length. */
const longestTitle = 500;

/** A document that discovery found. */
export type Twin = Pick<Detected, 'path' | 'type' | 'title' | 'version' | 'paths' | 'shape'>;

/**
 * Finds files that are the same document as another one, and returns which: path → path of the file
 * that is published. Two files are the same document when
 *
 * - their content is the same,
 * - they differ in their ending alone, and have the same title: `a.yaml`, `a.json`,
 * - they are APIs with the same title, version and paths, or
 * - they are APIs in one folder with the same title and version, and a path in common, or one of
 *   them has no paths.
 *
 * Files that are `kept` are published in any case. Of others, YAML comes before JSON, then the file
 * in fewer folders, then the shorter path. `blobs`: blob ids by path.
 */
export function findTwins(
  documents: readonly Twin[],
  blobs: ReadonlyMap<string, string>,
  isKept: (path: string) => boolean,
): Map<string, string> {
  const published = new Map<string, string>();
  const twins = new Map<string, string>();
  const rank = ({ path, shape }: Twin) => [
    isKept(path) ? 0 : 1,
    shape === null ? 1 : 0,
    /\.json$/i.test(path) ? 1 : 0,
    path.split('/').length,
    path.length,
  ];
  const ranked = documents.map((document) => ({ document, rank: rank(document) }));
  const byRank = (a: number[], b: number[]) => a.map((value, at) => value - b[at]!).find((less) => less !== 0) ?? 0;
  ranked.sort((a, b) => byRank(a.rank, b.rank) || (a.document.path < b.document.path ? -1 : 1));
  for (const { document } of ranked) {
    const { marks, also } = marksOf(document, blobs.get(document.path));
    const of = isKept(document.path) ? undefined : marks.map((mark) => published.get(mark)).find((path) => path);
    if (of !== undefined) twins.set(document.path, of);
    else for (const mark of [...marks, ...also]) if (!published.has(mark)) published.set(mark, document.path);
  }
  return twins;
}

/** A document is the same as a published one that has one of its `marks`, among its own `marks` or `also`. */
function marksOf(
  { path, type, title, version, paths, shape }: Twin,
  blob: string | undefined,
): { marks: string[]; also: string[] } {
  // The marks of a document repeat its title, which may be as long as the document.
  const name = title === null ? null : title.trim().slice(0, longestTitle);
  const marks = [markOf('ending', type, path.replace(documentName, ''), name)];
  const also: string[] = [];
  if (blob !== undefined) marks.push(markOf('content', type, blob));
  if (type === 'apis' && name !== null) {
    const inFolder = (common: string) => markOf('folder', posix.dirname(path), name, version, common);
    if (shape !== null && !isGenericTitle(name)) marks.push(markOf('paths', name, version, shape));
    marks.push(...paths.map(inFolder));
    (shape === null ? marks : also).push(inFolder(''));
  }
  return { marks, also };
}

function markOf(...parts: readonly (string | null)[]): string {
  return JSON.stringify(parts);
}

/** The share of lines that two texts have in common, of the longer one. */
export function shareOf(one: string, other: string): number {
  const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '');
  const [own, old] = [lines(one), lines(other)];
  const left = new Map<string, number>();
  for (const line of old) left.set(line, (left.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of own) {
    const count = left.get(line) ?? 0;
    if (count === 0) continue;
    left.set(line, count - 1);
    common++;
  }
  return common / Math.max(own.length, old.length, 1);
}
