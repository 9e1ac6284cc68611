import { LRUCache } from 'lru-cache';
import { digestOf, type Digest } from '../model/digest.ts';
import { decodeJson, encodeJson } from '../model/json.ts';
import {
  decodeBundle,
  encodeBundle,
  nodesIn,
  splitHashes,
  tileWidth,
  type TileName,
} from '../model/transparency/tiles.ts';
import { foldHashes, leafHash, type ReadNode } from '../model/transparency/tree.ts';
import { listAll, type Bucket } from './bucket.ts';
import { corrupt } from './generations.ts';
import { putOwn } from './put-own.ts';

/** Over 300 lines: whoever writes, reads and checks the log must agree on its keys and batches, which are nobody else's. */

/** By organization: the number of the newest entry of its log that was read into the tree; -1: it was not begun. */
export type Cursors = Readonly<Record<string, number>>;

/**
 * The leaves of the registry's public log in a bucket, and the tree over them. **The batches are the
 * log**: each is one key that is written if absent, names the digest of the one before, and never
 * spans two bundles. So all processes agree on the leaves, and on the one tree of each size. Tiles and
 * bundles are made of them; those of a full bundle are durable before a leaf after it is.
 */
export interface TreeLog {
  /** The number of leaves, as far as this process has read. */
  size(): number;
  /** Another object whenever the log has changed. */
  cursors(): Cursors;
  /** Whether the log was ever written to. */
  isNew(): boolean;
  /** The key that was announced last, as a verifier key; null: none was. */
  key(): string | null;
  /** Reads what other processes appended. Rejects with `corrupt` if a batch is missing or another one's. */
  refresh(): Promise<void>;
  /**
   * Appends leaves, and records how far the organizations' logs were read. `decidedOn`: the cursors, as `cursors`
   * gave them, that this was decided on. Resolves to false when there are others by now: refresh, and decide again.
   * `at`: ISO 8601, UTC. `key`: what the leaves announce.
   */
  append(leaves: readonly Uint8Array[], change: Change): Promise<boolean>;
  /** Records who cosigned the head of a size, as lines of a note. What another process recorded for it stays. */
  putCosignatures(size: number, lines: string): Promise<void>;
  /** The newest size whose cosignatures are recorded, with them; null: none is. */
  cosigned(): Promise<{ size: number; lines: string } | null>;
  /** The bytes of a tile or bundle, or null if the tree has none of this width. */
  tile(name: TileName): Promise<Uint8Array | null>;
  /** Reads nodes of the tree of the first `size` leaves. */
  nodes(size: number): ReadNode;
}

interface Change {
  decidedOn: Cursors;
  cursors: Cursors;
  at: string;
  key?: string;
}

/** What is written under one key. */
interface Batch {
  /** The number of leaves before it. */
  first: number;
  /** Digest of the batch before; null for the first. */
  previous: Digest | null;
  at: string;
  leaves: string[];
  /** The cursors that moved; in a bundle's first batch all. */
  cursors: Record<string, number>;
  /** The key that was announced last. In a bundle's first batch, and in that which announces it. */
  key?: string;
  /** In a bundle's first batch: the hashes of the partial tiles of each level from 1, in base64. */
  edges?: string[];
}

/** Where the next batch is written, and what was read so far. */
interface Position {
  bundle: number;
  batch: number;
  previous: Digest | null;
  leaves: Buffer[];
  /** The hashes of the last, partial tile of each level from 1. */
  edges: Buffer[][];
  cursors: Record<string, number>;
  key: string | null;
}

/** Where all keys of the log are. */
export const treeFolder = 'tree/';
const number = (value: number): string => String(value).padStart(9, '0');
const batchFolder = (bundle: number): string => `${treeFolder}batches/${number(bundle)}/`;
const batchKey = ({ bundle, batch }: Pick<Position, 'bundle' | 'batch'>): string => batchFolder(bundle) + number(batch);
const tileKey = (level: number | 'entries', index: number): string => `${treeFolder}tiles/${level}/${number(index)}`;

/** Newer ones sort first. */
const cosignedFolder = `${treeFolder}cosigned/`;
const highest = 10 ** 15 - 1;
const cosignedKey = (size: number): string => cosignedFolder + String(highest - size).padStart(15, '0');

/** Opens the log of a bucket. */
export async function openTreeLog(bucket: Bucket): Promise<TreeLog> {
  let position = await findEnd(bucket);
  /** Full tiles and bundles that were read. */
  const tiles = new LRUCache<string, Uint8Array>({ max: 64 });

  const size = (): number => position.bundle * tileWidth + position.leaves.length;

  /** One at a time: each goes on from where the one before stopped. */
  let turn: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work, work);
    turn = done;
    return done;
  }

  async function readOn(): Promise<void> {
    for (;;) {
      const after = position.batch === 0 ? {} : { after: batchKey({ ...position, batch: position.batch - 1 }) };
      const keys = await bucket.list(batchFolder(position.bundle), after);
      for (const key of keys) {
        if (key !== batchKey(position)) throw corrupt(`${batchKey(position)} is gone.`);
        const bytes = await bucket.get(key);
        if (bytes === null) throw corrupt(`${key} is gone.`);
        position = await readBatch(position, key, bytes);
      }
      if (keys.length === 0) return;
    }
  }

  /** The position after a batch. What is full then is made durable first. */
  async function readBatch(before: Position, key: string, bytes: Uint8Array): Promise<Position> {
    const batch = decodeBatch(bytes, before, key);
    const leaves = [...before.leaves, ...batch.leaves.map((leaf) => Buffer.from(leaf))];
    const next = {
      ...before,
      batch: before.batch + 1,
      previous: digestOf(bytes),
      leaves,
      cursors: { ...before.cursors, ...batch.cursors },
      key: batch.key ?? before.key,
    };
    if (leaves.length < tileWidth) return next;
    await putTile('entries', before.bundle, encodeBundle(leaves));
    const edges = [...before.edges];
    let root = foldHashes(leaves.map(leafHash));
    for (let [level, index] = [1, before.bundle]; ; level++, index = Math.floor(index / tileWidth)) {
      const edge = [...(edges[level - 1] ?? []), root];
      edges[level - 1] = edge.length === tileWidth ? [] : edge;
      if (edge.length < tileWidth) break;
      await putTile(level, Math.floor(index / tileWidth), Buffer.concat(edge));
      root = foldHashes(edge);
    }
    return { ...next, bundle: before.bundle + 1, batch: 0, leaves: [], edges };
  }

  async function putTile(level: number | 'entries', index: number, bytes: Uint8Array): Promise<void> {
    const key = tileKey(level, index);
    const isSame = (stored: Uint8Array) => Buffer.compare(stored, bytes) === 0;
    if (!(await putOwn(bucket, key, bytes, isSame))) throw corrupt(`${key} is not of this log.`);
  }

  async function fullTile(level: number | 'entries', index: number): Promise<Uint8Array> {
    const key = tileKey(level, index);
    const cached = tiles.get(key);
    if (cached) return cached;
    const bytes = level === 0 ? hashesOf(await fullTile('entries', index), key) : await bucket.get(key);
    if (bytes === null) throw corrupt(`${key} is gone.`);
    tiles.set(key, bytes);
    return bytes;
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

  async function append(
    leaves: readonly Uint8Array[],
    { decidedOn, cursors, at, key: announced }: Change,
  ): Promise<boolean> {
    if (position.cursors !== decidedOn) return false;
    for (let from = 0; from === 0 || from < leaves.length;) {
      const some = leaves.slice(from, from + tileWidth - position.leaves.length);
      from += some.length || 1;
      const isLast = from >= leaves.length;
      // How far the logs were read counts once all that they led to is written.
      const moved = isLast ? cursors : {};
      const { bundle, batch, previous, edges } = position;
      const lastKey = (isLast ? announced : undefined) ?? (batch === 0 ? position.key : null);
      const bytes = encodeJson({
        first: size(),
        previous,
        at,
        leaves: some.map((leaf) => Buffer.from(leaf).toString()),
        cursors: batch === 0 ? { ...position.cursors, ...moved } : moved,
        ...(lastKey !== null && { key: lastKey }),
        ...(batch === 0 && { edges: edges.map((edge) => Buffer.concat(edge).toString('base64')) }),
      } satisfies Batch);
      const key = batchKey({ bundle, batch });
      const isOurs = (stored: Uint8Array) => Buffer.compare(stored, bytes) === 0;
      if (!(await putOwn(bucket, key, bytes, isOurs))) return false;
      position = await readBatch(position, key, bytes);
    }
    return true;
  }

  return {
    size,
    cursors: () => position.cursors,
    isNew: () => position.bundle === 0 && position.batch === 0,
    key: () => position.key,
    refresh: () => inTurn(readOn),
    append: (leaves, change) => inTurn(() => append(leaves, change)),

    async putCosignatures(of, lines) {
      await putOwn(bucket, cosignedKey(of), Buffer.from(lines), () => true);
    },

    async cosigned() {
      const [key] = await bucket.list(cosignedFolder, { limit: 1 });
      const bytes = key === undefined ? null : await bucket.get(key);
      return (
        bytes && { size: highest - Number(key!.slice(cosignedFolder.length)), lines: Buffer.from(bytes).toString() }
      );
    },

    async tile({ level, index, width }) {
      const bytes = await currentTile(level, index);
      if (bytes === null) return null;
      if (level !== 'entries') return bytes.byteLength < width * 32 ? null : bytes.subarray(0, width * 32);
      const leaves = decodeBundle(bytes)!;
      if (leaves.length < width) return null;
      return leaves.length === width ? bytes : encodeBundle(leaves.slice(0, width));
    },

    nodes: (upTo) =>
      nodesIn(async (level, index) => {
        const bytes = await currentTile(level, index);
        if (bytes === null) throw new RangeError(`The log has no tile ${index} of level ${level}.`);
        return bytes;
      }, upTo),
  };
}

function hashesOf(bundle: Uint8Array, where: string): Uint8Array {
  const leaves = decodeBundle(bundle);
  if (leaves?.length !== tileWidth) throw corrupt(`The bundle of ${where} is damaged.`);
  return Buffer.concat(leaves.map(leafHash));
}

/** The position before the first batch of the last bundle that was begun. */
async function findEnd(bucket: Bucket): Promise<Position> {
  const begins = async (bundle: number) => (await bucket.getPart(batchKey({ bundle, batch: 0 }), 0, 1)) !== null;
  const start = { bundle: 0, batch: 0, previous: null, leaves: [], edges: [], cursors: {}, key: null };
  if (!(await begins(0))) return start;
  let [low, high] = [0, 1];
  while (await begins(high)) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await begins(middle)) low = middle;
    else high = middle;
  }
  if (low === 0) return start;
  const key = batchKey({ bundle: low, batch: 0 });
  const { previous, edges = [], first } = decodeJson<Batch>((await bucket.get(key)) ?? new Uint8Array());
  if (first !== low * tileWidth) throw corrupt(`${key} is damaged.`);
  return { ...start, bundle: low, previous, edges: edges.map((edge) => splitHashes(Buffer.from(edge, 'base64'))) };
}

function decodeBatch(bytes: Uint8Array, { bundle, previous, leaves }: Position, key: string): Batch {
  let batch: Batch;
  try {
    batch = decodeJson<Batch>(bytes);
  } catch {
    throw corrupt(`${key} is not a batch of the public log.`);
  }
  if (batch.first !== bundle * tileWidth + leaves.length || batch.previous !== previous)
    throw corrupt(`${key} does not follow the batch before it.`);
  return batch;
}

/** Yields what is damaged or missing in the log of a bucket. It stops where it cannot tell what comes next. */
export async function* checkTreeLog(bucket: Bucket): AsyncGenerator<{ key: string; detail: string }> {
  const keys = listAll(bucket, `${treeFolder}batches/`);
  let position: Position = { bundle: 0, batch: 0, previous: null, leaves: [], edges: [], cursors: {}, key: null };
  let full: { key: string; bytes: Uint8Array } | null = null;
  for await (const key of keys) {
    if (key !== batchKey(position)) return yield { key: batchKey(position), detail: 'It is missing.' };
    // It was written before the first batch of the bundle after it.
    const stored = full && (await bucket.get(full.key));
    if (full && stored === null) yield { key: full.key, detail: 'It is missing.' };
    else if (full && Buffer.compare(stored!, full.bytes) !== 0)
      yield { key: full.key, detail: 'It has other leaves than the batches.' };
    full = null;
    const bytes = (await bucket.get(key)) ?? new Uint8Array();
    let batch: Batch;
    try {
      batch = decodeBatch(bytes, position, key);
    } catch {
      return yield { key, detail: 'It does not follow the batch before it.' };
    }
    const leaves = [...position.leaves, ...batch.leaves.map((leaf) => Buffer.from(leaf))];
    position = { ...position, batch: position.batch + 1, previous: digestOf(bytes), leaves };
    if (leaves.length < tileWidth) continue;
    full = { key: tileKey('entries', position.bundle), bytes: encodeBundle(leaves) };
    position = { ...position, bundle: position.bundle + 1, batch: 0, leaves: [] };
  }
}
