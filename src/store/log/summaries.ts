import type { Digest } from '../../model/digest.ts';
import type { Bucket } from '../bucket.ts';
import type { Objects } from '../objects.ts';
import type { State } from './state.ts';
import {
  readEntries,
  readIndex,
  segmentLength,
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
  /** Writes what is due. Called after each own append. Calls share a running one. */
  make(): Promise<void>;
}

/** Creates the summaries of a log. They are made from the log alone and change nothing in it. */
export function createSummaries(bucket: Bucket, objects: Objects, partition: string, state: State): Summaries {
  /** An index that was written here, and the one that entries named at that time. */
  let written: { digest: Digest; instead: Digest | null } | null = null;
  /** How far the newest index reaches, where that is known. */
  let reach: { digest: Digest | null; sequence: number } = { digest: null, sequence: 0 };
  let making: Promise<void> | null = null;

  /** Once an entry names another index, that one counts. */
  function newest(): Digest | null {
    return written !== null && state.index === written.instead ? written.digest : state.index;
  }

  async function append(index: Index, from: Position, to: number): Promise<Index> {
    const read = await Array.fromAsync(readEntries(bucket, partition, from, to));
    const segment = await writeSegment(
      objects,
      read.map(({ bytes }) => bytes),
    );
    return { ...index, sequence: to, digest: read.at(-1)!.entry.digest, segments: [...index.segments, segment] };
  }

  async function makeDue(): Promise<void> {
    const named = newest();
    let index: Index = named === null ? nothing : await readIndex(objects, named);
    const instead = state.index;
    const end = { sequence: state.sequence, digest: state.digest! };
    const isDue = isCheckpointDue(index, end.sequence);
    const records = isDue ? state.records() : [];
    for (; end.sequence - index.sequence >= segmentLength;) {
      index = await append(index, startOf(index), index.sequence + segmentLength);
    }
    if (isDue) {
      if (index.sequence < end.sequence) index = await append(index, startOf(index), end.sequence);
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
      if (isCovered) return Promise.resolve();
      making ??= makeIfDue().finally(() => {
        making = null;
      });
      return making;
    },
  };

  async function makeIfDue(): Promise<void> {
    const digest = newest();
    const sequence = digest === null ? 0 : (await readIndex(objects, digest)).sequence;
    reach = { digest, sequence };
    // Entries that come meanwhile may make more due.
    while (state.sequence - reach.sequence >= segmentLength) await makeDue();
  }
}

interface Position {
  sequence: number;
  digest: Digest | null;
}

const nothing: Index = { sequence: 0, digest: null, checkpoint: null, segments: [], older: null };

function startOf({ sequence, digest }: Index): Position {
  return { sequence, digest };
}

/** Whether the segments are many, or outweigh the checkpoint. */
function isCheckpointDue({ checkpoint, segments, sequence }: Index, end: number): boolean {
  const count = segments.length + Math.floor((end - sequence) / segmentLength);
  const weight = (pieces: readonly { bytes: number }[]) => pieces.reduce((sum, { bytes }) => sum + bytes, 0);
  return count >= segmentsPerCheckpoint || weight(segments) >= weight(checkpoint?.frames ?? []);
}
