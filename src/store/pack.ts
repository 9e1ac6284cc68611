import { digestOf, isDigest, type Digest } from '../model/digest.ts';
import { parseJson } from '../model/json.ts';
import { digestInTurns } from './digest-in-turns.ts';

/** How large pieces may be that are kept in a pack, in bytes: each, and all of them. */
export interface PackLimits {
  piece: number;
  all: number;
}

/** For pieces that other roots may have too. Larger ones are objects, which roots share. */
export const sharedLimits: PackLimits = { piece: 64 * 1024, all: 256 * 1024 };
/** For pieces that no other root is likely to have. */
export const ownLimits: PackLimits = { piece: 2 * 1024 * 1024, all: 8 * 1024 * 1024 };

/** The pieces of a pack by their digest. Null: its bytes do not match the digest. */
export type Pieces = ReadonlyMap<Digest, Uint8Array | null>;

/** Divides pieces into those that go into the pack of a root, in this order, and those that are objects, each once. */
export function dividePieces(
  pieces: readonly Uint8Array[],
  limits: PackLimits,
): { packed: Uint8Array[]; alone: Uint8Array[] } {
  const packed: Uint8Array[] = [];
  const alone: Uint8Array[] = [];
  let total = 0;
  for (const bytes of pieces) {
    const isSmall = bytes.byteLength <= limits.piece && total + bytes.byteLength <= limits.all;
    if (isSmall) {
      total += bytes.byteLength;
      packed.push(bytes);
    } else if (!alone.some((other) => Buffer.compare(other, bytes) === 0)) alone.push(bytes);
  }
  return { packed, alone };
}

/**
 * The bytes of a pack: one line of JSON with the digest and the size of each piece, then the pieces.
 * The root is the first, and the largest is the last, so that a reader finds most in the beginning.
 */
export async function encodePack(root: Uint8Array, pieces: readonly Uint8Array[]): Promise<Uint8Array> {
  const unique = new Map([[digestOf(root), root]]);
  for (const bytes of pieces.toSorted((one, other) => one.byteLength - other.byteLength))
    unique.set(await digestInTurns(bytes), bytes);
  const index = [...unique].map(([digest, { byteLength }]) => ({ digest, size: byteLength }));
  return Buffer.concat([Buffer.from(`${JSON.stringify({ pieces: index })}\n`), ...unique.values()]);
}

/** Where the pieces of a pack are: the first byte of each, and the one after its last. */
export interface PackIndex {
  places: ReadonlyMap<Digest, { start: number; end: number }>;
  bytes: number;
}

/** Reads the index of a pack from its beginning. Null if it is not a pack of this root, or if its index is longer. */
export function readPackIndex(root: Digest, beginning: Uint8Array): PackIndex | null {
  const end = beginning.indexOf(10);
  const index = end === -1 ? undefined : (parseJson(beginning.subarray(0, end)) as { pieces?: unknown } | undefined);
  if (!Array.isArray(index?.pieces)) return null;
  const places = new Map<Digest, { start: number; end: number }>();
  let at = end + 1;
  for (const piece of index.pieces as unknown[]) {
    const { digest, size } = (piece ?? {}) as { digest?: unknown; size?: unknown };
    if (typeof digest !== 'string' || !isDigest(digest) || !Number.isSafeInteger(size) || (size as number) < 0)
      return null;
    places.set(digest, { start: at, end: at + (size as number) });
    at += size as number;
  }
  return places.has(root) ? { places, bytes: at } : null;
}

/** Takes a whole pack apart and hashes each piece. Null if it is not a pack of this root. */
export async function decodePack(root: Digest, bytes: Uint8Array): Promise<Pieces | null> {
  const index = readPackIndex(root, bytes);
  if (index === null || index.bytes !== bytes.byteLength) return null;
  const pieces = new Map<Digest, Uint8Array | null>();
  for (const [digest, { start, end }] of index.places) {
    const piece = bytes.subarray(start, end);
    pieces.set(digest, (await digestInTurns(piece)) === digest ? piece : null);
  }
  return pieces;
}

/** Whether a pack is as it was written. */
export function isWholePack(pieces: Pieces | null): boolean {
  return pieces?.values().every((piece) => piece !== null) === true;
}
