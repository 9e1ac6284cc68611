import { oneLine } from '../model/escape.ts';
import { formatCoordinate } from '../model/address.ts';
import { packParts, fileOfPlace, resourcesPerFile } from '../search/ranking/shards.js';
import { placeOf } from '../search/ranking/words.js';
import type { Indexed } from '../search/search.ts';
import { addressOf } from './pages/search-page.ts';
import type { Site } from './site.ts';

/** The files of the search index that browsers read where no server searches: JSON by path under `/search/`. */
export type SearchShards = ReturnType<typeof searchShards>;

/** About the characters of lines in one file. */
const chunkLength = 4_000;
const longestDescription = 160;

/**
 * Makes the files of an index of these resources (see `search/ranking/shards.js`). Resources are
 * numbered in the order of their creation, so that a new one changes few files.
 */
export function searchShards({ links }: Pick<Site, 'links'>, all: readonly Indexed[]) {
  const resources = all.filter(({ version }) => version !== null).toSorted(inOrder);
  const files = new Map<string, () => string>();
  const terms = collectTerms(resources);
  const places = [...terms.keys()].map(fileOfPlace).sort();
  const give = (path: string, make: () => unknown) => files.set(path, () => `${JSON.stringify(make())}\n`);

  give('index.json', () => ({ format: 2, places, resources: resources.length }));
  for (const [place, found] of terms) {
    give(`terms/${fileOfPlace(place)}.json`, () =>
      Object.fromEntries(
        [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([term, parts]) => [term, packParts(parts)]),
      ),
    );
  }
  const chunks = resources.map(({ entry }) => chunksOf(entry?.lines ?? []));
  for (let start = 0; start < resources.length; start += resourcesPerFile) {
    give(`resources/${start / resourcesPerFile}.json`, () =>
      resources
        .slice(start, start + resourcesPerFile)
        .map((indexed, index) => ({
          ...describe(links, indexed),
          chunks: chunks[start + index]!.map(({ first }) => first),
        })),
    );
  }
  for (const [number, parts] of chunks.entries())
    for (const [chunk, { lines }] of parts.entries()) give(`records/${number}-${chunk}.json`, () => lines);
  /** `find`: the text of a file, or null. */
  return { paths: () => [...files.keys()], find: (path: string): string | null => files.get(path)?.() ?? null };
}

interface NumberedPart {
  source: number;
  postings: Uint32Array;
  from: number;
  to: number;
}

function collectTerms(resources: readonly Indexed[]): Map<string, Map<string, NumberedPart[]>> {
  const places = new Map<string, Map<string, NumberedPart[]>>();
  for (const [source, { resourceEntry, entry }] of resources.entries()) {
    for (const { terms, starts, postings } of entry === null ? [resourceEntry] : [resourceEntry, entry]) {
      for (const [number, term] of terms.entries()) {
        const list = places.getOrInsertComputed(placeOf(term), () => new Map<string, NumberedPart[]>());
        const parts = list.getOrInsertComputed(term, () => []);
        parts.push({ source, postings, from: starts[number]!, to: starts[number + 1]! });
      }
    }
  }
  return places;
}

/** Lines in chunks of about the same length. `first`: the record of the first line. */
function chunksOf(lines: readonly string[]): { first: number; lines: string[] }[] {
  const chunks: { first: number; lines: string[] }[] = [];
  let left = 0;
  for (const [index, line] of lines.entries()) {
    if (left <= 0 || line.length > left) {
      chunks.push({ first: index + 1, lines: [] });
      left = chunkLength;
    }
    chunks.at(-1)!.lines.push(line);
    left -= line.length;
  }
  return chunks;
}

function describe(links: Site['links'], { coordinate, name, title, description, version }: Indexed) {
  return {
    coordinate: formatCoordinate(coordinate),
    type: coordinate.type,
    name,
    title,
    description: oneLine(description, longestDescription),
    version,
    url: addressOf({ links }, coordinate),
  };
}

function inOrder(a: Indexed, b: Indexed): number {
  return a.createdAt < b.createdAt ||
    (a.createdAt === b.createdAt && formatCoordinate(a.coordinate) < formatCoordinate(b.coordinate))
    ? -1
    : 1;
}
