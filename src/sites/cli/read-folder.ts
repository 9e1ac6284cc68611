import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { RegistryError } from '../../model/errors.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import type { NewFile } from '../registry/replace-drafts.ts';

/**
 * Reads the files of a folder, with their paths in it. Leaves out what begins with a dot,
 * `node_modules` and symbolic links. A file over the limit is not read.
 * A command does nothing else meanwhile, and a thread for each file costs more than the file.
 */
export function readFolder(folder: string, maxBytes: number): { files: NewFile[]; problems: Problem[] } {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new RegistryError('malformed', `${folder} is not a folder. Name the folder with the pages.`);
  const files: NewFile[] = [];
  const problems: Problem[] = [];
  function read(at: string): void {
    const entries = readdirSync(at, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const place = join(at, entry.name);
      if (entry.isDirectory()) read(place);
      if (!entry.isFile()) continue;
      const path = relative(folder, place).split(sep).join('/');
      const { size } = statSync(place);
      if (size <= maxBytes) files.push({ path, bytes: readFileSync(place) });
      else
        problems.push(
          problemAtFile('site-file', path, `The file has ${size} bytes; the limit is ${maxBytes}.`, 'warning'),
        );
    }
  }
  read(folder);
  return { files, problems };
}
