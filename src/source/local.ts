import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * The folder that changes when a local repository is pushed to or committed to: its git directory, also behind a `.git` file
 * (gitrepository-layout(5)) and for a linked work tree, whose branches are in the directory that it shares. Null where there is no repository.
 */
export function gitDirectory(path: string): string | null {
  try {
    const dotGit = join(path, '.git');
    const status = statSync(dotGit, { throwIfNoEntry: false });
    if (status?.isDirectory()) return realpathSync(dotGit);
    if (status?.isFile()) return realpathSync(commonDirectory(resolve(path, pointerIn(dotGit))));
    return statSync(join(path, 'HEAD')).isFile() && statSync(join(path, 'objects')).isDirectory()
      ? realpathSync(path)
      : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return null;
    throw error;
  }
}

function pointerIn(file: string): string {
  return readFileSync(file, 'utf8')
    .trim()
    .replace(/^gitdir:\s*/, '');
}

function commonDirectory(folder: string): string {
  const pointer = join(folder, 'commondir');
  if (!statSync(pointer, { throwIfNoEntry: false })) return folder;
  return resolve(folder, readFileSync(pointer, 'utf8').trim());
}
