import { digestOf, hexOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { lockName, type LockedContract } from '../../model/lock.ts';
import { maxDocumentBytes } from './contract-source.ts';
import type { OpenLock } from './open-lock.ts';
import { readTreeFile } from './tree-files.ts';

/** Whether the file of an entry has the locked bytes. `endings`: apart from its line endings. */
export type FileState = 'ok' | 'missing' | 'edited' | 'endings';

/** The file of an entry as it is now. */
export async function stateOf({ folder }: OpenLock, { path, sha256 }: LockedContract): Promise<FileState> {
  const bytes = await readTreeFile(folder, path, maxDocumentBytes);
  if (bytes === null) return 'missing';
  if (hexOf(digestOf(bytes)) === sha256) return 'ok';
  const unix = Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  return hexOf(digestOf(unix)) === sha256 ? 'endings' : 'edited';
}

/** What is wrong with a file, and what to do. */
export function describeState(state: Exclude<FileState, 'ok'>, { path, contract, version }: LockedContract): string {
  const name = `${contract}@${version}`;
  if (state === 'missing') return `${path} is missing. Run stele install without --frozen, and commit the file.`;
  if (state === 'endings')
    return `${path} has other line endings than ${name}. Add the line "${path} -text" to .gitattributes, delete the file, and run stele install.`;
  return `${path} was edited by hand: it is not ${name}. To have that back, delete the file and run stele install; to keep the edits, run stele remove ${path} --keep.`;
}

/**
 * Throws `refused` if the file at a path would be lost: it has neither the bytes of its entry nor, where
 * `next` says so, those that come now.
 */
export async function assertReplaceable(
  lock: OpenLock,
  path: string,
  entry: LockedContract | undefined,
  next: string | null,
): Promise<void> {
  const bytes = await readTreeFile(lock.folder, path, maxDocumentBytes);
  const sha256 = bytes && hexOf(digestOf(bytes));
  if (sha256 === null || sha256 === next || sha256 === entry?.sha256) return;
  const what = entry
    ? describeState((await stateOf(lock, entry)) as 'edited', entry)
    : `${path} exists and is not in ${lockName}. Move it away, or choose another file with --as.`;
  throw new RegistryError('refused', what);
}
