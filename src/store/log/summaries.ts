import type { Digest } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import type { Bucket } from '../bucket.ts';
import { corrupt } from '../generations.ts';
import type { Objects } from '../objects.ts';
import { entryKey } from './entry.ts';
import type { State } from './state.ts';
import {
  readEntries,
  readIndex,
  segmentLength,
  segmentSize,
  segmentsPerCheckpoint,
  writeFrames,
  writeIndex,
  writeSegment,
  type Index,
} from './summary.ts';

/** Keeps segments and checkpoints of a log up to date, so that opening it stays quick. */
export interface Summaries {
  /** The digest of the newest index that is known here; the next entry names it. */
  newest(): Digest | null;
  /**
   * Writes what is due. Called before the first own append and after each. Calls share a running
   * one. After a failure it is tried again when as many entries have come as make a segment.
   */
  make(): Promise<void>;
}

/**
 * Creates the summaries of a log. They are made from the log alone and change nothing in it.
 * `failed`: called once for each time that they cannot be made.
 */
export function createSummaries(
  bucket: Bucket,
  objects: Objects,
  partition: string,
  state: State,
  failed: (error: unknown) => void,
): Summaries {
  /** An index that was written here, and the one that entries named at that time. */
  let written: { digest: Digest; instead: Digest | null } | null = null;
  /** How far the newest index reaches, where that is known. */
  let reach: { digest: Digest | null; sequence: number } = { digest: null, sequence: 0 };
  let making: Promise<void> | null = null;
  /** The number of the entry after which it is tried again. */
  let pauseUntil = 0;

  /** Once an entry names another index, that one counts. */
  function newest(): Digest | null {
    return written !== null && state.index === written.instead ? written.digest : state.index;
  }

  /** An index that is damaged or gone is made again, from all entries. */
  async function readKnown(digest: Digest | null): Promise<Index> {
    if (digest === null) return nothing;
    try {
      return await readIndex(objects, digest);
    } catch (error) {
      if (isRegistryError(error, 'corrupt')) return nothing;
      throw error;
    }
  }

  /** The index with the entries up to a number: in one segment, or in several where they are long. */
  async function append(index: Index, to: number): Promise<Index> {
    let { sequence, digest } = index;
    const segments = [...index.segments];
    let lines: Uint8Array[] = [];
    let size = 0;
    for await (const { entry, bytes } of readEntries(bucket, partition, index, to)) {
      lines.push(bytes);
      size += bytes.byteLength;
      ({ sequence, digest } = entry);
      if (size < segmentSize && sequence < to) continue;
      segments.push(await writeSegment(objects, lines));
      [lines, size] = [[], 0];
    }
    return { ...index, sequence, digest, segments };
  }

  async function makeDue(): Promise<void> {
    const named = newest();
    let index = await readKnown(named);
    const instead = state.index;
    const end = { sequence: state.sequence, digest: state.digest! };
    const isDue = isCheckpointDue(index, end.sequence);
    const records = isDue ? state.records() : [];
    for (; end.sequence - index.sequence >= segmentLength;) {
      index = await append(index, index.sequence + segmentLength);
    }
    if (isDue) {
      if (index.sequence < end.sequence) index = await append(index, end.sequence);
      if (index.digest !== end.digest) throw corrupt(`${entryKey(partition, end.sequence)} was changed.`);
      const older = await writeIndex(objects, index);
      const frames = await writeFrames(objects, records);
      index = { ...end, checkpoint: { ...end, frames }, segments: [], older };
    }
    const digest = await writeIndex(objects, index);
    written = { digest, instead };
    reach = { digest, sequence: index.sequence };
  }

  return {
    newest,
    make() {
      const isCovered = reach.digest === newest() && state.sequence - reach.sequence < segmentLength;
      if (isCovered || state.sequence < pauseUntil) return Promise.resolve();
      making ??= makeIfDue()
        .catch((error: unknown) => {
          pauseUntil = state.sequence + segmentLength;
          failed(error);
        })
        .finally(() => {
          making = null;
        });
      return making;
    },
  };

  async function makeIfDue(): Promise<void> {
    const digest = newest();
    const { sequence } = await readKnown(digest);
    reach = { digest, sequence };
    // Entries that come meanwhile may make more due.
    while (state.sequence - reach.sequence >= segmentLength) await makeDue();
  }
}

const nothing: Index = { sequence: 0, digest: null, checkpoint: null, segments: [], older: null };

/** Whether the segments are many, or outweigh the checkpoint. */
function isCheckpointDue({ checkpoint, segments, sequence }: Index, end: number): boolean {
  const count = segments.length + Math.floor((end - sequence) / segmentLength);
  const weight = (pieces: readonly { bytes: number }[]) => pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  return count >= segmentsPerCheckpoint || weight(segments) >= weight(checkpoint?.frames ?? []);
}
