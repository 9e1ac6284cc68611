import { stat } from 'node:fs/promises';

/** Of every folder that is made in the data folder: its owner alone may look into it, whatever the umask. */
export const folderMode = 0o700;

/** Of every file in it. */
export const fileMode = 0o600;

/** Whether others than the owner may look into a folder. False for one that is not there, and on Windows, which has no such modes. */
export async function isOpenToOthers(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null);
  return found !== null && process.platform !== 'win32' && (found.mode & 0o077) !== 0;
}
