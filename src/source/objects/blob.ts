import { createHash } from 'node:crypto';

/** The git id of a file's content. */
export function blobId(bytes: Uint8Array): string {
  return objectId('blob', bytes);
}

/** The git id of an object (SHA-1 of its type, its size, NUL and the bytes). */
export function objectId(type: string, bytes: Uint8Array): string {
  return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}
