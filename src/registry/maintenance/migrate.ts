import { malformed, conflict } from '../../model/errors.ts';
import type { Bucket } from '../../store/bucket.ts';
import { readTips, copyStore, type Copied } from '../../store/copy-store.ts';
import { hasFormat } from '../../store/format.ts';

/** What was written. */
export interface Migrated extends Copied {
  /** Whether the store was written to meanwhile: the copy may lack that. */
  isBehind: boolean;
}

/**
 * Writes a store into an empty bucket in the format of this program, and changes nothing of the old
 * one. There is one format so far, so everything is copied as it is. Rejects with `conflict` if the
 * target holds anything.
 */
export async function migrate(from: Bucket, into: Bucket, progress?: (copied: Copied) => void): Promise<Migrated> {
  if (!(await hasFormat(from))) throw malformed('The configured store is empty. There is nothing to migrate.');
  if (await hasFormat(into)) throw conflict('The target is a store already. Choose an empty folder.');
  const before = await readTips(from);
  const copied = await copyStore(from, into, progress && { progress });
  const after = await readTips(from);
  return { ...copied, isBehind: [...after].some(([log, tip]) => before.get(log) !== tip) };
}
