import { createHash } from 'node:crypto';

/** The git id of a file's content (SHA-1 of `blob <size>`, NUL and the bytes). */
export function blobId(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
