import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  decodeBundle,
  encodeBundle,
  nodesIn,
  splitHashes,
  tileWidth,
  type TileName,
  foldHashes,
  leafHash,
  rootOf,
  type ReadNode,
} from '../../model/transparency/tree.ts';
import { type Bucket, putOwn } from '../bucket.ts';
import { corrupt } from '../records.ts';
import { createInOrder } from '../../scheduling/turns.ts';
import { deleteOlderHeads, newestHead, putHead } from '../log/heads.ts';
import {
  batchesFolder,
  batchFolder,
  batchKey,
  beginOf,
  digestOfRoot,
  encodeBatch,
  rootAt,
  treeSizeOf,
  start,
  stepOver,
  tileKey,
  treeFolder,
  treeName,
  type Cursors,
  type TreePlace,
  type TreePosition,
} from './batch.ts';

/** See `openTreeLog`. */
export type TreeLog = Awaited<ReturnType<typeof openTreeLog>>;

interface Change {
  /** The cursors, as `cursors` gave them, that this was decided on. */
  decidedOn: Cursors;
  cursors: Cursors;
  /** ISO 8601, UTC. */
  at: string;
  /** What the leaves announce. */
  key?: string;
}

/** Newer ones sort first. */
export const cosignedFolder = `${treeFolder}cosigned/`;
const highest = 10 ** 15 - 1;
const cosignedKey = (size: number): string => cosignedFolder + String(highest - size).padStart(15, '0');

/** The size whose cosignatures are under a key. */
export function cosignedSize(key: string): number {
  return highest - Number(key.slice(cosignedFolder.length));
}

/**
 * Opens the leaves of the registry's public log in a bucket, and the tree over them, and reads them
 * to their end. **The batches are the log**: each is one key that is written if absent, names the
 * digest of the one before, and never spans two bundles. So all processes agree on the leaves, and on the one tree of each size. Tiles and
 * bundles are made of them; those of a full bundle are durable before a leaf after it is.
 * Everything rejects with `corrupt` where the log is damaged, has lost something, or is another one than the newest
 * head that was noted says.
 */
export async function openTreeLog(bucket: Bucket) {
  let position = await findEnd(bucket);
  /** Full tiles and bundles that are read, or were, and are as they were written. */
  const tiles = new LRUCache<string, Promise<Uint8Array>>({ max: 64 });
  /** The newest head that is known to be noted and of this log. */
  let noted = 0;

  /** The number of leaves, as far as this process has read. */
  const size = (): number => treeSizeOf(position);

  /** One at a time: each goes on from where the one before stopped. */
  const inOrder = createInOrder();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => inOrder('', work);

  async function readOn(): Promise<void> {
    for (;;) {
      const { last } = position;
      // The newest batch that was read is listed again: its loss is seen before something is appended after it.
      const keys = await bucket.list(batchFolder((last ?? position).bundle), keyBefore(last ?? position));
      if (last !== null && keys.shift() !== batchKey(last)) throw corrupt(`${batchKey(last)} is gone.`);
      if (last !== null && last.bundle < position.bundle)
        keys.push(...(await bucket.list(batchFolder(position.bundle))));
      for (const key of keys) {
        if (key !== batchKey(position)) throw corrupt(`${batchKey(position)} is gone.`);
        const bytes = await bucket.get(key);
        if (bytes === null) throw corrupt(`${key} is gone.`);
        await step(key, bytes);
      }
      if (keys.length === 0) return;
    }
  }

  /** Goes on after a batch. What is full then is made durable first. */
  async function step(key: string, bytes: Uint8Array): Promise<void> {
    const next = stepOver(position, bytes);
    if (typeof next === 'string') throw corrupt(`${key}: ${next}`);
    for (const tile of next.full) await putTile(tile.key, tile.bytes);
    ({ position } = next);
  }

  async function putTile(key: string, bytes: Uint8Array): Promise<void> {
    const isSame = (stored: Uint8Array) => Buffer.compare(stored, bytes) === 0;
    if (!(await putOwn(bucket, key, bytes, isSame))) throw corrupt(`${key} is not of this log.`);
  }

  /** A tile or bundle that is full. A proof asks for many nodes of one at once, which read and hash it once. */
  function fullTile(level: number | 'entries', index: number): Promise<Uint8Array> {
    const key = tileKey(level, index);
    const cached = tiles.get(key);
    if (cached) return cached;
    const reading = readTile(key, level, index);
    tiles.set(key, reading);
    reading.catch(() => tiles.delete(key));
    return reading;
  }

  /** Its hash is that which the tile above it has, up to those of the newest batches. */
  async function readTile(key: string, level: number | 'entries', index: number): Promise<Uint8Array> {
    const stored = await bucket.get(level === 0 ? tileKey('entries', index) : key);
    if (stored === null) throw corrupt(`${key} is gone.`);
    const hashes = typeof level === 'number' && level > 0 ? splitHashes(stored) : decodeBundle(stored)?.map(leafHash);
    const above = (await currentTile(level === 'entries' ? 1 : level + 1, Math.floor(index / tileWidth)))!;
    const expected = splitHashes(above)[index % tileWidth];
    if (hashes?.length !== tileWidth || !expected?.equals(foldHashes(hashes))) throw corrupt(`${key} is damaged.`);
    return level === 0 ? Buffer.concat(hashes) : stored;
  }

  /** All hashes or leaves that a tile has now. */
  async function currentTile(level: number | 'entries', index: number): Promise<Uint8Array | null> {
    const last =
      level === 'entries' || level === 0 ? position.bundle : Math.floor(position.bundle / tileWidth ** level);
    if (index < last) return fullTile(level, index);
    if (index > last) return null;
    if (level === 'entries') return encodeBundle(position.leaves);
    return Buffer.concat(level === 0 ? position.leaves.map(leafHash) : (position.edges[level - 1] ?? []));
  }

  /** Reads nodes of the tree of the first `upTo` leaves. */
  const nodes = (upTo: number): ReadNode =>
    nodesIn(async (level, index) => {
      const bytes = await currentTile(level, index);
      if (bytes === null) throw new RangeError(`The log has no tile ${index} of level ${level}.`);
      return bytes;
    }, upTo);

  async function append(
    leaves: readonly Uint8Array[],
    { decidedOn, cursors, at, key: announced }: Change,
  ): Promise<boolean> {
    if (position.cursors !== decidedOn) return false;
    await readOn();
    if (position.cursors !== decidedOn) return false;
    for (let from = 0; from === 0 || from < leaves.length;) {
      const some = leaves.slice(from, from + tileWidth - position.leaves.length);
      from += some.length || 1;
      const isLast = from >= leaves.length;
      // How far the logs were read counts once all that they led to is written.
      const given = isLast ? { cursors, key: announced ?? null } : { cursors: new Map(), key: null };
      const bytes = encodeBatch(position, { ...given, at, leaves: some });
      const key = batchKey(position);
      const isOurs = (stored: Uint8Array) => Buffer.compare(stored, bytes) === 0;
      if (!(await putOwn(bucket, key, bytes, isOurs))) return false;
      await step(key, bytes);
    }
    return true;
  }

  /** Compares the log with the newest head that was noted. Returns its size; -1: there is none. */
  async function compare(): Promise<number> {
    const head = await newestHead(bucket, treeName);
    if (head === null) return -1;
    const { sequence: signed, digest } = head;
    if (signed > size()) await readOn();
    if (signed > size()) throw corrupt(`The public log lost its leaves after ${size()}: ${signed} were signed.`);
    if (noted < signed && digestOfRoot(await rootOf(nodes(signed), signed)) !== digest)
      throw corrupt(`The first ${signed} leaves of the public log are not those that were signed.`);
    return signed;
  }

  async function noteHead(): Promise<number> {
    while (noted < size()) {
      const sequence = size();
      const before = await compare();
      if (before < sequence) {
        const digest = digestOfRoot(await rootAt(position));
        const head = { log: treeName, sequence, digest };
        const key = await putHead(bucket, head, { writeId: randomUUID(), at: new Date().toISOString() });
        // Another process may have noted this size.
        await compare();
        await deleteOlderHeads(bucket, key);
      }
      noted = Math.max(before, sequence);
    }
    return size();
  }

  await readOn();
  // A log without leaves needs no head.
  noted = Math.max(await compare(), 0);

  return {
    size,
    /** Another object whenever the log has changed. */
    cursors: () => position.cursors,
    /** Whether nothing was ever written to the log. */
    isNew: () => position.bundle === 0 && position.batch === 0,
    /** The key that was announced last, as a verifier key; null: none was. */
    key: () => position.key,
    /** Reads what other processes appended. */
    refresh: () => inTurn(readOn),
    /**
     * Notes that the log of this size is signed now: from then on, no other root of it is, and no smaller log. Returns the
     * size, which is the newest.
     */
    noteHead: () => inTurn(noteHead),
    /**
     * Appends leaves, and records how far the organizations' logs were read. Resolves to false when
     * there are other cursors by now: refresh, and decide again.
     */
    append: (leaves: readonly Uint8Array[], change: Change) => inTurn(() => append(leaves, change)),

    /** Records who cosigned the head of a size, as lines of a note, in place of what was recorded for it. */
    async putCosignatures(of: number, lines: string): Promise<void> {
      await bucket.delete(cosignedKey(of));
      await putOwn(bucket, cosignedKey(of), Buffer.from(lines), () => true);
    },

    /** The newest size whose cosignatures are recorded, with them; null: none is. */
    async cosigned(): Promise<{ size: number; lines: string } | null> {
      const [key] = await bucket.list(cosignedFolder, { limit: 1 });
      const bytes = key === undefined ? null : await bucket.get(key);
      return bytes && { size: cosignedSize(key!), lines: Buffer.from(bytes).toString() };
    },

    /** The bytes of a tile or bundle, or null if the tree has none of this width. */
    async tile({ level, index, width }: TileName): Promise<Uint8Array | null> {
      const bytes = await currentTile(level, index);
      if (bytes === null) return null;
      if (level !== 'entries') return bytes.byteLength < width * 32 ? null : bytes.subarray(0, width * 32);
      const leaves = decodeBundle(bytes)!;
      if (leaves.length < width) return null;
      return leaves.length === width ? bytes : encodeBundle(leaves.slice(0, width));
    },

    nodes,
  };
}

/** Where a list begins that a batch is the first of. */
function keyBefore({ bundle, batch }: TreePlace): { after?: string } {
  return batch === 0 ? {} : { after: batchKey({ bundle, batch: batch - 1 }) };
}

/** The position before the first batch of the last bundle that was begun. Rejects with `corrupt` where one before it is missing. */
export async function findEnd(bucket: Bucket): Promise<TreePosition> {
  const begins = async (bundle: number) => (await bucket.getPart(batchKey({ bundle, batch: 0 }), 0, 1)) !== null;
  let [low, high] = [0, 1];
  while (await begins(high)) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await begins(middle)) low = middle;
    else high = middle;
  }
  // A bundle that is missing is not the end.
  const [later] = await bucket.list(batchesFolder, { after: batchKey({ bundle: low, batch: 10 ** 9 - 1 }), limit: 1 });
  if (later !== undefined) throw corrupt(`${batchKey({ bundle: low + 1, batch: 0 })} is gone.`);
  if (low === 0) return start;
  return beginOf(low, (await bucket.get(batchKey({ bundle: low, batch: 0 }))) ?? new Uint8Array());
}
