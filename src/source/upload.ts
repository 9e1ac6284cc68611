import { blobId } from './objects/blob.ts';
import type { Snapshot } from './snapshot.ts';
import { isPlainPath, nearestName } from './path.ts';
import { lfsPointer, missing, outsideTree } from './refusal.ts';

/** A snapshot of one uploaded document under this path. It contains no other files. */
export function createUpload(path: string, bytes: Uint8Array): Snapshot {
  return {
    origin: { repository: null, commit: null },
    committedAt: null,
    entries: async () => [{ path, kind: 'file', id: blobId(bytes) }],
    read: async (paths) =>
      paths.map((wanted) => {
        if (wanted === path) return lfsPointer(path, bytes) ?? { path, found: true, bytes, blob: null };
        if (!isPlainPath(wanted)) return outsideTree(wanted);
        return missing(wanted, nearestName(wanted, [path]), 'Only one file was uploaded, and it is not this one');
      }),
  };
}
