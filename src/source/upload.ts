import { malformed } from '../model/errors.ts';
import { blobId } from './git-format.ts';
import type { Snapshot } from './snapshot.ts';
import { isPlainPath, nearestName } from './git-names.ts';
import { lfsPointer, missing, outsideTree } from './lookup.ts';

/**
 * A snapshot of an uploaded document under this path, and of the files that were uploaded with it. Throws
 * `malformed` for a path that is not plain.
 */
export function createUpload(
  path: string,
  bytes: Uint8Array,
  others: ReadonlyMap<string, Uint8Array> = none,
): Snapshot {
  const files = new Map([...others, [path, bytes]]);
  const paths = [...files.keys()].toSorted();
  const outside = paths.find((each) => !isPlainPath(each));
  if (outside !== undefined)
    throw malformed(`${JSON.stringify(outside)} is not the path of a file. Use one such as "apis/pay.yaml".`);
  return {
    origin: { repository: null, commit: null },
    committedAt: null,
    entries: async () => paths.map((each) => ({ path: each, kind: 'file', id: blobId(files.get(each)!) })),
    read: async (wanted) =>
      wanted.map((each) => {
        const found = files.get(each);
        if (found !== undefined)
          return lfsPointer(each, found) ?? { path: each, found: true, bytes: found, blob: null };
        if (!isPlainPath(each)) return outsideTree(each);
        const detail = files.size === 1 ? 'Only one file was uploaded, and it is not this one' : 'It was not uploaded';
        return missing(each, nearestName(each, paths), detail);
      }),
  };
}

const none: ReadonlyMap<string, Uint8Array> = new Map();
