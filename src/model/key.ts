import type { Scope } from './access.ts';
import type { Digest } from './digest.ts';
import type { JobOrigin } from './job.ts';

/** An API key: the value of one ref. The secret itself is told once and kept by nobody. */
export interface Key {
  id: string;
  org: string;
  name: string;
  scopes: Scope[];
  /** Globs of `type/slug` that narrow it; null: the whole organization. */
  resources: string[] | null;
  /** Of the whole secret text. It holds 190 random bits, so that a plain hash cannot be searched. */
  hash: Digest;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** The CI job that it was made for; absent for every other key. */
  job?: JobOrigin;
}

/** The name of the ref that holds a key. */
export function keyRef(id: string): string {
  return `keys/${id}`;
}

/** A key's text in its parts: `stele_<id>_<secret><checksum>`, all but the last of `[0-9A-Za-z]`, checksum 6 characters. */
export interface KeyText {
  id: string;
  secret: string;
  checksum: string;
}

const grammar = /^stele_([0-9a-z]{12})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Reads a key's text, without looking whether the checksum fits. Null for anything else. */
export function parseKey(text: string): KeyText | null {
  const match = grammar.exec(text);
  return match && { id: match[1]!, secret: match[2]!, checksum: match[3]! };
}

/** The text that `parseKey` reads back. */
export function formatKey({ id, secret, checksum }: KeyText): string {
  return `stele_${id}_${secret}${checksum}`;
}
