import { digestOf, hexOf, type Digest } from '../model/digest.ts';
import { listAll, type Bucket } from './bucket.ts';

/** A preview that was found by its token. */
export interface FoundPreview {
  bytes: Uint8Array;
  /** ISO 8601, UTC. */
  expiresAt: string;
  /** The bytes of one of its parts, unchecked; null: it has no such part. */
  part(digest: Digest): Promise<Uint8Array | null>;
}

interface Place {
  bucket: Bucket;
  /** `Registry.expiryTime` */
  expiryTime(): Date;
}

/** How many previews one organization keeps, and their bytes in the bucket. */
const maxPerOrganization = { count: 500, bytes: 512 * 2 ** 20 };
const prefix = 'previews/';
const day = 24 * 60 * 60_000;
const tokenPattern = /^([0-9a-z]{9})-[0-9a-f]{32}$/;

/**
 * Stores a preview of an organization for some days, outside the refs and objects of what is
 * published. Its parts are stored before it, each under a key of its own. Returns its token, the
 * time at which it expires and 128 random bits, which nobody can find out from the bucket's keys.
 */
export async function keepPreview(
  { bucket, expiryTime, randomBytes }: Place & { randomBytes(size: number): Uint8Array },
  org: string,
  days: number,
  bytes: Uint8Array,
  parts: ReadonlyMap<Digest, Uint8Array> = new Map(),
): Promise<{ token: string; expiresAt: string }> {
  const expires = expiryTime().getTime() + days * day;
  const token = `${expires.toString(36).padStart(9, '0')}-${Buffer.from(randomBytes(16)).toString('hex')}`;
  const size = [...parts.values()].reduce((sum, { byteLength }) => sum + byteLength, bytes.byteLength);
  const key = `${keyOf(token)}-${ownerOf(org)}-${size.toString(36)}.${hexOf(digestOf(bytes)).slice(0, 32)}`;
  for (const [digest, part] of parts) await bucket.putIfAbsent(partKey(key, digest), part);
  await bucket.putIfAbsent(key, bytes);
  return { token, expiresAt: new Date(expires).toISOString() };
}

/** The preview with this token; null if there is none, it has expired, or its bytes are not those that were stored. */
export async function findPreview({ bucket, expiryTime }: Place, token: string): Promise<FoundPreview | null> {
  const expires = Number.parseInt(tokenPattern.exec(token)?.[1] ?? '', 36);
  if (!(expiryTime().getTime() < expires)) return null;
  // Its own key is the first that begins so: those of its parts are longer.
  const [key] = await bucket.list(keyOf(token), { limit: 1 });
  const bytes = key === undefined || key !== previewOf(key) ? null : await bucket.get(key);
  if (!bytes || !isPreview(key!, bytes)) return null;
  const part = (digest: Digest) => bucket.get(partKey(key!, digest));
  return { bytes, expiresAt: new Date(expires).toISOString(), part };
}

/** Deletes expired previews. Their names begin with the time, so the first that has not expired ends it. */
export async function sweepPreviews({ bucket, expiryTime }: Place): Promise<void> {
  for await (const key of listAll(bucket, prefix)) {
    if (Number.parseInt(key.slice(prefix.length, prefix.length + 9), 36) > expiryTime().getTime()) return;
    await bucket.delete(key);
  }
}

/**
 * Deletes the oldest previews of an organization until the others fit into the room. Anybody who may
 * open pull requests has previews stored, so their age alone does not bound them.
 */
export async function trimPreviews(
  { bucket }: Pick<Place, 'bucket'>,
  org: string,
  { count, bytes } = maxPerOrganization,
): Promise<void> {
  const owner = ownerOf(org);
  const ofOwner = (await Array.fromAsync(listAll(bucket, prefix))).filter((key) => key.split('-')[2] === owner);
  let room = bytes;
  // Their names begin with the time at which they expire, so the newest are last.
  const newest = [...new Set(ofOwner.map(previewOf))].reverse();
  for (const [index, preview] of newest.entries()) {
    room -= Number.parseInt(preview.split('-')[3]!, 36);
    if (index < count && room >= 0) continue;
    // The preview first: without it, nobody finds its parts.
    for (const key of ofOwner) if (previewOf(key) === preview) await bucket.delete(key);
  }
}

/** What the keys of an organization's previews have in common. Its name may be private. */
function ownerOf(org: string): string {
  return hexOf(digestOf(`previews of ${org}`)).slice(0, 12);
}

/** The beginning of a preview's key. After it come whose it is and its bytes, to find out what to delete, and its digest. */
function keyOf(token: string): string {
  return `${prefix}${token.slice(0, 9)}-${hexOf(digestOf(token)).slice(0, 32)}`;
}

function partKey(key: string, digest: Digest): string {
  return `${key}-${hexOf(digest)}`;
}

/** How the digest of what the key of a preview, or of a part of one, holds begins, in hexadecimal digits. Null: it does not say. */
export function previewDigest(key: string): string | null {
  const [, , , size, part] = key.startsWith(prefix) ? key.split('-') : [];
  // Keys of older programs have no digest of the preview.
  return part ?? size?.split('.')[1] ?? null;
}

/** Whether a preview, or a part of one, is what was stored, as far as its key says. */
export function isPreview(key: string, bytes: Uint8Array): boolean {
  return hexOf(digestOf(bytes)).startsWith(previewDigest(key) ?? '');
}

function previewOf(key: string): string {
  return key.split('-').slice(0, 4).join('-');
}
