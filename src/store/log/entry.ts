import { digestOf, isDigest, type Digest } from '../../model/digest.ts';
import { isObject, parseJson } from '../../model/json.ts';
import { placeOf } from '../../model/record-places.ts';
import type { Bucket } from '../bucket.ts';
import { corrupt, type Generation } from '../records.ts';

/** JSON whose last member, `digest`, is the digest of all bytes before it. */

const seal = (digest: Digest): string => `,"digest":"${digest}"}`;
const sealLength = seal(digestOf('')).length;

/** Adds its digest to the text of a JSON object. */
export function encodeSealed(text: string): { bytes: Uint8Array; digest: Digest } {
  const open = Buffer.from(text.slice(0, -1));
  const digest = digestOf(open);
  return { bytes: Buffer.concat([open, Buffer.from(seal(digest))]), digest };
}

/** The object in the bytes. Null unless they are what `encodeSealed` wrote. */
export function decodeSealed<T extends object>(bytes: Uint8Array): (Partial<T> & { digest: Digest }) | null {
  const value = parseJson(bytes);
  const digest = isObject(value) ? String(value['digest']) : '';
  if (!isDigest(digest) || digest !== digestOf(bytes.subarray(0, -sealLength))) return null;
  return value as Partial<T> & { digest: Digest };
}

/** A change of one record. */
export interface RecordChange extends Omit<Generation<unknown>, 'at'> {
  name: string;
  /** Sequence number of the entry that holds the generation before; null for the first. */
  last: number | null;
  /** Without the items of its list, if it has one: they stand before it as changes of their own. */
  value: unknown;
  /** The member of the value that holds the list. */
  list?: string;
}

/** A change of one item of a record's list. It stands before the change of the record. */
export interface ItemChange {
  name: string;
  /** The record, and the generation of it that this change belongs to. */
  owner: string;
  generation: number;
  /** Sequence number of the entry that holds the item's change before; null for the first. */
  last: number | null;
  /** Where the item stands in the list: texts in ascending order. */
  order: string;
  value: unknown;
}

export type LogChange = RecordChange | ItemChange;

/** One atomic commit to a log (design §5). */
export interface Entry {
  /** 1 for the first. */
  sequence: number;
  /** Digest of the entry before; null for the first. */
  previous: Digest | null;
  /** ISO 8601, UTC. */
  at: string;
  /** Names this write, so that a writer that got no answer can recognize its entry. */
  writer: string;
  /** Digest of the object that lists the newest checkpoint and the segments after it. */
  index: Digest | null;
  changes: LogChange[];
}

/** An entry with its digest. */
export interface SealedEntry extends Entry {
  digest: Digest;
}

/** The log of what belongs to no organization. */
export const shared = 'registry';

const blockSize = 4096;
const highestBlock = 10 ** 9 - 1;
const highest = 10 ** 15 - 1;

/** The log that holds a record: `@` and the organization, or `registry`. */
export function logOf(name: string): string {
  return placeOf(name).kept === 'organization' ? `@${name.split('/')[1]!}` : shared;
}

/** The folder of a log's entries. */
export function logFolder(partition: string): string {
  return `log/${partition}/`;
}

/** The bucket key of an entry. Newer entries sort first; a folder holds at most 4,096. */
export function entryKey(partition: string, sequence: number): string {
  const block = highestBlock - Math.floor(sequence / blockSize);
  return `${logFolder(partition)}${String(block).padStart(9, '0')}/${String(highest - sequence).padStart(15, '0')}`;
}

/** Parses the key of an entry. Null for any other key. */
export function parseEntryKey(key: string): { partition: string; sequence: number } | null {
  const [, partition, number] = /^log\/([^/]+)\/\d{9}\/(\d{15})$/.exec(key) ?? [];
  if (partition === undefined) return null;
  const sequence = highest - Number(number);
  return entryKey(partition, sequence) === key ? { partition, sequence } : null;
}

/** Encodes an entry as one line of JSON, sealed by its digest. `changes`: each change as JSON. */
export function encodeEntry(
  entry: Omit<Entry, 'changes'>,
  changes: readonly string[],
): { bytes: Uint8Array; digest: Digest } {
  return encodeSealed(`${JSON.stringify(entry).slice(0, -1)},"changes":[${changes.join(',')}]}`);
}

/** Decodes an entry. Throws `corrupt` unless the bytes are that entry, unchanged since it was written. */
export function decodeEntry(bytes: Uint8Array, sequence: number, where: string): SealedEntry {
  const entry = entryIn(bytes, sequence);
  if (entry === null) throw corrupt(`${where} does not hold entry ${sequence}.`);
  return entry;
}

/** As `decodeEntry`, but null for other bytes. */
export function entryIn(bytes: Uint8Array | null, sequence: number): SealedEntry | null {
  const decoded = bytes && decodeSealed<SealedEntry>(bytes);
  return decoded?.sequence === sequence && Array.isArray(decoded.changes) ? (decoded as SealedEntry) : null;
}

/**
 * The entry in the bytes, if it is that of this number and follows `previous`, the digest of the one
 * before (undefined: not known).
 */
export function entryAfter(
  bytes: Uint8Array | null,
  sequence: number,
  previous: SealedEntry['previous'] | undefined,
): { entry: SealedEntry; fault: '' } | { entry: null; fault: string } {
  if (bytes === null) return { entry: null, fault: 'The entry is missing.' };
  const entry = entryIn(bytes, sequence);
  if (entry === null) return { entry, fault: 'The entry was changed or is damaged.' };
  const isNext = sequence === 1 ? entry.previous === null : previous === undefined || entry.previous === previous;
  return isNext ? { entry, fault: '' } : { entry: null, fault: 'It does not follow the entry before it.' };
}

/** The entry of a log; null if it is missing, or not as it was written. */
export async function readEntry(bucket: Bucket, log: string, sequence: number): Promise<SealedEntry | null> {
  return entryIn(await bucket.get(entryKey(log, sequence)), sequence);
}

export function isItem(change: LogChange): change is ItemChange {
  return 'owner' in change;
}
