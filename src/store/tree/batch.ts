import { digestOf, type Digest } from '../../model/digest.ts';
import { isObject, parseJson } from '../../model/json.ts';
import {
  encodeBundle,
  nodesIn,
  splitHashes,
  tileWidth,
  foldHashes,
  leafHash,
  rootOf,
} from '../../model/transparency/tree.ts';
import { corrupt } from '../records.ts';
import { decodeSealed, encodeSealed } from '../log/entry.ts';

/** The keys of the public log, and its batches: what each says, and what follows what. Nothing here reads or writes. */

/** How far an organization's log was read into the tree. */
export interface Cursor {
  /** The number of the newest entry that was read; -1: it was not begun. */
  entry: number;
  /** The digest of that entry; null: it is not known. */
  digest: Digest | null;
}

/** By organization. */
export type Cursors = ReadonlyMap<string, Cursor>;

/** What is written under one key. */
interface Batch {
  /** The number of leaves before it. */
  first: number;
  /** Digest of the batch before; null for the first. */
  previous: Digest | null;
  at: string;
  leaves: string[];
  /** The entries of the cursors that moved; in a bundle's first batch of all. */
  cursors: Record<string, number>;
  /** The digests of those entries. */
  entries: Record<string, Digest>;
  /** The key that was announced last. In a bundle's first batch, and in that which announces it. */
  key?: string;
  /** In a bundle's first batch: the hashes of the partial tiles of each level from 1, in base64. */
  edges?: string[];
}

/** The place of a batch: its bundle, and its number there. */
export interface TreePlace {
  bundle: number;
  batch: number;
}

/** Where the next batch is written, and what was read so far. */
export interface TreePosition extends TreePlace {
  /** The batch before; null: it was not read. */
  last: TreePlace | null;
  previous: Digest | null;
  leaves: readonly Buffer[];
  /** The hashes of the last, partial tile of each level from 1. */
  edges: readonly (readonly Buffer[])[];
  cursors: Cursors;
  /** The key that was announced last, as a verifier key. */
  key: string | null;
}

/** Where all keys of the log are. */
export const treeFolder = 'tree/';
export const batchesFolder = `${treeFolder}batches/`;
export const tilesFolder = `${treeFolder}tiles/`;
/** Names the log among those that have a head (`log/heads.ts`); its entries are leaves, and its digests roots. */
export const treeName = 'tree';

const number = (value: number): string => String(value).padStart(9, '0');

/** The folder of a bundle's batches. */
export function batchFolder(bundle: number): string {
  return `${batchesFolder}${number(bundle)}/`;
}

export function batchKey({ bundle, batch }: TreePlace): string {
  return batchFolder(bundle) + number(batch);
}

export function tileKey(level: number | 'entries', index: number): string {
  return `${tilesFolder}${level}/${number(index)}`;
}

/** The position before the first batch. */
export const start: TreePosition = {
  bundle: 0,
  batch: 0,
  last: null,
  previous: null,
  leaves: [],
  edges: [],
  cursors: new Map(),
  key: null,
};

/** The number of leaves before a position. */
export function treeSizeOf({ bundle, leaves }: Pick<TreePosition, 'bundle' | 'leaves'>): number {
  return bundle * tileWidth + leaves.length;
}

/** The root of the tree of all leaves before a position. */
export async function rootAt(position: TreePosition): Promise<Buffer> {
  const { leaves, edges } = position;
  const size = treeSizeOf(position);
  const read = nodesIn(
    async (level) => Buffer.concat(level === 0 ? leaves.map(leafHash) : (edges[level - 1] ?? [])),
    size,
  );
  return rootOf(read, size);
}

/** A root as the digest of a head. */
export function digestOfRoot(root: Uint8Array): Digest {
  return `sha256:${Buffer.from(root).toString('hex')}`;
}

/** Encodes the batch that stands at a position. */
export function encodeBatch(
  { bundle, batch, previous, leaves, edges, cursors, key }: TreePosition,
  given: { leaves: readonly Uint8Array[]; cursors: Cursors; at: string; key: string | null },
): Uint8Array {
  const isFirst = batch === 0;
  const moved = [...(isFirst ? new Map([...cursors, ...given.cursors]) : given.cursors)];
  const announced = given.key ?? (isFirst ? key : null);
  const made: Batch = {
    first: treeSizeOf({ bundle, leaves }),
    previous,
    at: given.at,
    leaves: given.leaves.map((leaf) => Buffer.from(leaf).toString()),
    cursors: Object.fromEntries(moved.map(([org, { entry }]) => [org, entry])),
    entries: Object.fromEntries(moved.flatMap(([org, { digest }]) => (digest === null ? [] : [[org, digest]]))),
    ...(announced !== null && { key: announced }),
    ...(isFirst && { edges: edges.map((edge) => Buffer.concat(edge).toString('base64')) }),
  };
  return encodeSealed(JSON.stringify(made)).bytes;
}

/** Batches of a program from before have no digest, and none of the members that came with it. */
const membersBefore = new Set(['first', 'previous', 'at', 'leaves', 'cursors', 'key', 'edges']);

/** The batch in the bytes. Null unless they are as they were written. */
function batchIn(bytes: Uint8Array): Batch | null {
  const sealed = decodeSealed<Batch>(bytes);
  const value = sealed ?? parseJson(bytes);
  if (!isObject(value) || !Array.isArray(value['leaves']) || !isObject(value['cursors'])) return null;
  const isWhole = sealed !== null || Object.keys(value).every((name) => membersBefore.has(name));
  return isWhole ? ({ entries: {}, ...value } as unknown as Batch) : null;
}

/** The position before the first batch of a bundle, by that batch. Throws `corrupt` for other bytes. */
export function beginOf(bundle: number, bytes: Uint8Array): TreePosition {
  const batch = batchIn(bytes);
  if (batch?.first !== bundle * tileWidth) throw corrupt(`${batchKey({ bundle, batch: 0 })} is damaged.`);
  return { ...start, bundle, previous: batch.previous, edges: edgesOf(batch) };
}

function edgesOf({ edges = [] }: Batch): Buffer[][] {
  return edges.map((edge) => splitHashes(Buffer.from(edge, 'base64')));
}

/** What a batch leads to. */
export interface BatchStep {
  position: TreePosition;
  /** Tiles and bundles that are full now, which must be durable before the next batch is. */
  full: { key: string; bytes: Uint8Array }[];
  leaves: Buffer[];
}

export const doesNotFollow = 'It does not follow the batch before it.';

/** What is wrong with the bytes at a position; else what they lead to. */
export function stepOver(before: TreePosition, bytes: Uint8Array): BatchStep | string {
  const batch = batchIn(bytes);
  if (batch === null) return 'It was changed or is damaged.';
  const hasEdges = before.batch > 0 || JSON.stringify(edgesOf(batch)) === JSON.stringify(before.edges);
  const own = batch.leaves.map((leaf) => Buffer.from(leaf));
  const leaves = [...before.leaves, ...own];
  if (batch.first !== treeSizeOf(before)) return 'It is a batch of another place.';
  const follows = batch.previous === before.previous && hasEdges;
  if (!follows || leaves.length > tileWidth) return doesNotFollow;
  const digests = new Map(Object.entries(batch.entries));
  const cursors = Object.entries(batch.cursors).map(([org, entry]): [string, Cursor] => [
    org,
    { entry, digest: digests.get(org) ?? null },
  ]);
  const position: TreePosition = {
    ...before,
    batch: before.batch + 1,
    last: { bundle: before.bundle, batch: before.batch },
    previous: digestOf(bytes),
    leaves,
    cursors: new Map([...before.cursors, ...cursors]),
    key: batch.key ?? before.key,
  };
  if (leaves.length < tileWidth) return { position, full: [], leaves: own };
  const full = [{ key: tileKey('entries', before.bundle), bytes: encodeBundle(leaves) as Uint8Array }];
  const edges = [...before.edges];
  let root = foldHashes(leaves.map(leafHash));
  for (let [level, index] = [1, before.bundle]; ; level++, index = Math.floor(index / tileWidth)) {
    const edge = [...(edges[level - 1] ?? []), root];
    edges[level - 1] = edge.length === tileWidth ? [] : edge;
    if (edge.length < tileWidth) break;
    full.push({ key: tileKey(level, Math.floor(index / tileWidth)), bytes: Buffer.concat(edge) });
    root = foldHashes(edge);
  }
  return { position: { ...position, bundle: before.bundle + 1, batch: 0, leaves: [], edges }, full, leaves: own };
}
