import { digestOf, isDigest, type Digest, hexOf } from '../model/digest.ts';
import { parseJson } from '../model/json.ts';
import { digestInTurns, digestOnce } from './digest-in-turns.ts';
import { LRUCache } from 'lru-cache';
import { isRegistryError, RegistryError, unavailable } from '../model/errors.ts';
import { listAll, type Bucket } from './bucket.ts';

/** How large pieces may be that are kept in a pack, in bytes: each, and all of them. */
export interface PackLimits {
  piece: number;
  all: number;
}

/** For pieces that other roots may have too. Larger ones are objects, which roots share. */
const sharedLimits: PackLimits = { piece: 64 * 1024, all: 256 * 1024 };
/** For pieces that no other root is likely to have. */
const ownLimits: PackLimits = { piece: 2 * 1024 * 1024, all: 8 * 1024 * 1024 };

/** The pieces of a pack by their digest. Null: its bytes do not match the digest. */
export type Pieces = ReadonlyMap<Digest, Uint8Array | null>;

/** Divides pieces into those that go into the pack of a root, in this order, and those that are objects, each once. */
function dividePieces(
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
    } else if (!isOneOf(alone, bytes)) alone.push(bytes);
  }
  return { packed, alone };
}

/**
 * The bytes of a pack: one line of JSON with the digest and the size of each piece, then the pieces.
 * The root is the first, and the largest is the last, so that a reader finds most in the beginning.
 */
async function encodePack(root: Uint8Array, pieces: readonly Uint8Array[]): Promise<Uint8Array> {
  const unique = new Map([[digestOnce(root), root]]);
  for (const bytes of pieces.toSorted((one, other) => one.byteLength - other.byteLength))
    unique.set(await digestInTurns(bytes), bytes);
  const index = [...unique].map(([digest, { byteLength }]) => ({ digest, size: byteLength }));
  return Buffer.concat([Buffer.from(`${JSON.stringify({ pieces: index })}\n`), ...unique.values()]);
}

/** Where the pieces of a pack are: the first byte of each, and the one after its last. */
interface PackIndex {
  places: ReadonlyMap<Digest, { start: number; end: number }>;
  bytes: number;
}

/** Reads the index of a pack from its beginning. Null if it is not a pack of this root, or if its index is longer. */
function readPackIndex(root: Digest, beginning: Uint8Array): PackIndex | null {
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

/** See `createObjects`. */
export type Objects = Omit<ReturnType<typeof createObjects>, 'use'>;

/** How often bytes are written that somebody deletes at once. */
const attempts = 3;

/** Returns the bucket key of an object: `objects/sha256/ab/cdef…`. */
export function objectKey(digest: Digest): string {
  return keyIn('objects', digest);
}

/** Returns the bucket key of a root's pack: `packs/sha256/ab/cdef…`. */
export function packKey(root: Digest): string {
  return keyIn('packs', root);
}

/** Returns the digest in the key of an object or a pack. For another file the result is not a digest. */
export function digestInKey(key: string): Digest {
  return `sha256:${key.slice(key.indexOf('/sha256/') + '/sha256/'.length).replace('/', '')}`;
}

function keyIn(folder: string, digest: Digest): string {
  const hex = hexOf(digest);
  return `${folder}/sha256/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

/** The bytes of a pack that are read at once: its index, and of most packs everything. */
const beginning = 320 * 1024;

/** The index and the beginning of a pack that was read. A piece is hashed when somebody needs it first. */
interface OpenPack extends PackIndex {
  beginning: Uint8Array;
  checked: Set<Digest>;
}

/**
 * Creates objects on a bucket: immutable bytes under their digest (design §5), with an LRU cache of
 * `cacheBytes`. What `get` returns was hashed once after it was read.
 */
export function createObjects(bucket: Bucket, { cacheBytes = 64 * 1024 * 1024 } = {}) {
  const cache = new LRUCache<string, Uint8Array | OpenPack>({
    maxSize: Math.max(cacheBytes, 1),
    maxEntrySize: Math.max(cacheBytes / 4, 1),
    sizeCalculation: (value) => Math.max(sizeOf(value), 1),
  });

  /** Writes the bytes, or returns what is stored under the key. */
  async function store(key: string, bytes: Uint8Array): Promise<Uint8Array | null> {
    let cause: unknown;
    // What was there may be deleted before it is read: by garbage collection, or with a withdrawn version.
    for (let attempt = 0; attempt < attempts && cause === undefined; attempt++) {
      const answer = await bucket.putIfAbsent(key, bytes).catch((error: unknown) => ({ error }));
      if (answer === 'created') return null;
      if (typeof answer === 'object') cause = answer.error;
      if (isRegistryError(cause)) throw cause;
      const stored = await bucket.get(key).catch((error: unknown) => {
        throw notStored(error);
      });
      if (stored !== null) return stored;
    }
    throw notStored(cause);
  }

  async function put(bytes: Uint8Array | string): Promise<Digest> {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    const digest = await digestInTurns(buffer);
    // Do not ask the cache: another process may have deleted the object since.
    const stored = await store(objectKey(digest), buffer);
    if (stored !== null && (await digestInTurns(stored)) !== digest) throw damaged(digest);
    return digest;
  }

  /** What garbage collection took away, and somebody needs again, is in quarantine. */
  async function read(key: string): Promise<Uint8Array | null> {
    return (await bucket.get(key)) ?? bringBack(bucket, key);
  }

  async function readPart(key: string, start: number, end: number): Promise<Uint8Array | null> {
    const part = await bucket.getPart(key, start, end);
    return part ?? (await bringBack(bucket, key))?.subarray(start, end) ?? null;
  }

  async function openPack(root: Digest): Promise<OpenPack | null> {
    const key = packKey(root);
    const cached = cache.get(key);
    if (cached !== undefined && !(cached instanceof Uint8Array)) return cached;
    let bytes = await readPart(key, 0, beginning);
    // A root with very many pieces has a longer index.
    if (bytes?.byteLength === beginning && bytes.indexOf(10) === -1) bytes = await read(key);
    if (bytes === null) return null;
    const index = readPackIndex(root, bytes);
    if (index === null || index.bytes < bytes.byteLength) throw damaged(root);
    const pack = { ...index, beginning: bytes, checked: new Set<Digest>() };
    cache.set(key, pack);
    return pack;
  }

  async function openPiece(digest: Digest, root: Digest): Promise<Uint8Array | null> {
    const pack = await openPack(root);
    const place = pack?.places.get(digest);
    if (!pack || place === undefined) return null;
    const { start, end } = place;
    if (end > pack.beginning.byteLength) return open(digest, () => readPart(packKey(root), start, end), packKey(root));
    const piece = pack.beginning.subarray(start, end);
    if (!pack.checked.has(digest) && digestOf(piece) !== digest) {
      // It may be repaired.
      cache.delete(packKey(root));
      throw damaged(digest);
    }
    pack.checked.add(digest);
    return piece;
  }

  /** An object, or a piece that is not in the beginning of the pack under a key. */
  async function open(
    digest: Digest,
    readBytes: () => Promise<Uint8Array | null>,
    pack?: string,
  ): Promise<Uint8Array | null> {
    const key = objectKey(digest);
    const cached = cache.get(key);
    if (cached instanceof Uint8Array) return cached;
    const bytes = await readBytes();
    if (bytes !== null && (await digestInTurns(bytes)) === digest) {
      cache.set(key, bytes);
      return bytes;
    }
    // It may be repaired, or was deleted.
    if (pack !== undefined) cache.delete(pack);
    if (bytes === null) return null;
    throw damaged(digest);
  }

  return {
    use: () => ({ bytes: cache.calculatedSize, limit: cache.maxSize }),
    /**
     * Stores the bytes and returns their digest once they are durable. Storing the same bytes twice
     * is not an error. Rejects with `unavailable` if the bucket rejects them; retrying is safe.
     */
    put,
    /**
     * As `put`, for a root and the pieces that it names. Small pieces are kept with the root in one
     * bucket object, its pack, which is written last: if the root can be read, so can all pieces.
     * `alone` are pieces that no other root is likely to have: larger ones are kept there too, because
     * nothing is gained by sharing them. Pass `pack`, the root's digest, to read them.
     */
    async putPack(root: Uint8Array, pieces: readonly Uint8Array[], alone: readonly Uint8Array[] = []): Promise<Digest> {
      const digest = digestOnce(root);
      const shared = dividePieces(pieces, sharedLimits);
      const large = dividePieces(alone, ownLimits);
      // Pieces that are objects anyway are not packed as well.
      const packed = [...shared.packed, ...large.packed.filter((bytes) => !isOneOf(shared.alone, bytes))];
      await Promise.all([...shared.alone, ...large.alone.filter((bytes) => !isOneOf(shared.alone, bytes))].map(put));
      const stored = await store(packKey(digest), await encodePack(root, packed));
      if (stored === null) return digest;
      const decoded = await decodePack(digest, stored);
      if (decoded === null || !isWholePack(decoded)) throw damaged(digest);
      // A pack that was divided by other limits.
      await Promise.all(packed.filter((piece) => !decoded.has(digestOnce(piece))).map(put));
      return digest;
    },
    /**
     * Returns the bytes, or null. Looks in the pack first, if one is given. Rejects with `corrupt` if
     * the bytes do not match the digest.
     */
    async get(digest: Digest, pack?: Digest): Promise<Uint8Array | null> {
      const piece = pack && (await openPiece(digest, pack));
      return piece ?? open(digest, () => read(objectKey(digest)));
    },
    /** Yields the digest of everything that is stored by itself, whether its bytes match or not. */
    list: () => digestsIn(bucket, 'objects'),
    /** Yields the root of every pack, whether its bytes match or not. */
    listPacks: () => digestsIn(bucket, 'packs'),
    /**
     * Removes the bytes, and the pack of this root. Pieces of other packs stay. Only for garbage
     * collection and withdrawn versions.
     */
    async delete(digest: Digest): Promise<void> {
      for (const key of [objectKey(digest), packKey(digest)]) {
        cache.delete(key);
        // First, or a reader could bring it back.
        await bucket.delete(quarantineKey(key));
        await bucket.delete(key);
      }
    },
  };
}

async function* digestsIn(bucket: Bucket, folder: string): AsyncGenerator<Digest> {
  const prefix = `${folder}/sha256/`;
  for await (const key of listAll(bucket, prefix)) yield digestInKey(key);
}

function isOneOf(all: readonly Uint8Array[], bytes: Uint8Array): boolean {
  return all.some((other) => Buffer.compare(other, bytes) === 0);
}

function sizeOf(value: Uint8Array | OpenPack): number {
  if (value instanceof Uint8Array) return value.byteLength;
  return value.beginning.byteLength + 200 * value.places.size;
}

function damaged(digest: Digest): RegistryError {
  return new RegistryError('corrupt', `The stored bytes of ${digest} do not match it. Run \`stele fsck\`.`);
}

function notStored(cause: unknown): RegistryError {
  const message = 'The store rejected the write; nothing was published. Try again.';
  return unavailable(message, { cause, retryAfter: 1 });
}

/** Where garbage collection keeps the bytes of a key until nobody can need them any more. */
export function quarantineKey(key: string): string {
  return `quarantine/${key}`;
}

/** Moves the bytes of a key into quarantine. Returns them, or null if the key is absent. */
export async function putIntoQuarantine(bucket: Bucket, key: string): Promise<number | null> {
  const bytes = await bucket.get(key);
  if (bytes === null) return null;
  await bucket.putIfAbsent(quarantineKey(key), bytes);
  await bucket.delete(key);
  return bytes.byteLength;
}

/**
 * Writes what is in quarantine back under its key, and returns it. Null if it is not there. The copy
 * stays: a deletion that was given up may still arrive.
 */
export async function bringBack(bucket: Bucket, key: string): Promise<Uint8Array | null> {
  const bytes = await bucket.get(quarantineKey(key));
  if (bytes === null) return null;
  await bucket.putIfAbsent(key, bytes).catch((error: unknown) => {
    // A full disk stops no reader. The next one tries again.
    if (!isRegistryError(error)) throw error;
  });
  return bytes;
}
