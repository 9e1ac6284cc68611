import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Config } from '../../config.ts';
import { RegistryError } from '../../model/errors.ts';

/** Throws `malformed` if a folder is the store, or one of them is in the other. */
export function assertApart(store: Config['store'], folder: string): void {
  if (store.kind !== 'fs') return;
  const [own, other] = [realPath(resolve(store.path)), realPath(resolve(folder))];
  if (isWithin(own, other) || isWithin(other, own))
    throw new RegistryError(
      'malformed',
      `The store is ${store.path}, and ${folder} is the same folder or one in the other. Choose another folder.`,
    );
}

/** The path without symbolic links, as far as it exists. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path));
}

function isWithin(path: string, folder: string): boolean {
  return relative(folder, path).split(sep)[0] !== '..';
}
