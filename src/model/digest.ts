import { hash } from 'node:crypto';

/** Identifies immutable bytes: `sha256:` and 64 lower-case hexadecimal digits (OCI image specification, descriptors). */
export type Digest = `sha256:${string}`;

const pattern = /^sha256:[0-9a-f]{64}$/;

/** The digest of the bytes. A string is hashed as UTF-8. */
export function digestOf(bytes: Uint8Array | string): Digest {
  return `sha256:${hash('sha256', bytes)}`;
}

/** Whether the text is a digest in canonical form. */
export function isDigest(text: string): text is Digest {
  return pattern.test(text);
}

/** The 64 hexadecimal digits without the prefix. */
export function hexOf(digest: Digest): string {
  return digest.slice('sha256:'.length);
}

/** The digest as a `Repr-Digest` field value (RFC 9530 §3): `sha-256=:<base64>:`. */
export function formatReprDigest(digest: Digest): string {
  return `sha-256=:${Buffer.from(hexOf(digest), 'hex').toString('base64')}:`;
}
