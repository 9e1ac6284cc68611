import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { RegistryError } from '../../model/errors.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import type { NewFile } from '../../registry/sites/replace-drafts.ts';

/**
 * Reads the files of a folder, with their paths in it. Leaves out what begins with a dot,
 * `node_modules` and symbolic links. A file over the limit is not read.
 */
export async function readFolder(
  folder: string,
  mostBytes: number,
): Promise<{ files: NewFile[]; problems: Problem[] }> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new RegistryError('malformed', `${folder} is not a folder. Name the folder with the pages.`);
  const files: NewFile[] = [];
  const problems: Problem[] = [];
  async function read(at: string): Promise<void> {
    const entries = await readdir(at, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const place = join(at, entry.name);
      if (entry.isDirectory()) await read(place);
      if (!entry.isFile()) continue;
      const path = relative(folder, place).split(sep).join('/');
      const { size } = await stat(place);
      if (size <= mostBytes) files.push({ path, bytes: await readFile(place) });
      else
        problems.push(
          problemAtFile('site-file', path, `The file has ${size} bytes; the limit is ${mostBytes}.`, 'warning'),
        );
    }
  }
  await read(folder);
  return { files, problems };
}
