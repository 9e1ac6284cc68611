import { stat } from 'node:fs/promises';

/** Mode of every folder in the data folder: only for its owner, whatever the umask. */
export const folderMode = 0o700;

/** Mode of every file in the data folder. */
export const fileMode = 0o600;

/**
 * Reports whether others than the owner have access to a folder. False if it is missing, and on
 * Windows.
 */
export async function isOpenToOthers(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch(() => null);
  return stats !== null && process.platform !== 'win32' && (stats.mode & 0o077) !== 0;
}
