import { isDeepStrictEqual } from 'node:util';
import { type RegistryError, unavailable, conflict } from '../model/errors.ts';
import { encodeJson, parseJson } from '../model/json.ts';
import type { Bucket } from './bucket.ts';

/**
 * The layout of a bucket that this version of Stele reads and writes. It is a promise (design §5): a
 * program reads every store of its format that any program wrote, `test/fixtures/kept/` has one
 * of each, and another number comes with a way to it in `stele migrate`.
 */
const current = 2;
const key = 'format';

/** Stands where a copy of another store is written, and beside `format` while one is brought up to date. */
const incomplete = 'incomplete';
const folders = ['objects/', 'packs/', 'log/', 'tree/', 'work/', 'previews/', 'quarantine/'];

/**
 * Makes sure that the bucket has the layout of this version; an empty bucket gets it. Rejects with
 * `unavailable` for any other, because writing to it would mix two layouts.
 */
export async function assertFormat(bucket: Bucket): Promise<void> {
  if (await hasFormat(bucket)) return;
  if ((await bucket.get(incomplete)) !== null) {
    const message =
      'The store is an incomplete copy: a backup, a restore or a migration into it did not end. Run `stele backup`, `stele restore` or `stele migrate` again.';
    throw unavailable(message);
  }
  await writeFormat(bucket);
}

/** Whether the bucket has the layout of this version. False if it has none. Rejects with `unavailable` for any other. */
export async function hasFormat(bucket: Bucket): Promise<boolean> {
  const bytes = await bucket.get(key);
  if (bytes === null) {
    const [old] = await bucket.list('refs/', { limit: 1 });
    if (old !== undefined) throw unknownFormat('1, that of Stele before its first release');
    return false;
  }
  const format = (parseJson(bytes) as { format?: unknown } | null | undefined)?.format;
  if (format !== current) throw unknownFormat(JSON.stringify(format) ?? 'that cannot be read');
  return true;
}

/** What a folder has that is a store of any format, or an incomplete copy of one. */
export const signs = [key, incomplete, 'refs'];

/** What stands in an incomplete copy. */
interface Begun {
  /** The points that it ends at. */
  until?: readonly object[];
  /** Whether it was a store before: it is one, and lacks some of what is new. */
  isUpdate?: true;
}

/**
 * Begins to write a store into a bucket, or goes on after a copy up to the same points that was
 * stopped. Rejects with `conflict` if it holds anything else.
 */
export async function beginCopy(bucket: Bucket, until: readonly object[] = []): Promise<void> {
  const stopped = await readBegun(bucket);
  if (stopped !== null) {
    if (isDeepStrictEqual(stopped.until ?? [], until)) return;
    throw conflict(
      'The target holds a part of a restore to another point, which may reach further. Use the same --to as before, or an empty folder or bucket.',
    );
  }
  for (const folder of ['refs/', ...folders]) {
    const [found] = await bucket.list(folder, { limit: 1 });
    if (found !== undefined) {
      throw conflict('The target is not empty, and it is not a store. Choose an empty folder or bucket.');
    }
  }
  await bucket.putIfAbsent(incomplete, encodeJson((until.length === 0 ? {} : { until }) satisfies Begun));
}

/** Begins to bring the store in a bucket up to date. */
export async function beginUpdate(bucket: Bucket): Promise<void> {
  await bucket.putIfAbsent(incomplete, encodeJson({ isUpdate: true } satisfies Begun));
}

/** Whether an update of the store in a bucket began and did not end. */
export async function isBeingUpdated(bucket: Bucket): Promise<boolean> {
  return (await readBegun(bucket)) !== null;
}

/** Makes the copy in a bucket a store that can be opened, and that is whole. */
export async function finishCopy(bucket: Bucket): Promise<void> {
  await writeFormat(bucket);
  await bucket.delete(incomplete);
}

/** Whether a copy up to these points was stopped in its last step: it is a store that can be opened, and goes on as one. */
export async function isAlmostFinished(bucket: Bucket, until: readonly object[]): Promise<boolean> {
  const stopped = await readBegun(bucket);
  return stopped !== null && !stopped.isUpdate && isDeepStrictEqual(stopped.until ?? [], until);
}

async function readBegun(bucket: Bucket): Promise<Begun | null> {
  const bytes = await bucket.get(incomplete);
  return bytes && ((parseJson(bytes) ?? {}) as Begun);
}

async function writeFormat(bucket: Bucket): Promise<void> {
  await bucket.putIfAbsent(key, encodeJson({ format: current }));
}

function unknownFormat(format: string): RegistryError {
  const message = `The store has format ${format}; this version of Stele reads format ${current}. Use the version of Stele that wrote it, or point Stele to an empty folder and sync again: the same commits give the same digests.`;
  return unavailable(message);
}
