import { formatCoordinate, parseCoordinate, slugFrom, type Coordinate } from '../model/address.ts';
import { documentAt, type Repository } from '../model/connection.ts';
import { fillTemplate } from '../model/glob.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import { type DetectedDocument, type Listed, documentName } from './find-documents.ts';
import type { Registry } from '../registry/registry.ts';
import type { AddProblem } from './settings-of.ts';
import { isGeneric } from './find-twins.ts';

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

/** From this length on, a slug is shortened to its first words. */
const longest = 40;
const longestJoined = 60;

// Folders that say where documents are kept. They are part of a slug only where nothing else is.
const places =
  /^(?:api|apis|contracts|definitions|docs|documentation|java|json|main|open-?api(?:-?\d+)*|packages|projects)$/;
const morePlaces = /^(?:public|resources|schemas?|services|spec|specifications?|specs|src|static|swagger|yaml|yml)$/;
// The usual names of a ruleset's file.
const linters = /^(?:redocly|rulesets?|spectral)$/;
// Words that a shortened title must not end with.
const open = /-(?:a|an|and|at|by|for|from|in|of|on|or|the|to|with)$/;

/**
 * Slugs for a new document, best first: its title, then the title and a folder or the file, then the
 * title and the repository, then numbers. Where the title names nothing (`OpenAPI definition`), the
 * file, its folder or the repository names the document. The same tree always gets the same slugs.
 * `repository`: its URL or path. `takerOf`: the path of the document that has a slug already.
 * `family`: the version in its path, where other versions of it have files of their own.
 */
export function* slugCandidates(
  document: DetectedDocument,
  repository: string,
  takerOf: (slug: string) => string | undefined,
  family: string | null = null,
): Generator<string> {
  const names = namesIn(document.path);
  const home = homeOf(repository);
  const base = baseSlug(document, repository);
  if (family !== null) yield `${base.slice(0, 62 - family.length).replace(/-+$/, '')}-${family}`;
  else yield base;
  // What distinguishes it from the document that has the slug comes first.
  const common = namesIn(takerOf(base) ?? '');
  const apart = names.filter((name) => !common.includes(name));
  const rest = [...names, ...(home === null || isGeneric(home) ? [] : [home])];
  for (const name of new Set([...apart, ...rest])) {
    if (isWithin(name, base)) continue;
    // Two long names together are no clearer than the second alone.
    yield isWithin(base, name) || base.length + name.length >= longestJoined ? name : `${base}-${name}`;
  }
  for (let number = 2; number < 10_000; number++) yield `${base.slice(0, 56).replace(/-+$/, '')}-${number}`;
}

/** The slug of a document that no other one wants: its title, or what else names it. */
function baseSlug(
  { path, title, version, type }: Pick<DetectedDocument, 'path' | 'title' | 'version' | 'type'>,
  repository: string,
): string {
  const titled = title === null ? null : titleSlug(title, version ?? null);
  return titled ?? namesIn(path)[0] ?? homeOf(repository) ?? nameless[type];
}

const versionText = 'v?\\d+(?:[._-]\\d+)*';
const versionAtEnd = new RegExp(`(?:^|[-_.])(${versionText})$`, 'i');
const wholeVersion = new RegExp(`^${versionText}$`, 'i');

/** The version at the end of a file's name (`payments-v2.yaml`), or its folder (`v2/openapi.yaml`), as a slug. */
function versionInPath(path: string): string | null {
  const [file, ...folders] = path.split('/').toReversed();
  const stem = file!.replace(/\.(?:json|ya?ml)$/i, '').replace(/\.(?:openapi|swagger|oas3?|schema)$/i, '');
  const version = versionAtEnd.exec(stem)?.[1] ?? folders.find((folder) => wholeVersion.test(folder));
  return version === undefined ? null : slugFrom(version);
}

const nameless = { apis: 'api', schemas: 'schema', rulesets: 'ruleset' } as const;

/** The repository's name as a slug, or null if it is a single letter, which says nothing. */
function homeOf(repository: string): string | null {
  const slug = slugFrom(repository.replace(/(?:\.git)?\/*$/, '').replace(/^.*[/:]/, ''));
  return slug !== null && slug.length > 1 ? slug : null;
}

/** The file and its folders as slugs, innermost first, without those that name nothing. */
function namesIn(path: string): string[] {
  const stem = path
    .replace(documentName, '')
    .replace(/[-_.](?:openapi|swagger|oas3?|schema|ruleset|spectral(?:\.[cm]?js)?|redocly)$/i, '');
  const slugs = stem.split('/').flatMap((name) => slugFrom(name) ?? []);
  const [file, ...folders] = slugs.toReversed();
  const named = folders.filter((name) => !places.test(name) && !morePlaces.test(name));
  const isNamed = file !== undefined && !isGeneric(file) && !linters.test(file);
  return [...(isNamed ? [file] : []), ...named];
}

/** A short slug from a title. Null when the title names nothing. */
function titleSlug(title: string, version: string | null): string | null {
  const isFull = version !== null && /^v?\d+\.\d/.test(version);
  const slug = slugFrom(isFull ? title.replaceAll(version, ' ') : title);
  if (slug === null || isGeneric(slug)) return null;
  const shortened = slug.replace(/-(?:openapi|swagger)(?:-(?:definition|document|specification|spec))?(?:-\d+)*$/, '');
  if (shortened.length <= longest) return shortened;
  // A subtitle goes first, then words at the end.
  const head = slugFrom(title.split(/\s[-–—|]\s|[:(,]/)[0]!);
  if (head !== null && head.length <= longest && !isGeneric(head)) return head;
  const cut = shortened.slice(0, longest + 1).replace(/-[^-]*$/, '');
  return closed(cut.slice(0, longest).replace(/-+$/, ''));
}

/** Whether the words of one slug are among those of another, one after the other. */
function isWithin(slug: string, other: string): boolean {
  return `-${other}-`.includes(`-${slug}-`);
}

function closed(slug: string): string {
  return open.test(slug) ? closed(slug.replace(open, '')) : slug;
}
