import { posix } from 'node:path';
import { formatCoordinate, parseCoordinate, slugFrom, type Coordinate, type ResourceType } from '../model/address.ts';
import { documentAt, type OnConflict, type Repository } from '../model/connection.ts';
import { problemAtFile, type Problem, type Report } from '../model/problem.ts';
import { resourceRef, type Resource, type Validation, type Visibility } from '../model/resource.ts';
import type { Detected, Settings, SettingsResource } from '../compile/compile.ts';
import type { Snapshot, SnapshotEntry } from '../source/snapshot.ts';
import type { Registry } from './registry.ts';

/** A document of a repository, and the resource that it is published to. */
export interface Planned {
  path: string;
  coordinate: Coordinate;
  name: string;
  visibility: Visibility;
  ruleset: string | null;
  validation: Validation | null;
  onConflict: OnConflict;
  /** Glob of the tags that become its versions; null: the branch does. */
  tags: string | null;
}

/** What discovery makes of a repository's tree. */
export interface Plan {
  documents: Planned[];
  /** Files that may be documents and are not published: too large, kept elsewhere by Git LFS, or misnamed in `stele.yaml`. */
  unread: Problem[];
  /** Its `stele.yaml` did not pass; nothing is planned then. */
  refused: { path: string; report: Report } | null;
}

const documentName = /\.(?:json|ya?ml)$/i;
const passedOver =
  /(?:^|\/)(?:node_modules|\.git)\/|(?:^|\/)(?:package(?:-lock)?|composer|tsconfig[^/]*)\.json$|(?:^|\/)(?:pnpm-lock|stele)\.yaml$/;
const batchBytes = 32 * 1024 * 1024;

/**
 * Finds the documents of a repository: those that its `stele.yaml` names and, where it does not say otherwise, every other that is one
 * by its content. A document keeps the resource that it was published to before; a new one gets a slug from its title, else its
 * path, that no other resource of the organization has. A file that moved takes its resource along.
 */
export async function planDocuments(
  registry: Registry,
  repository: Repository,
  snapshot: Snapshot,
  signal?: AbortSignal,
): Promise<Plan> {
  const folder = repository.discover ?? '';
  const entries = (await snapshot.entries()).filter(({ path, kind }) => kind === 'file' && isWithin(path, folder));
  const read = await readSettings(registry, repository, snapshot, signal);
  if (read.refused) return { documents: [], unread: [], refused: read.refused };
  const settings = read.settings;
  const { listed, astray } = readListed(settings?.resources ?? [], folder);
  const ignored = (settings?.ignore ?? []).map((path) => posix.join(folder, path).replace(/\/$/, ''));
  const isIgnored = (path: string) => ignored.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  const searched = entries.filter(
    ({ path }) =>
      listed.has(path) ||
      ((settings?.discover ?? true) && documentName.test(path) && !passedOver.test(path) && !isIgnored(path)),
  );
  const { detected, unread } = await detectAll(registry, repository, snapshot, searched, signal);
  // A listed file that is no document by its content is planned all the same: its report says what is wrong with it.
  const known = new Set(detected.map(({ path }) => path));
  const unknown = [...listed].filter(([path]) => !known.has(path));
  const all = [
    ...detected,
    ...unknown.map(([path, { type }]) => ({ path, type: type ?? ('apis' as const), title: null })),
  ];
  const { documents, twice } = await assignSlugs(registry, repository, all, listed);
  return { documents, unread: [...unread, ...astray, ...twice], refused: null };
}

/** The documents that `stele.yaml` names, by path. A name that leads out of the followed folder is a problem. */
function readListed(
  resources: readonly SettingsResource[],
  folder: string,
): { listed: Map<string, SettingsResource>; astray: Problem[] } {
  const listed = new Map<string, SettingsResource>();
  const astray: Problem[] = [];
  for (const resource of resources) {
    const path = posix.join(folder, resource.path);
    if (isWithin(path, folder)) listed.set(path, resource);
    else
      astray.push(
        problemAtFile('path-outside-tree', path, 'stele.yaml names it, and it is not in the folder of that.'),
      );
  }
  return { listed, astray };
}

function isWithin(path: string, folder: string): boolean {
  return folder === '' ? path !== '..' && !path.startsWith('../') : path.startsWith(`${folder}/`);
}

async function readSettings(
  registry: Registry,
  { org, discover }: Repository,
  snapshot: Snapshot,
  signal: AbortSignal | undefined,
): Promise<{ settings: Settings | null; refused: Plan['refused'] }> {
  const path = posix.join(discover ?? '', 'stele.yaml');
  const [file] = await snapshot.read([path]);
  if (!file?.found) return { settings: null, refused: null };
  const { settings, report } = await registry.compiler.readSettings(file, registry.config.limits, signal, org);
  return settings === null ? { settings, refused: { path, report } } : { settings, refused: null };
}

/** Detection by content, in batches of bounded size. Known blobs are not looked at again. */
async function detectAll(
  registry: Registry,
  { org }: Repository,
  snapshot: Snapshot,
  entries: readonly SnapshotEntry[],
  signal: AbortSignal | undefined,
): Promise<{ detected: Found[]; unread: Problem[] }> {
  const unread: Problem[] = [];
  const found: Detected[] = [];
  let batch: { path: string; bytes: Uint8Array }[] = [];
  let size = 0;
  const flush = async () => {
    if (batch.length > 0) found.push(...(await registry.compiler.detect(batch, registry.config.limits, signal, org)));
    batch = [];
    size = 0;
  };
  for (let start = 0; start < entries.length; start += 500) {
    signal?.throwIfAborted();
    for (const file of await snapshot.read(entries.slice(start, start + 500).map(({ path }) => path))) {
      if (!file.found) {
        unread.push(file.problem);
        continue;
      }
      batch.push({ path: file.path, bytes: file.bytes });
      size += file.bytes.byteLength;
      if (size > batchBytes) await flush();
    }
  }
  await flush();
  return { detected: found, unread };
}

type Found = Pick<Detected, 'path' | 'type' | 'title'>;

async function assignSlugs(
  registry: Registry,
  repository: Repository,
  found: readonly Found[],
  listed: ReadonlyMap<string, SettingsResource>,
): Promise<{ documents: Planned[]; twice: Problem[] }> {
  const twice: Problem[] = [];
  const present = new Set(found.map(({ path }) => path));
  const taken = new Set<string>();
  const chosen = new Map<string, Coordinate>();
  const choose = (path: string, coordinate: Coordinate) => {
    chosen.set(path, coordinate);
    taken.add(formatCoordinate(coordinate));
  };
  const typeOf = ({ path, type }: Found): ResourceType => listed.get(path)?.type ?? type;

  for (const document of found) {
    const slug = listed.get(document.path)?.slug;
    if (slug === undefined) continue;
    const coordinate = { org: repository.org, type: typeOf(document), slug };
    if (!taken.has(formatCoordinate(coordinate))) choose(document.path, coordinate);
    else
      twice.push(problemAtFile('slug-taken', document.path, `stele.yaml gives the slug ${slug} to another file, too.`));
  }
  const named = found.filter(({ path }) => !twice.some(({ file }) => file === path));
  for (const document of named) {
    const known = documentAt(repository, document.path);
    const before = known && parseCoordinate(known.resource);
    if (before === null || chosen.has(document.path) || before.coordinate.type !== typeOf(document)) continue;
    if (!taken.has(formatCoordinate(before.coordinate))) choose(document.path, before.coordinate);
  }
  const rest = named
    .filter(({ path }) => !chosen.has(path))
    .sort((a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1));
  for (const document of rest) {
    for (const slug of slugCandidates(document)) {
      const coordinate = { org: repository.org, type: typeOf(document), slug };
      if (
        taken.has(formatCoordinate(coordinate)) ||
        !(await isFree(registry, repository, coordinate, document.path, present))
      )
        continue;
      choose(document.path, coordinate);
      break;
    }
  }
  const documents = named
    .flatMap((document): Planned[] => {
      const given = listed.get(document.path);
      const coordinate = chosen.get(document.path);
      if (coordinate === undefined) return [];
      return [
        {
          path: document.path,
          coordinate,
          name: given?.name ?? nameFrom(document, coordinate),
          visibility: given?.visibility ?? repository.visibility,
          ruleset: given?.ruleset ?? null,
          validation: given?.validation ?? repository.validation,
          onConflict: given?.onConflict ?? 'revise',
          tags: given?.tags ?? null,
        },
      ];
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return { documents, twice };
}

function nameFrom({ title }: Found, { slug }: Coordinate): string {
  return title?.trim().slice(0, 200) || slug;
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
