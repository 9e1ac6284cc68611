import { posix } from 'node:path';
import type { SettingsDefaults, SettingsResource, RepositoryReader } from '../../compile/repository-reader.ts';
import type { Config } from '../../config.ts';
import { RegistryError } from '../../model/errors.ts';
import { createPathGlob, isPathGlob } from '../../model/path-glob.ts';
import type { Snapshot } from '../../source/snapshot.ts';
import { formatReport } from '../output.ts';

/**
 * The settings for a file in the nearest `stele.yaml`: beside it or in a folder above. Null if it
 * has none. An entry that names the file wins over patterns, then the first pattern (as in `plan/`).
 * Throws `refused` for an invalid `stele.yaml`.
 */
export async function settingsFor(
  compiler: RepositoryReader,
  { limits }: Config,
  snapshot: Snapshot,
  entry: string,
): Promise<(SettingsDefaults & Pick<SettingsResource, 'exemptions'>) | null> {
  const settingsFile = (await snapshot.read(foldersOf(entry).map((folder) => posix.join(folder, 'stele.yaml')))).find(
    (file) => file.found,
  );
  if (settingsFile === undefined) return null;
  const { settings, report } = await compiler.readSettings(settingsFile, limits);
  if (settings === null)
    throw new RegistryError('refused', `${settingsFile.path} is not valid:\n${formatReport(report)}`);
  const path = posix.relative(posix.dirname(settingsFile.path), entry);
  const named = settings.resources.find((one) => !isPathGlob(one.path) && posix.normalize(one.path) === path);
  const matches = (one: SettingsResource) =>
    isPathGlob(one.path) && createPathGlob(posix.normalize(one.path))(path) !== null;
  return { ...settings.defaults, ...(named ?? settings.resources.find(matches)) };
}

/** The folders that a file is in, the nearest first. */
function foldersOf(path: string): string[] {
  const parent = posix.dirname(path);
  return parent === '.' ? [''] : [parent, ...foldersOf(parent)];
}
