import type { Detected, SettingsSite } from '../compile/sandboxes.ts';
import type { Coordinate } from '../model/address.ts';
import { insteadOf } from '../model/errors.ts';
import { createReport, type Problem, type Report } from '../model/problem.ts';
import { filesOf, type Snapshot, type SnapshotEntry } from '../source/snapshot.ts';
import { applySettings, keptByRegistry } from './apply-settings.ts';
import type { Planned } from './planned.ts';
import { assignSlugs } from './assign-slugs.ts';
import {
  detectDocuments,
  type DetectedDocument,
  createSearched,
  isInFolder,
  listDocuments,
  type Listed,
} from './find-documents.ts';
import { lockedFiles, readLocks, type Lock } from './locked-files.ts';
import { findTwins } from './find-twins.ts';
import { readIgnores } from './ignore-file.ts';
import { findResource } from '../registry/lives.ts';
import { remoteOf } from '../registry/remote.ts';
import { patternWithDocument } from './release-tags.ts';
import { readSettingsOf, type AddProblem, type Reading } from './settings-of.ts';

/** Where git hosts look for the file. The first that is there counts. */
const places = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'];

const maxBytes = 100_000;
/** The most lines that are tried, the last ones. */
const maxLines = 200;
const longestOwner = 100;

/**
 * The owners that a repository's CODEOWNERS names for these files: `@acme/payments`. As on git hosts, the last line that
 * matches counts, and of its owners the first is taken. An address of a person is none, since owners are published.
 */
export async function codeOwnersOf(
  { registry, repository: { org }, snapshot, signal }: Reading,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  const there = new Set((await snapshot.entries()).map(({ path }) => path));
  const place = places.find((each) => there.has(each));
  const [file] = place === undefined ? [] : await snapshot.read([place]);
  if (!file?.found || file.bytes.length > maxBytes) return owners;
  let left = [...paths];
  for (const { pattern, owner } of linesOf(new TextDecoder().decode(file.bytes))) {
    if (left.length === 0) break;
    // One by one: where a folder matches, gitignore's rules look at no later pattern, and those of CODEOWNERS do.
    const matched = await registry.compiler.ignored([pattern], left, registry.config.limits, { org, signal });
    if (matched === null) break;
    if (owner !== null) for (const [at, path] of left.entries()) if (matched[at] === 0) owners.set(path, owner);
    left = left.filter((_, at) => matched[at] !== 0);
  }
  return owners;
}

/** The patterns with their owners, the last first. Null: the line says that nobody owns it. */
function linesOf(text: string): { pattern: string; owner: string | null }[] {
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [pattern = '', ...named] = line
      .replace(/(?:^|\s)#.*$/, '')
      .trim()
      .split(/\s+/);
    // Sections are of GitLab, and say who must approve.
    if (pattern === '' || /^[[^!]/.test(pattern)) return [];
    return [{ pattern, owner: named.find((each) => each.startsWith('@') && each.length <= longestOwner) ?? null }];
  });
  return lines.slice(-maxLines).reverse();
}

/** A file that is not published. */
export interface Skipped {
  path: string;
  /** Why, in words that complete "it is …". */
  reason: string;
}

/** The documents of a repository at one commit. */
export interface Plan {
  documents: Planned[];
  /** The version in each document that states one, by path. */
  versions: ReadonlyMap<string, string>;
  /** Every file that was searched. */
  searched: ReadonlySet<string>;
  /** What discovery passed over: files that may be documents, which were not read, and documents. */
  skipped: Skipped[];
  /** Files that may be documents but cannot be read: too large, or stored in Git LFS. */
  unread: Problem[];
  locks: Lock[];
  /** Problems in `stele.yaml`. */
  settings: { path: string; report: Report; sites?: readonly SettingsSite[] };
  /** Whether `stele.yaml` is invalid. Nothing is planned then. */
  isRefused: boolean;
}

/**
 * Finds the documents of a repository: those listed in `stele.yaml` and, unless it disables
 * discovery, all others that a person would publish. `published`: paths of documents that are
 * published already. They stay, unless `stele.yaml` or `.steleignore` excludes them.
 */
export async function planDocuments(reading: Reading, published: ReadonlySet<string> = new Set()): Promise<Plan> {
  const { registry, repository, snapshot } = reading;
  const folder = repository.discover ?? '';
  const file = await readSettingsOf(reading);
  const { path, settings, addProblem } = file;
  if (file.isRefused) return refused(path, file.report());
  const entries = (await snapshot.entries()).filter((entry) => isInFolder(entry.path, folder));
  const isDiscovering = settings?.discover ?? true;
  const isSearched = createSearched(folder, settings);
  const candidates = entries.filter((entry) => isSearched(entry.path));
  const ignores = await readIgnores(reading, pathsOf(candidates), isDiscovering);
  if (ignores.problem !== null) return refused(ignores.problem.file, createReport([ignores.problem]));
  const searched = candidates.filter((entry) => !ignores.byFile.has(entry.path));
  const listed =
    settings === null ? new Map<string, Listed>() : await listDocuments(reading, settings, searched, addProblem);
  const locks = await readLocks(snapshot, pathsOf(entries));
  const lockedAs = lockedFiles(locks);
  const skipped: Skipped[] = [];
  const listedFiles = new Set([...listed.values()].map(({ file: each }) => each));
  const isRead = (each: string): boolean => {
    if (listedFiles.has(each)) return true;
    if (!isDiscovering || !isSearched(each)) return false;
    const isNew = !published.has(each);
    const reason = (isNew ? ignores.byDefault : ignores.byFile).get(each) ?? (isNew ? lockedAs(each) : null);
    if (reason !== null) skipped.push({ path: each, reason });
    return reason === null;
  };
  const paths = pathsOf(entries).filter(isRead);
  const { detected, unread } = await detectDocuments(reading, paths);
  const isKept = (each: string) => listedFiles.has(each) || published.has(each);
  const chosen = withoutDoubles(detected, filesOf(entries), isKept, skipped);
  const chosenAndListed = withListed(chosen, listed, addProblem);
  const coordinates = await assignSlugs(registry, repository, chosenAndListed, listed, addProblem);
  const releaseOf = repository.versions === 'tags' ? await openReleases(reading) : noRelease;
  const filesRead = chosenAndListed.map((each) => listed.get(each.path)?.file ?? each.path);
  const codeOwners = await codeOwnersOf(reading, [...new Set(filesRead)]);
  const documents: Planned[] = [];
  for (const document of chosenAndListed) {
    const coordinate = coordinates.get(document.path);
    if (coordinate === undefined) continue;
    const entry = listed.get(document.path) ?? null;
    const resource = await findResource(registry, coordinate);
    documents.push(
      applySettings(
        repository,
        document,
        coordinate,
        entry,
        file,
        resource,
        await releaseOf({ path: entry?.file ?? document.path }, coordinate),
        codeOwners.get(entry?.file ?? document.path) ?? null,
      ),
    );
    const isOurs = resource?.connection?.repository === repository.url;
    const differences = isOurs ? keptByRegistry(coordinate, entry, file, resource) : null;
    if (differences !== null)
      addProblem(entry?.entry.at ?? settings!.defaults.at, 'settings-kept', differences, 'info');
  }
  await bringVersionFiles(snapshot, documents);
  documents.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    documents,
    versions: new Map(detected.flatMap((each) => (each.version === null ? [] : [[each.path, each.version] as const]))),
    searched: new Set(paths),
    skipped,
    unread,
    locks,
    settings: { path, report: file.report(), ...(settings?.sites && { sites: settings.sites }) },
    isRefused: false,
  };
}

type ReleaseOf = (document: Pick<DetectedDocument, 'path'>, coordinate: Coordinate) => Promise<string | null>;

const noRelease: ReleaseOf = async () => null;

/**
 * Finds the pattern of the release tags of each document. Rejects with `unreachable`: without knowing
 * the tags, the branch must not be published instead.
 */
async function openReleases({ registry, repository, signal }: Reading): Promise<ReleaseOf> {
  const remote = await remoteOf(registry, repository);
  const tags = await registry.source.tags(remote, signal);
  const names = tags.map(({ name }) => name);
  const opened = new Map<string, Promise<ReadonlySet<string>>>();
  const pathsAt = (tag: string): Promise<ReadonlySet<string>> => {
    const { commit } = tags.find(({ name }) => name === tag)!;
    const read = async () => new Set(pathsOf(await (await registry.source.snapshot(remote, commit, signal)).entries()));
    // None where the tag names no commit.
    return opened.getOrInsertComputed(commit, () => read().catch(insteadOf('refused', new Set<string>())));
  };
  return ({ path }, coordinate) =>
    patternWithDocument(names, coordinate, async (tag) => (await pathsAt(tag)).has(path));
}

function refused(path: string, report: Report): Plan {
  const nothing = {
    documents: [],
    versions: new Map(),
    searched: new Set<string>(),
    skipped: [],
    unread: [],
    locks: [],
  };
  return { ...nothing, settings: { path, report }, isRefused: true };
}

function pathsOf(entries: readonly SnapshotEntry[]): string[] {
  return entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : []));
}

/** Leaves out templates, and all files of an API but one. `isKept`: files that stay in any case. */
function withoutDoubles(
  detected: readonly Detected[],
  blobs: ReadonlyMap<string, string>,
  isKept: (path: string) => boolean,
  skipped: Skipped[],
): Detected[] {
  const isLeftOut = ({ path, isTemplate }: Detected) => isTemplate && !isKept(path);
  const [templates, documents] = [detected.filter(isLeftOut), detected.filter((each) => !isLeftOut(each))];
  const twins = findTwins(documents, blobs, isKept);
  skipped.push(...templates.map(({ path }) => ({ path, reason: 'a template' })));
  skipped.push(...Array.from(twins, ([path, of]) => ({ path, reason: `the same document as ${of}` })));
  return documents.filter(({ path }) => !twins.has(path));
}

/**
 * Combines the detected documents with the listed ones. A file that is listed by name or with a
 * type is planned even when its content is not a document, so that its report says what is wrong.
 * Other patterns select only documents.
 */
function withListed(
  detected: readonly DetectedDocument[],
  listed: Map<string, Listed>,
  addProblem: AddProblem,
): DetectedDocument[] {
  const detectedAt = new Map(detected.map((document) => [document.path, document]));
  // A file of which only views are listed is not published itself.
  const byPath = new Map(detectedAt);
  for (const { file } of listed.values()) if (!listed.has(file)) byPath.delete(file);
  const barren = new Map<Listed['entry'], number>();
  for (const [path, { entry, file, captures }] of listed) {
    const document = detectedAt.get(file);
    if (document !== undefined || captures === null || entry.type !== undefined) {
      byPath.set(path, { title: null, ...document, path, type: entry.type ?? document?.type ?? 'apis' });
      barren.set(entry, Number.NEGATIVE_INFINITY);
    } else barren.set(entry, (barren.get(entry) ?? 0) + 1);
  }
  for (const [entry, count] of barren) {
    if (count <= 0) continue;
    const files = count === 1 ? '1 file, but it is not a document' : `${count} files, but none of them is a document`;
    const message = `${JSON.stringify(entry.path)} matches ${files}. Set type to publish ${count === 1 ? 'it' : 'them'} anyway.`;
    addProblem(entry.at, 'path-unmatched', message);
  }
  return [...byPath.values()];
}

/** Reads all files that contain versions in one batch. Each is read again later, then from memory. */
async function bringVersionFiles(snapshot: Snapshot, documents: readonly Planned[]): Promise<void> {
  const paths = new Set(documents.flatMap(({ version }) => (version.from === 'file' ? [version.path] : [])));
  if (paths.size > 1) await snapshot.read([...paths]);
}
