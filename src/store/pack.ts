import { digestOf, isDigest, type Digest } from '../model/digest.ts';
import { parseJson } from '../model/json.ts';

/** The most bytes of a piece, and of all pieces besides the root. What is larger is an object of its own. */
const mostOfPiece = 64 * 1024;
const mostOfAll = 256 * 1024;

/** The pieces of a pack by their digest. Null: its bytes do not match the digest. */
export type Pieces = ReadonlyMap<Digest, Uint8Array | null>;

/** Divides pieces into those that go into the pack of a root, in this order, and those that are objects, each once. */
export function dividePieces(pieces: readonly Uint8Array[]): { packed: Uint8Array[]; alone: Uint8Array[] } {
  const packed: Uint8Array[] = [];
  const alone: Uint8Array[] = [];
  let total = 0;
  for (const bytes of pieces) {
    const isSmall = bytes.byteLength <= mostOfPiece && total + bytes.byteLength <= mostOfAll;
    if (isSmall) {
      total += bytes.byteLength;
      packed.push(bytes);
    } else if (!alone.some((other) => Buffer.compare(other, bytes) === 0)) alone.push(bytes);
  }
  return { packed, alone };
}

/**
 * The bytes of a pack: one line of JSON with the digest and the size of each piece, then the pieces.
 * The root is the first.
 */
export function encodePack(root: Uint8Array, pieces: readonly Uint8Array[]): Uint8Array {
  const unique = new Map([root, ...pieces].map((bytes) => [digestOf(bytes), bytes]));
  const index = [...unique].map(([digest, { byteLength }]) => ({ digest, size: byteLength }));
  return Buffer.concat([Buffer.from(`${JSON.stringify({ pieces: index })}\n`), ...unique.values()]);
}

/**
 * Takes a pack apart by its index. The pieces are not checked against their digests. Null if it is not a pack of this
 * root.
 */
export function splitPack(root: Digest, bytes: Uint8Array): ReadonlyMap<Digest, Uint8Array> | null {
  const end = bytes.indexOf(10);
  const index = end === -1 ? undefined : (parseJson(bytes.subarray(0, end)) as { pieces?: unknown } | undefined);
  if (!Array.isArray(index?.pieces)) return null;
  const pieces = new Map<Digest, Uint8Array>();
  let at = end + 1;
  for (const piece of index.pieces as unknown[]) {
    const { digest, size } = (piece ?? {}) as { digest?: unknown; size?: unknown };
    if (typeof digest !== 'string' || !isDigest(digest) || !Number.isSafeInteger(size)) return null;
    pieces.set(digest, bytes.subarray(at, at + (size as number)));
    at += size as number;
  }
  return pieces.has(root) && at === bytes.byteLength ? pieces : null;
}

/** As `splitPack`, and hashes each piece. */
export function decodePack(root: Digest, bytes: Uint8Array): Pieces | null {
  const pieces = splitPack(root, bytes);
  return (
    pieces && new Map(pieces.entries().map(([digest, found]) => [digest, digestOf(found) === digest ? found : null]))
  );
}

/** Whether a pack is as it was written. */
export function isWholePack(pieces: Pieces | null): boolean {
  return pieces?.values().every((piece) => piece !== null) === true;
}
