import { stat } from 'node:fs/promises';
import { RegistryError } from '../model/errors.ts';

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

/**
 * Throws `unavailable` for root in a folder of another user, whose server could not read what root writes there.
 * The first of the folders that is there tells: who made `.tmp` made the store, and the root of a volume may belong to
 * anybody.
 */
export async function assertOwn(...folders: string[]): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  for (const folder of folders) {
    const { uid } = (await stat(folder).catch(() => null)) ?? {};
    if (uid === 0) return;
    if (uid === undefined) continue;
    const message = `${folder} belongs to another user (${uid}), whose server could not read what root writes there.`;
    throw new RegistryError('unavailable', `${message} Run this as that user, with sudo -u '#${uid}'.`);
  }
}
