import { hash } from 'node:crypto';

/**
 * The Merkle tree of a transparency log (RFC 6962 §2.1, RFC 9162 §2.1), with SHA-256. A hash is 32
 * bytes, an index is that of a leaf, and a size is a number of leaves.
 */

const sha256 = (...parts: readonly Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');
const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);

/** The root of a tree without leaves. */
export const emptyRoot: Buffer = hash('sha256', '', 'buffer');

/** The hash of a leaf. */
export function leafHash(leaf: Uint8Array): Buffer {
  return sha256(leafPrefix, leaf);
}

/** The hash of a node by those of its two children. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(nodePrefix, left, right);
}

/** The root of a complete subtree by its leaves' hashes, whose number is a power of two. */
export function foldHashes(hashes: readonly Buffer[]): Buffer {
  let row = hashes;
  while (row.length > 1)
    row = Array.from({ length: row.length / 2 }, (_, at) => nodeHash(row[2 * at]!, row[2 * at + 1]!));
  return row[0]!;
}

/** Reads the hash of the complete subtree of `2 ** level` leaves whose number among its likes is `index`. */
export type ReadNode = (level: number, index: number) => Promise<Buffer>;

/** The root of the tree of the first `size` leaves. */
export async function rootOf(read: ReadNode, size: number): Promise<Buffer> {
  return size === 0 ? emptyRoot : rangeHash(read, 0, size);
}

/** Proves that a leaf is in the tree of the first `size` leaves: the siblings on its way to the root. */
export async function proveInclusion(read: ReadNode, index: number, size: number): Promise<Buffer[]> {
  if (!(index >= 0 && index < size)) throw new RangeError(`Leaf ${index} is not among ${size}.`);
  const proof: Promise<Buffer>[] = [];
  for (let [start, end] = [0, size]; end - start > 1;) {
    const middle = start + split(end - start);
    proof.unshift(index < middle ? rangeHash(read, middle, end) : rangeHash(read, start, middle));
    [start, end] = index < middle ? [start, middle] : [middle, end];
  }
  return Promise.all(proof);
}

/** Proves that the tree of the first `size` leaves begins with that of the first `old`. */
export async function proveConsistency(read: ReadNode, old: number, size: number): Promise<Buffer[]> {
  if (!(old >= 0 && old <= size)) throw new RangeError(`A tree of ${size} leaves does not begin with ${old}.`);
  if (old === 0 || old === size) return [];
  const proof: Promise<Buffer>[] = [];
  let [start, end] = [0, size];
  // Down to the subtree that ends where the old tree does.
  while (end !== old) {
    const middle = start + split(end - start);
    proof.unshift(old <= middle ? rangeHash(read, middle, end) : rangeHash(read, start, middle));
    [start, end] = old <= middle ? [start, middle] : [middle, end];
  }
  if (start > 0) proof.unshift(rangeHash(read, start, end));
  return Promise.all(proof);
}

/** Whether the proof shows that a leaf with this hash is in a tree (RFC 9162 §2.1.3.2). */
export function isIncluded(
  { index, size, root }: { index: number; size: number; root: Uint8Array },
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (!(index >= 0 && index < size)) return false;
  let [position, last] = [index, size - 1];
  let computed: Uint8Array = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      computed = nodeHash(sibling, computed);
      while (position % 2 === 0 && position !== 0) [position, last] = [half(position), half(last)];
    } else computed = nodeHash(computed, sibling);
    [position, last] = [half(position), half(last)];
  }
  return last === 0 && Buffer.compare(computed, root) === 0;
}

/** A tree by its size and root. */
export interface TreeHead {
  size: number;
  root: Uint8Array;
}

/** Whether the proof shows that the new tree begins with the old one (RFC 9162 §2.1.4.2). */
export function isConsistent(old: TreeHead, now: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (old.size > now.size) return false;
  if (old.size === 0) return proof.length === 0 && Buffer.compare(old.root, emptyRoot) === 0;
  if (old.size === now.size) return proof.length === 0 && Buffer.compare(old.root, now.root) === 0;
  let [position, last] = [old.size - 1, now.size - 1];
  while (position % 2 === 1) [position, last] = [half(position), half(last)];
  const rest = [...proof];
  const first = position === 0 ? old.root : rest.shift();
  if (first === undefined) return false;
  let [before, after]: Uint8Array[] = [first, first];
  for (const each of rest) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      [before, after] = [nodeHash(each, before!), nodeHash(each, after!)];
      while (position % 2 === 0 && position !== 0) [position, last] = [half(position), half(last)];
    } else after = nodeHash(after!, each);
    [position, last] = [half(position), half(last)];
  }
  return last === 0 && Buffer.compare(before!, old.root) === 0 && Buffer.compare(after!, now.root) === 0;
}

/** The root of the subtree of the leaves from `start` up to `end`, where `start` is a multiple of its size. */
async function rangeHash(read: ReadNode, start: number, end: number): Promise<Buffer> {
  const length = end - start;
  const left = split(length);
  if (length === 1 || left * 2 === length) return read(Math.round(Math.log2(length)), start / length);
  const [first, second] = await Promise.all([rangeHash(read, start, start + left), rangeHash(read, start + left, end)]);
  return nodeHash(first!, second!);
}

/** The largest power of two below a number; 1 for 1. */
function split(length: number): number {
  return length < 2 ? 1 : 2 ** Math.ceil(Math.log2(length) - 1);
}

function half(number: number): number {
  return Math.floor(number / 2);
}

/** Tiles of a tree and bundles of its leaves, as they are addressed (C2SP tlog-tiles). */

/** Hashes in a full tile, and leaves in a full bundle. */
export const tileWidth = 256;
const hashLength = 32;

/** A tile of hashes, or a bundle of leaves. */
export interface TileName {
  level: number | 'entries';
  index: number;
  /** Below 256: a partial tile, the beginning of the full one. */
  width: number;
}

/** The path of a tile below the prefix of its log: `tile/0/x001/234.p/5`. */
export function tilePath({ level, index, width }: TileName): string {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, '0');
  const parts = digits.match(/\d{3}/g)!.map((part, at, all) => (at < all.length - 1 ? `x${part}` : part));
  return `tile/${level}/${parts.join('/')}${width < tileWidth ? `.p/${width}` : ''}`;
}

/** Parses what `tilePath` writes. Null for any other text. */
export function parseTilePath(path: string): TileName | null {
  const [, level, parts, width] =
    /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path) ?? [];
  if (level === undefined) return null;
  const name: TileName = {
    level: level === 'entries' ? level : Number(level),
    index: Number(parts!.replaceAll(/[x/]/g, '')),
    width: width === undefined ? tileWidth : Number(width),
  };
  return tilePath(name) === path && name.width > 0 ? name : null;
}

/** The tiles and bundles of a tree, those that are partial last: what a client may ask for. */
export function* tilesOf(size: number): Generator<TileName> {
  for (const level of ['entries', 0, 1, 2, 3, 4, 5, 6] as const) {
    const count = Math.floor(size / tileWidth ** (level === 'entries' ? 0 : level));
    for (let index = 0; index * tileWidth < count; index++)
      yield { level, index, width: Math.min(tileWidth, count - index * tileWidth) };
  }
}

/** Reads the hashes of a tile: at least `width` of them. */
export type ReadTile = (level: number, index: number, width: number) => Promise<Uint8Array>;

/** Reads nodes of the tree of the first `size` leaves out of its tiles. */
export function nodesIn(read: ReadTile, size: number): ReadNode {
  return async (level, index) => {
    const tileLevel = Math.floor(level / 8);
    const count = 2 ** (level % 8);
    const first = index * count;
    const tile = Math.floor(first / tileWidth);
    const width = Math.min(tileWidth, Math.floor(size / tileWidth ** tileLevel) - tile * tileWidth);
    const hashes = splitHashes(await read(tileLevel, tile, width));
    return foldHashes(hashes.slice(first % tileWidth, (first % tileWidth) + count));
  };
}

/** The hashes in the bytes of a tile. */
export function splitHashes(bytes: Uint8Array): Buffer[] {
  return Array.from({ length: Math.floor(bytes.byteLength / hashLength) }, (_, at) =>
    Buffer.from(bytes.subarray(at * hashLength, (at + 1) * hashLength)),
  );
}

/** Leaves as a bundle: each after its length in two bytes. */
export function encodeBundle(leaves: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    leaves.flatMap((leaf) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(leaf.byteLength);
      return [length, leaf];
    }),
  );
}

/** The leaves of a bundle. Null if the bytes are none. */
export function decodeBundle(bytes: Uint8Array): Buffer[] | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const leaves: Buffer[] = [];
  for (let at = 0; at < buffer.length;) {
    if (at + 2 > buffer.length) return null;
    const end = at + 2 + buffer.readUInt16BE(at);
    if (end > buffer.length) return null;
    leaves.push(buffer.subarray(at + 2, end));
    at = end;
  }
  return leaves;
}
