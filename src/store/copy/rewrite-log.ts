import { isRegistryError } from '../../model/errors.ts';
import type { Digest } from '../../model/digest.ts';
import type { Bucket } from '../bucket.ts';
import { decodeEntry, encodeEntry, entryKey, type Change, type SealedEntry } from '../log/entry.ts';
import type { CopyListener } from './copy-keys.ts';

/** How a store is written anew. What it does not name is copied as it is. */
export interface Rewrite {
  /** The changes of an entry as they are written, by log. The same array where nothing changes. */
  logs: ReadonlyMap<string, (changes: Change[]) => Change[]>;
  /** Whether a key is not copied. */
  isLeftOut: (key: string) => boolean;
}

/**
 * Writes a log anew into an empty bucket, entry by entry, under the same numbers. From the first
 * changed entry on, each has another digest, and names no summary: those of the old log hold what
 * was changed. Stops before a damaged entry and reports it.
 */
export async function rewriteLog(
  from: Bucket,
  into: Bucket,
  log: string,
  tip: number,
  change: (changes: Change[]) => Change[],
  { copied, damaged }: CopyListener,
): Promise<void> {
  let old: Digest | null = null;
  let previous: Digest | null = null;
  let isChanged = false;
  for (let sequence = 1; sequence <= tip; sequence++) {
    const key = entryKey(log, sequence);
    const read = await from.get(key);
    const entry = read && decoded(read, sequence, key);
    if (!entry || entry.previous !== old)
      return damaged(key, 'The entry is missing or damaged. Repair the store first: `stele fsck --repair`.');
    old = entry.digest;
    const changes = change(entry.changes);
    isChanged ||= changes !== entry.changes;
    const { at, writer } = entry;
    const written: { bytes: Uint8Array; digest: Digest } = isChanged
      ? encodeEntry(
          { sequence, previous, at, writer, index: null },
          changes.map((each) => JSON.stringify(each)),
        )
      : { bytes: read, digest: entry.digest };
    previous = written.digest;
    await into.putIfAbsent(key, written.bytes);
    copied(key, written.bytes.byteLength);
  }
}

function decoded(bytes: Uint8Array, sequence: number, key: string): SealedEntry | null {
  try {
    return decodeEntry(bytes, sequence, key);
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
    return null;
  }
}
