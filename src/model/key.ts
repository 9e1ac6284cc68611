import type { Scope, JobOrigin } from './access.ts';
import { type Digest, digestOf, hexOf } from './digest.ts';

/** An API key: the value of one record. The secret is shown once and never stored. */
export interface Key {
  id: string;
  /** Who answers for a key of an organization, as text. Absent: not stated. */
  owner?: string;
  /** The organization whose key it is. Null: a person's. */
  org: string | null;
  name: string;
  scopes: Scope[];
  /** Globs of `type/slug` that the key is limited to. Null: the whole organization. */
  resources: string[] | null;
  /** Hash of the whole text. The secret has 190 random bits, so a plain hash cannot be brute-forced. */
  hash: Digest;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** The CI job that the key was issued to. Absent for every other key. */
  job?: JobOrigin;
  /** The person whose key it is, as the audit trail names them: it allows what they may do at that moment. */
  person?: string;
  /** Organizations that a person's key is limited to. Null: none of those of the person is left out. */
  organizations?: string[] | null;
  /** Set for a key of a person that stands in the URLs of feeds, and opens nothing else. */
  use?: 'feeds';
}

/** Whose key it is: the name of an organization, or a person as the audit trail names them. */
export function holderOf({ org, person }: Pick<Key, 'org' | 'person'>): string {
  return person ?? org!;
}

/** The name of the record that holds a key. */
export function keyRef(id: string): string {
  return `keys/${id}`;
}

/** The parts of a key's text: `stele_<id>_<secret><checksum>`, each of `[0-9A-Za-z]`; the checksum has 6. */
export interface KeyText {
  id: string;
  secret: string;
  checksum: string;
}

const grammar = /^stele_([0-9a-z]{12})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Parses a key's text without verifying the checksum. Null for anything else. */
export function parseKey(text: string): KeyText | null {
  const match = grammar.exec(text);
  return match && { id: match[1]!, secret: match[2]!, checksum: match[3]! };
}

/** The key as text. `parseKey` reads it back. */
export function formatKey({ id, secret, checksum }: KeyText): string {
  return `stele_${id}_${secret}${checksum}`;
}

/** Whether a key is neither revoked nor expired at that time. */
export function isUsable(key: Pick<Key, 'revokedAt' | 'expiresAt'>, at: () => Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || Date.parse(key.expiresAt) > at().getTime());
}

/** A person as their last sign-in saw them: the value of a record that expires. */
export interface Person {
  /** As the audit trail names them: `user:{issuer}#{subject}`. */
  actor: string;
  name: string;
  /** Where to send them mail, as the identity provider says. Absent: unknown. */
  email?: string;
  /** Their user name, as the identity provider states it. Absent: it states none. */
  username?: string;
  /** Their groups, as the identity provider names them. */
  groups: string[];
  /** ISO 8601, UTC. */
  signedInAt: string;
}

/** The person's name in names of records: actors have characters that these may not have. */
export function personId(actor: string): string {
  return hexOf(digestOf(actor)).slice(0, 32);
}

/** The name of the record of a person's last sign-in. */
export function personRef(actor: string): string {
  return `people/${personId(actor)}`;
}
