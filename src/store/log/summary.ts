import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Digest } from '../../model/digest.ts';
import { decodeJson, encodeJson } from '../../model/json.ts';
import type { Bucket } from '../bucket.ts';
import { corrupt } from '../records.ts';
import type { Objects } from '../objects.ts';
import { entryAfter, entryKey, type SealedEntry } from './entry.ts';
import type { HeldRecord, HeldItem, State } from './state.ts';
import { insteadOf } from '../../model/errors.ts';
import { someAtOnce } from '../../scheduling/turns.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const segmentLength = 256;
/** Bytes of entries after which a segment takes no more. */
const segmentSize = 1024 * 1024;
/** Segments after which a new checkpoint is made. */
const segmentsPerCheckpoint = 64;
/**
 * Bytes of JSON that are parsed or written before the event loop goes on: it waits some milliseconds.
 * A frame of a checkpoint has as many, and so has an entry, unless one value is larger.
 */
export const frameSize = 256 * 1024;
/** Entries and frames that are read at once. */
const atOnce = 16;

/** An object of a summary, with the length of its JSON. */
interface Piece {
  digest: Digest;
  bytes: number;
}

/** The object that lists what summarizes a log: a checkpoint, and the segments after it. */
export interface Index {
  /** Number and digest of the last entry that it covers. */
  sequence: number;
  digest: Digest | null;
  checkpoint: { sequence: number; digest: Digest | null; frames: Piece[] } | null;
  segments: Piece[];
  /** The index before the checkpoint was made: it lists the segments before. Null for the first. */
  older: Digest | null;
}

export async function readIndex(objects: Objects, digest: Digest): Promise<Index> {
  return decodeJson<Index>(await readPiece(objects, digest));
}

export function writeIndex(objects: Objects, index: Index): Promise<Digest> {
  return objects.put(encodeJson(index));
}

async function readPiece(objects: Objects, digest: Digest): Promise<Uint8Array> {
  const bytes = await objects.get(digest);
  if (bytes === null) throw corrupt(`Object ${digest} of a log's summary is gone.`);
  return bytes;
}

/**
 * Reads entries out of the log after a position, and checks that they follow each other. `digest`:
 * that of the entry at the position; undefined if it is not known.
 */
export async function* readEntries(
  bucket: Bucket,
  partition: string,
  { sequence, digest }: { sequence: number; digest: Digest | null | undefined },
  last: number,
): AsyncGenerator<{ entry: SealedEntry; bytes: Uint8Array }> {
  let previous = digest;
  for (let from = sequence + 1; from <= last; from += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, last - from + 1) }, (_, index) => from + index);
    const read = await Promise.all(numbers.map((number) => bucket.get(entryKey(partition, number))));
    for (const [index, bytes] of read.entries()) {
      const key = entryKey(partition, numbers[index]!);
      const { entry, fault } = entryAfter(bytes, numbers[index]!, previous);
      if (entry === null) throw corrupt(`${key}: ${fault}`);
      previous = entry.digest;
      yield { entry, bytes: bytes! };
    }
  }
}

/** Writes entries as one object: a line each, compressed. */
async function writeSegment(objects: Objects, entries: readonly Uint8Array[]): Promise<Piece> {
  const lines = Buffer.concat(entries.flatMap((bytes) => [bytes, Buffer.from('\n')]));
  return { digest: await objects.put(await compress(lines)), bytes: lines.byteLength };
}

/** Yields the entries of a segment. The object's digest vouches for them. */
export async function* readSegment(
  objects: Objects,
  { digest }: Piece,
): AsyncGenerator<{ entry: SealedEntry; bytes: number }> {
  const text = (await decompress(await readPiece(objects, digest))).toString();
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    yield { entry: JSON.parse(text.slice(from, end)) as SealedEntry, bytes: end - from };
    from = end + 1;
  }
}

/**
 * Gives the event loop back after each 256 KB of JSON: what opens a log reads many of them in one
 * go. Returns a function to call with the number of bytes that were parsed.
 */
export function createPacer(): (bytes: number) => Promise<void> {
  let parsed = 0;
  return async (bytes) => {
    parsed += bytes;
    if (parsed < frameSize) return;
    parsed = 0;
    await new Promise(setImmediate);
  };
}

/** A record in a checkpoint. Items are arrays to keep checkpoints small: name, order, sequence, value. */
type SummaryRow = [name: string, record: Omit<HeldRecord, 'items'>, items: [string, string, number, unknown][]];

/** Writes the records of a checkpoint in frames. Gives the event loop back after each: the records may be many. */
export async function writeFrames(objects: Objects, records: Iterable<[string, HeldRecord]>): Promise<Piece[]> {
  const frames: Piece[] = [];
  let lines: string[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    const text = lines.join('\n');
    [lines, size] = [[], 0];
    frames.push({ digest: await objects.put(await compress(text)), bytes: text.length });
  };
  for (const [name, { items, ...record }] of records) {
    // A record whose items fill frames of their own is written in parts.
    for (let from = 0; from === 0 || from < items.length; from += 256) {
      const some = items.slice(from, from + 256).map((item) => [item.name, item.order, item.sequence, item.value]);
      const line = JSON.stringify([name, record, some]);
      lines.push(line);
      size += line.length;
      if (size >= frameSize) await flush();
    }
  }
  if (lines.length > 0) await flush();
  return frames;
}

/** Reads what `writeFrames` wrote. */
export async function readFrames(objects: Objects, frames: readonly Piece[]): Promise<Map<string, HeldRecord>> {
  const records = new Map<string, HeldRecord>();
  const read = async ({ digest }: Piece) => (await decompress(await readPiece(objects, digest))).toString();
  for await (const text of someAtOnce(frames, atOnce, read)) {
    for (const line of text.split('\n')) add(records, JSON.parse(line) as SummaryRow);
    await new Promise(setImmediate);
  }
  return records;
}

function add(records: Map<string, HeldRecord>, [name, record, kept]: SummaryRow): void {
  const items = kept.map(([own, order, sequence, value]): HeldItem => ({ name: own, order, sequence, value }));
  const before = records.get(name)?.items ?? [];
  records.set(name, { ...record, items: before.length === 0 ? items : [...before, ...items] });
}

/**
 * Keeps segments and checkpoints of a log up to date, so that opening it stays quick. They are made
 * from the log alone and change nothing in it. `isSummarized`: whether the newest could be read when the log was opened.
 * `failed`: called once for each time that they cannot be made.
 */
export function createSummaries(
  bucket: Bucket,
  objects: Objects,
  partition: string,
  { state, isSummarized, failed }: { state: State; isSummarized: boolean; failed: (error: unknown) => void },
) {
  const unread = isSummarized ? null : state.index;
  /** An index that was written here, and the one that entries named at that time. */
  let written: { digest: Digest; instead: Digest | null } | null = null;
  /** How far the newest index reaches, where that is known. */
  let reach: { digest: Digest | null; sequence: number } = { digest: null, sequence: 0 };
  let making: Promise<void> | null = null;
  /** The number of the entry after which it is tried again. */
  let pauseUntil = 0;

  /** The newest index that is known here; the next entry names it. Once an entry names another, that one counts. */
  function newest(): Digest | null {
    return written !== null && state.index === written.instead ? written.digest : state.index;
  }

  /** An index that is damaged or gone, or of which a piece is, is made again, from all entries. */
  async function readKnown(digest: Digest | null): Promise<Index> {
    return digest === null || digest === unread
      ? nothing
      : readIndex(objects, digest).catch(insteadOf('corrupt', nothing));
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
    /**
     * Writes what is due. Called before the first own append and after each. Calls share a running
     * one. After a failure it is tried again when as many entries have come as make a segment.
     */
    make(): Promise<void> {
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
