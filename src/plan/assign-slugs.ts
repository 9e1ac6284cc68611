import { formatCoordinate, parseCoordinate, slugFrom, type Coordinate } from '../model/address.ts';
import { documentAt, type Repository } from '../model/connection.ts';
import { fillTemplate } from '../model/path-glob.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import type { DetectedDocument } from './detect-documents.ts';
import type { Listed } from './list-documents.ts';
import type { Registry } from '../registry/registry.ts';
import { baseSlug, slugCandidates, versionInPath } from './slug-candidates.ts';
import type { AddProblem } from './settings-of.ts';

/**
 * Assigns a resource to each document, by path. A slug in `stele.yaml` comes first, then the
 * resource that the file was published to before, then a new one with the first unused candidate
 * (`slugCandidates`). A moved file keeps its resource. When two documents claim one slug, the
 * previous owner keeps it, or else the first; the other is reported.
 */
export async function assignSlugs(
  registry: Registry,
  repository: Repository,
  documents: readonly DetectedDocument[],
  listed: ReadonlyMap<string, Listed>,
  addProblem: AddProblem,
): Promise<Map<string, Coordinate>> {
  const { org } = repository;
  const present = new Set(documents.map(({ path }) => path));
  const chosen = new Map<string, Coordinate>();
  const takers = new Map<string, string>();
  const choose = (path: string, coordinate: Coordinate) => {
    chosen.set(path, coordinate);
    takers.set(formatCoordinate(coordinate), path);
  };
  const heldBy = ({ path }: DetectedDocument) => documentAt(repository, path)?.resource ?? null;

  const rest: DetectedDocument[] = [];
  const given: { document: DetectedDocument; coordinate: Coordinate; entry: Listed['entry'] }[] = [];
  for (const document of documents) {
    const { entry, captures } = listed.get(document.path) ?? { entry: null, captures: null };
    if (entry?.slug === undefined) {
      rest.push(document);
      continue;
    }
    const slug = captures === null ? entry.slug : slugFrom(fillTemplate(entry.slug, captures));
    if (slug !== null) given.push({ document, coordinate: { org, type: document.type, slug }, entry });
    else
      addProblem(
        entry.at,
        'slug-none',
        `No slug can be made from ${JSON.stringify(entry.slug)} for ${document.path}. Add an entry with a slug for this file.`,
      );
  }
  const holds = ({ document, coordinate }: (typeof given)[number]) =>
    Number(heldBy(document) !== formatCoordinate(coordinate));
  given.sort((a, b) => holds(a) - holds(b) || (a.document.path < b.document.path ? -1 : 1));
  for (const { document, coordinate, entry } of given) {
    const taker = takers.get(formatCoordinate(coordinate));
    if (taker === undefined) choose(document.path, coordinate);
    else
      addProblem(
        entry.at,
        'slug-taken',
        `${taker} already has the slug ${coordinate.slug}, so ${document.path} is not published. Give it another slug.`,
      );
  }

  for (const document of rest) {
    const before = parseCoordinate(heldBy(document) ?? '');
    if (before === null || before.coordinate.type !== document.type) continue;
    if (!takers.has(formatCoordinate(before.coordinate))) choose(document.path, before.coordinate);
  }
  const families = familiesIn(documents, repository);
  const fresh = rest
    .filter(({ path }) => !chosen.has(path))
    .sort((a, b) => depth(a.path) - depth(b.path) || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  for (const document of fresh) {
    const takerOf = (slug: string) => takers.get(formatCoordinate({ org, type: document.type, slug }));
    for (const slug of slugCandidates(document, repository.url, takerOf, families.get(document.path) ?? null)) {
      const coordinate = { org, type: document.type, slug };
      if (takers.has(formatCoordinate(coordinate))) continue;
      if (!(await isFree(registry, repository, coordinate, document.path, present))) continue;
      choose(document.path, coordinate);
      break;
    }
  }
  return chosen;
}

/**
 * The versions in the paths of documents that are versions of one API: `payments-v1.yaml` and
 * `payments-v2.yaml` with the same title. None of them gets the slug without a version: otherwise
 * the first file would get it.
 */
function familiesIn(documents: readonly DetectedDocument[], repository: Repository): Map<string, string> {
  const versions = new Map<string, string>();
  const alike = Map.groupBy(documents, (document) => `${document.type} ${baseSlug(document, repository.url)}`);
  for (const members of alike.values()) {
    const named = members.flatMap(({ path }) => {
      const version = versionInPath(path);
      return version === null ? [] : [[path, version] as const];
    });
    if (members.length < 2 || new Set(named.map(([, version]) => version)).size < named.length) continue;
    for (const [path, version] of named) versions.set(path, version);
  }
  return versions;
}

function depth(path: string): number {
  return path.split('/').length;
}

/**
 * Whether the document may take this name: nobody has it, this file has it (a crash came after the
 * publish), or the file that had it is gone from this repository, so the document has moved.
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
