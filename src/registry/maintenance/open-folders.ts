import { dirname } from 'node:path';
import type { Config } from '../../config.ts';
import { isOpenToOthers } from '../../store/private.ts';

/** The folders of a registry that other users can read, such as those made by an older version or by `mkdir`. */
export async function openFolders({ store, cacheFolder }: Config): Promise<string[]> {
  const kept = store.kind === 'fs' ? [store.path] : [];
  const open: string[] = [];
  for (const folder of new Set([...kept, dirname(cacheFolder), cacheFolder]))
    if (await isOpenToOthers(folder)) open.push(folder);
  return open;
}
