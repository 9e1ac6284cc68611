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
