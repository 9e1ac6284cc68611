import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * The git directory of a local repository, which changes with every push and commit. Follows a
 * `.git` file (gitrepository-layout(5)); for a linked work tree it is the shared directory. Null
 * when there is no repository.
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
