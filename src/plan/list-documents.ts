import { posix } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Settings, SettingsResource } from '../compile/compile.ts';
import { createPathGlob, isPathGlob } from '../model/path-glob.ts';
import type { Snapshot, SnapshotEntry } from '../source/snapshot.ts';
import { createSearched, isWithin } from './document-names.ts';
import type { Tell } from './settings-of.ts';

/** A file that an entry of `stele.yaml` takes. */
export interface Listed {
  entry: SettingsResource;
  /** What each star of the entry's pattern took; null where it names the file itself. */
  taken: readonly string[] | null;
}

/** One pattern takes no more files. */
const mostMatches = 1000;

/**
 * The files that the entries of `stele.yaml` take, by path: each belongs to the entry that names it, else to the first whose pattern takes it. An entry that
 * takes nothing, or what cannot be read, is told; the others go on.
 */
export async function listDocuments(
  settings: Settings,
  folder: string,
  snapshot: Snapshot,
  tell: Tell,
  signal?: AbortSignal,
): Promise<Map<string, Listed>> {
  const entries = await snapshot.entries();
  const listed = await listNamed(settings, folder, snapshot, entries, tell);
  const isSearched = createSearched(folder, settings);
  const patterns = settings.resources.filter(({ path }) => isPathGlob(path));
  const searched =
    patterns.length === 0 ? [] : entries.filter(({ path }) => isWithin(path, folder) && isSearched(path));
  for (const entry of patterns) {
    // A tree has many names, and there is other work.
    await turn();
    signal?.throwIfAborted();
    const matched = matchAll(entry, folder, searched);
    const quoted = JSON.stringify(entry.path);
    if (matched.length === 0) tell(entry.at, 'path-unmatched', `${quoted} takes no file.`);
    if (matched.length > mostMatches) {
      tell(entry.at, 'path-too-many', `${quoted} takes ${matched.length} files; the limit is ${mostMatches}.`);
      continue;
    }
    for (const { path, kind, taken } of matched) {
      const what = kind === 'symlink' ? 'a symbolic link; links are not followed' : 'a submodule';
      if (kind !== 'file') tell(entry.at, kind, `${quoted} takes ${path}, which is ${what}.`);
      else if (!listed.has(path)) listed.set(path, { entry, taken });
    }
  }
  return listed;
}

function matchAll(
  { path: pattern }: SettingsResource,
  folder: string,
  searched: readonly SnapshotEntry[],
): (SnapshotEntry & { taken: string[] })[] {
  const match = createPathGlob(posix.normalize(pattern));
  const from = folder === '' ? 0 : folder.length + 1;
  return searched.flatMap((found) => {
    const taken = match(found.path.slice(from));
    return taken === null ? [] : [{ ...found, taken }];
  });
}

async function listNamed(
  settings: Settings,
  folder: string,
  snapshot: Snapshot,
  entries: readonly SnapshotEntry[],
  tell: Tell,
): Promise<Map<string, Listed>> {
  const files = new Set(entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : [])));
  const listed = new Map<string, Listed>();
  const absent: { path: string; entry: SettingsResource }[] = [];
  for (const entry of settings.resources.filter(({ path }) => !isPathGlob(path))) {
    const path = posix.join(folder, entry.path);
    const quoted = JSON.stringify(entry.path);
    if (!isWithin(path, folder)) tell(entry.at, 'path-outside-tree', `${quoted} is not in the followed folder.`);
    else if (listed.has(path)) tell(entry.at, 'path-listed-twice', `${quoted} has an entry already.`);
    else if (files.has(path)) listed.set(path, { entry, taken: null });
    else absent.push({ path, entry });
  }
  for (const [index, file] of (await snapshot.read(absent.map(({ path }) => path))).entries()) {
    const { entry } = absent[index]!;
    const { rule, message } = file.found ? { rule: 'file-missing', message: 'There is no such file.' } : file.problem;
    tell(entry.at, rule, `${JSON.stringify(entry.path)}: ${message}`);
  }
  return listed;
}
