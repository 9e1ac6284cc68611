import { posix } from 'node:path';
import type { Settings, SettingsResource, Detected } from '../compile/sandboxes.ts';
import { kindOfModule } from '../model/kinds.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { createPathGlob, fillTemplate, isPathGlob } from '../model/glob.ts';
import { viewPath } from '../model/artifact.ts';
import { filesOf, type Snapshot, type SnapshotEntry } from '../source/snapshot.ts';
import type { AddProblem, Reading } from './settings-of.ts';
import type { Problem } from '../model/problem.ts';

/** Whether a file name has the extension of a document. */
export const documentName = /\.(?:json|ya?ml)$/i;

// Files of well-known tools. They are never documents, so discovery does not mention them.
const ofTools =
  /(?:^|\/)(?:node_modules|\.git)\/|(?:^|\/)(?:package(?:-lock)?|composer|tsconfig[^/]*)\.json$|(?:^|\/)(?:pnpm-lock|stele)\.yaml$/;

/** The longest path of a document, in UTF-16 code units. No file system can check out longer ones. */
const longestPath = 4096;

/**
 * Creates a filter for the paths that patterns and discovery search: documents by name, except
 * those that `ignore` in `stele.yaml` excludes.
 */
export function createSearched(folder: string, settings: Settings | null): (path: string) => boolean {
  const ignored = new Set((settings?.ignore ?? []).map((path) => posix.join(folder, path).replace(/\/$/, '')));
  const isIgnored = (path: string): boolean =>
    path !== '.' && path !== '/' && (ignored.has(path) || isIgnored(posix.dirname(path)));
  return (path) =>
    (documentName.test(path) || kindOfModule(path) !== null) &&
    path.length <= longestPath &&
    !ofTools.test(path) &&
    (ignored.size === 0 || !isIgnored(path));
}

/** Whether a path is in the followed folder. */
export function isInFolder(path: string, folder: string): boolean {
  return folder === '' ? path !== '..' && !path.startsWith('../') : path.startsWith(`${folder}/`);
}

/** A file that an entry of `stele.yaml` selects. */
export interface Listed {
  entry: SettingsResource;
  file: string;
  /** What each star of the entry's pattern matched. Null when the entry names the file itself. */
  captures: readonly string[] | null;
}

const maxMatches = 1000;

/**
 * The files that `stele.yaml` selects, by path, and views of them by `viewPath`. A file belongs to the entry that names it, or else
 * to the first pattern that matches it. Entries that match nothing or cannot be read are reported;
 * the others still apply. `searched`: the entries that patterns may match.
 */
export async function listDocuments(
  { repository, snapshot, signal }: Reading,
  settings: Settings,
  searched: readonly SnapshotEntry[],
  addProblem: AddProblem,
): Promise<Map<string, Listed>> {
  const folder = repository.discover ?? '';
  const listed = await listNamed(settings, folder, snapshot, addProblem);
  const patterns = settings.resources.filter(({ path }) => isPathGlob(path));
  for (const entry of patterns) {
    // A tree can have many names. Let other work run in between.
    await turn();
    signal?.throwIfAborted();
    const matched = matchAll(entry, folder, searched);
    const quoted = JSON.stringify(entry.path);
    if (matched.length === 0) addProblem(entry.at, 'path-unmatched', `${quoted} matches no file.`);
    if (matched.length > maxMatches) {
      addProblem(entry.at, 'path-too-many', `${quoted} matches ${matched.length} files; the limit is ${maxMatches}.`);
      continue;
    }
    for (const { path, kind, captures } of matched) {
      const what = kind === 'symlink' ? 'a symbolic link; links are not followed' : 'a submodule';
      if (kind !== 'file') addProblem(entry.at, kind, `${quoted} matches ${path}, which is ${what}.`);
      else if (!listed.has(placeOf(entry, path, captures)))
        listed.set(placeOf(entry, path, captures), { entry, file: path, captures });
    }
  }
  return listed;
}

/** Where a document of an entry is among those of the repository. */
function placeOf(
  { overlays, audience, slug = '' }: SettingsResource,
  path: string,
  captures: readonly string[],
): string {
  return (overlays ?? audience) === undefined ? path : viewPath(path, fillTemplate(slug, captures));
}

function matchAll(
  { path: pattern }: SettingsResource,
  folder: string,
  searched: readonly SnapshotEntry[],
): (SnapshotEntry & { captures: string[] })[] {
  const match = createPathGlob(posix.normalize(pattern));
  const from = folder === '' ? 0 : folder.length + 1;
  return searched.flatMap((file) => {
    const captures = match(file.path.slice(from));
    return captures === null ? [] : [{ ...file, captures }];
  });
}

async function listNamed(
  settings: Settings,
  folder: string,
  snapshot: Snapshot,
  addProblem: AddProblem,
): Promise<Map<string, Listed>> {
  const files = filesOf(await snapshot.entries());
  const listed = new Map<string, Listed>();
  const absent: { path: string; entry: SettingsResource }[] = [];
  for (const entry of settings.resources.filter(({ path }) => !isPathGlob(path))) {
    const path = posix.join(folder, entry.path);
    const quoted = JSON.stringify(entry.path);
    if (!isInFolder(path, folder))
      addProblem(entry.at, 'path-outside-tree', `${quoted} is not in the followed folder.`);
    else if (listed.has(placeOf(entry, path, [])))
      addProblem(entry.at, 'path-listed-twice', `${quoted} is listed twice.`);
    else if (files.has(path)) listed.set(placeOf(entry, path, []), { entry, file: path, captures: null });
    else absent.push({ path, entry });
  }
  for (const [index, file] of (await snapshot.read(absent.map(({ path }) => path))).entries()) {
    const { entry } = absent[index]!;
    const { rule, message } = file.found ? { rule: 'file-missing', message: 'There is no such file.' } : file.problem;
    addProblem(entry.at, rule, `${JSON.stringify(entry.path)}: ${message}`);
  }
  return listed;
}

/** A document that was found in a repository. */
export type DetectedDocument = Pick<Detected, 'path' | 'type' | 'title'> & Partial<Pick<Detected, 'version'>>;

const filesAtOnce = 500;

/** Finds the files that are documents by their content. `unread`: files that cannot be read. */
export async function detectDocuments(
  { registry, repository: { org }, snapshot, signal }: Reading,
  paths: readonly string[],
): Promise<{ detected: Detected[]; unread: Problem[] }> {
  const unread: Problem[] = [];
  const detected: Detected[] = [];
  for (let start = 0; start < paths.length; start += filesAtOnce) {
    signal?.throwIfAborted();
    const files = await snapshot.read(paths.slice(start, start + filesAtOnce));
    unread.push(...files.flatMap((file) => (file.found ? [] : [file.problem])));
    const found = files.flatMap((file) => (file.found ? [{ path: file.path, bytes: file.bytes }] : []));
    detected.push(...(await registry.compiler.detect(found, registry.config.limits, { org, signal })));
  }
  return { detected, unread };
}
