import { isRegistryError } from '../../model/errors.ts';
import type { Digest } from '../../model/digest.ts';
import type { Bucket } from '../bucket.ts';
import { corrupt } from '../generations.ts';
import type { Objects } from '../objects.ts';
import { logFolder } from './entry.ts';
import { generationOf } from './held.ts';
import { openState } from './open-state.ts';
import { readIndex } from './summary.ts';

/** What a log holds now. */
export interface LogContents {
  /** Each record with its newest value. */
  records: Iterable<{ name: string; value: unknown }>;
  /** The objects of its summaries. They can be made again. */
  summaries: Digest[];
}

/** Reads a whole log. Rejects with `corrupt` if one of its entries is damaged: then not all of it is known. */
export async function readLogContents(bucket: Bucket, objects: Objects, log: string): Promise<LogContents> {
  const { state, newest } = await openState(bucket, objects, log);
  if (state.sequence < newest)
    throw corrupt(`${logFolder(log)} has a damaged or missing entry after ${state.sequence}.`);
  const records = state.records().map(([name, held]) => ({ name, value: generationOf(held).value }));
  return { records, summaries: await summariesOf(objects, state.index) };
}

/** The objects that an index and those before it list. As many as can be read. */
async function summariesOf(objects: Objects, newest: Digest | null): Promise<Digest[]> {
  const digests: Digest[] = [];
  try {
    for (let digest = newest; digest !== null;) {
      digests.push(digest);
      const { checkpoint, segments, older } = await readIndex(objects, digest);
      for (const piece of [...(checkpoint?.frames ?? []), ...segments]) digests.push(piece.digest);
      digest = older;
    }
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
  }
  return digests;
}
