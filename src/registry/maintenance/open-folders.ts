import type { Config } from '../../config.ts';
import { isOpenToOthers } from '../../store/files.ts';

/** The folders of a registry that other users can read, such as those made by an older version or by `mkdir`. */
export async function openFolders({ store, dataFolder, cacheFolder }: Config): Promise<string[]> {
  const folders = 'path' in store ? [store.path] : [];
  const open: string[] = [];
  for (const folder of new Set([...folders, dataFolder, cacheFolder]))
    if (await isOpenToOthers(folder)) open.push(folder);
  return open;
}
