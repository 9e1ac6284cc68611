import { posix } from 'node:path';
import { formatCoordinate, parseCoordinate, slugFrom, type Coordinate } from '../model/address.ts';
import { documentAt, type Repository } from '../model/connection.ts';
import { fillTemplate } from '../model/path-glob.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import type { Found } from './detect-documents.ts';
import { documentName } from './document-names.ts';
import type { Listed } from './list-documents.ts';
import type { Registry } from '../registry/registry.ts';
import type { Tell } from './settings-of.ts';

/**
 * The resource of each document, by path: what its entry in `stele.yaml` says; else the one that it was published to before; else a new one, whose slug comes
 * from its title or its path and is no other resource's. A file that moved takes its resource along. Two documents that one slug is given to are told, and
 * it is his who had it, else the first one's.
 */
export async function assignSlugs(
  registry: Registry,
  repository: Repository,
  found: readonly Found[],
  listed: ReadonlyMap<string, Listed>,
  tell: Tell,
): Promise<Map<string, Coordinate>> {
  const { org } = repository;
  const present = new Set(found.map(({ path }) => path));
  const chosen = new Map<string, Coordinate>();
  const takers = new Map<string, string>();
  const choose = (path: string, coordinate: Coordinate) => {
    chosen.set(path, coordinate);
    takers.set(formatCoordinate(coordinate), path);
  };
  const heldBy = ({ path }: Found) => documentAt(repository, path)?.resource ?? null;

  const rest: Found[] = [];
  const given: { document: Found; coordinate: Coordinate; entry: Listed['entry'] }[] = [];
  for (const document of found) {
    const { entry, taken } = listed.get(document.path) ?? { entry: null, taken: null };
    if (entry?.slug === undefined) {
      rest.push(document);
      continue;
    }
    const slug = taken === null ? entry.slug : slugFrom(fillTemplate(entry.slug, taken));
    if (slug !== null) given.push({ document, coordinate: { org, type: document.type, slug }, entry });
    else tell(entry.at, 'slug-none', `The slug ${JSON.stringify(entry.slug)} comes to nothing for ${document.path}.`);
  }
  const holds = ({ document, coordinate }: (typeof given)[number]) =>
    Number(heldBy(document) !== formatCoordinate(coordinate));
  given.sort((a, b) => holds(a) - holds(b) || (a.document.path < b.document.path ? -1 : 1));
  for (const { document, coordinate, entry } of given) {
    const taker = takers.get(formatCoordinate(coordinate));
    if (taker === undefined) choose(document.path, coordinate);
    else
      tell(
        entry.at,
        'slug-taken',
        `The slug ${coordinate.slug} of ${document.path} is given to ${taker} already; it is not published.`,
      );
  }

  for (const document of rest) {
    const before = parseCoordinate(heldBy(document) ?? '');
    if (before === null || before.coordinate.type !== document.type) continue;
    if (!takers.has(formatCoordinate(before.coordinate))) choose(document.path, before.coordinate);
  }
  const fresh = rest
    .filter(({ path }) => !chosen.has(path))
    .sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1));
  for (const document of fresh) {
    for (const slug of slugCandidates(document)) {
      const coordinate = { org, type: document.type, slug };
      if (takers.has(formatCoordinate(coordinate))) continue;
      if (!(await isFree(registry, repository, coordinate, document.path, present))) continue;
      choose(document.path, coordinate);
      break;
    }
  }
  return chosen;
}

function depth(path: string): number {
  return path.split('/').length;
}

/** Title, then title and path, then numbers: unique in the end, and the same for the same tree. */
function* slugCandidates({ path, title }: Found): Generator<string> {
  const stem = path.replace(documentName, '').replace(/\.(?:openapi|swagger|schema)$/i, '');
  const fromPath = slugFrom(stem) ?? slugFrom(posix.basename(stem)) ?? 'document';
  const base = (title === null ? null : slugFrom(title)) ?? fromPath;
  yield base;
  const both = slugFrom(`${base.slice(0, 30)} ${fromPath.slice(-30)}`);
  if (both !== null) yield both;
  for (let n = 2; n < 10_000; n++) yield `${base.slice(0, 56).replace(/-+$/, '')}-${n}`;
}

/**
 * Whether the name is nobody's, or this file's own (a crash came between its publish and the note of it), or that of a file of this repository
 * that is no longer there: the document has moved.
 */
async function isFree(
  registry: Registry,
  repository: Repository,
  coordinate: Coordinate,
  path: string,
  present: ReadonlySet<string>,
): Promise<boolean> {
  const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value;
  if (!resource) return true;
  const { connection } = resource;
  if (resource.deletedAt !== null || connection === null) return false;
  if (connection.repository !== repository.url || connection.branch !== repository.branch) return false;
  return connection.path === path || !present.has(connection.path);
}
