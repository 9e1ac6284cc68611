import { foldHashes, type ReadNode } from './tree.ts';

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
