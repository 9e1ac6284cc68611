import { type RegistryError, conflict } from '../model/errors.ts';
import type { Bucket } from './bucket.ts';
import { listLogs } from './log/check-log.ts';
import { entryAfter, entryKey, readEntry, type SealedEntry } from './log/entry.ts';
import { newestSequence } from './log/follow-log.ts';
import { type CopyListener, copyKeys, deleteOthers } from './copy-keys.ts';
import { randomUUID } from 'node:crypto';
import { digestOf } from '../model/digest.ts';
import { expiringKinds } from '../model/record-places.ts';
import { beginCopy, beginUpdate, finishCopy, hasFormat } from './format.ts';
import { deleteOlderHeads, putHead, type Head } from './log/heads.ts';
import { digestInKey, decodePack, isWholePack, quarantineKey } from './objects.ts';
import { copyTree } from './tree/check-tree.ts';
import { faultOfRecord } from './record-fault.ts';

/** Numbers of the newest entries by log. */
type Tips = ReadonlyMap<string, number>;

/** Entries that are read at once, and written where nobody opens the copy yet. One that was stopped may lack any of them. */
const atOnce = 64;

/** Reads how far each log reaches: those of organizations first, so that the registry's knows them all. */
export async function readTips(bucket: Bucket): Promise<Tips> {
  const tips = new Map<string, number>();
  // `@acme` sorts before `registry`.
  for await (const log of listLogs(bucket)) tips.set(log, await newestSequence(bucket, log));
  return tips;
}

/** Rejects with `conflict` unless the logs of the copy are beginnings of those of the store. */
async function assertSameStore(from: Bucket, into: Bucket): Promise<void> {
  const tips = await readTips(from);
  for (const [log, reached] of await readTips(into)) {
    const tip = tips.get(log) ?? 0;
    if (reached > tip) throw isOther(log, reached, tip);
    const [there, here] = await Promise.all([readEntry(from, log, reached), readEntry(into, log, reached)]);
    // A damaged one is reported when it is copied.
    if (there && here && there.digest !== here.digest) throw isOther(log, reached, tip);
  }
}

function isOther(log: string, reached: number, tip: number): RegistryError {
  const message =
    reached > tip
      ? `The copy has ${reached} entries of the log ${log}, and the store only ${tip}: the store lost its newest entries, or the copy is of another store.`
      : `Entry ${reached} of the log ${log} is another one in the copy: the copy is of another store.`;
  return conflict(`${message} Use an empty folder.`);
}

export interface LogCopy {
  /** Number of the last entry. */
  tip: number;
  /** Whether an entry is copied. The copy ends before the first that is not. */
  takes: (entry: SealedEntry) => boolean;
  /** Whether the copy can be opened already: then whatever stops this leaves no gap between its entries. */
  isOpen: boolean;
}

/**
 * Copies the entries of a log, oldest first. Stops before a damaged entry and reports it. Rejects
 * with `conflict` if the other bucket has other entries. Returns how many it copied.
 */
export async function copyLog(
  from: Bucket,
  into: Bucket,
  log: string,
  { tip, takes, isOpen }: LogCopy,
  listener: CopyListener,
): Promise<number> {
  const reached = await newestSequence(into, log);
  if (reached > tip) {
    throw isOther(log, reached, tip);
  }
  let count = 0;
  let previous: SealedEntry['digest'] | null | undefined;
  // Copies the last ones again: a copy that was stopped may lack some of them.
  for (let first = Math.max(1, reached - atOnce + 1); first <= tip; first += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, tip - first + 1) }, (_, index) => first + index);
    const read = await Promise.all(numbers.map((number) => from.get(entryKey(log, number))));
    const sound: { key: string; bytes: Uint8Array; mayBeThere: boolean }[] = [];
    let isOver = false;
    for (const [index, bytes] of read.entries()) {
      const key = entryKey(log, numbers[index]!);
      const { entry, fault } = entryAfter(bytes, numbers[index]!, previous);
      if (entry === null) listener.damaged(key, fault);
      isOver = entry === null || !takes(entry);
      if (isOver) break;
      previous = entry!.digest;
      sound.push({ key, bytes: bytes!, mayBeThere: numbers[index]! <= reached });
    }
    const copy = async ({ key, bytes, mayBeThere }: (typeof sound)[number]): Promise<boolean> =>
      !(mayBeThere && (await isThere(into, key, bytes))) && copyEntry(into, key, bytes, listener);
    const copied = isOpen ? await Array.fromAsync(sound, copy) : await Promise.all(sound.map(copy));
    count += copied.filter(Boolean).length;
    if (isOver) return count;
  }
  return count;
}

async function copyEntry(into: Bucket, key: string, bytes: Uint8Array, { copied }: CopyListener): Promise<boolean> {
  if ((await into.putIfAbsent(key, bytes)) === 'created') {
    copied(key, bytes.byteLength);
    return true;
  }
  if (await isThere(into, key, bytes)) return false;
  throw conflict(
    `The copy has another entry at ${key}. It is damaged, or of another store: check the copy with \`stele fsck --data\`.`,
  );
}

async function isThere(into: Bucket, key: string, bytes: Uint8Array): Promise<boolean> {
  const there = await into.get(key);
  return there !== null && Buffer.compare(there, bytes) === 0;
}

/** What was copied. */
export interface Copied {
  objects: number;
  /** Of the objects. */
  bytes: number;
  /** Entries of all logs. */
  entries: number;
  /** Records that expire, and keys of the public log. */
  records: number;
  /** The newest entry of each log of the copy. Kept elsewhere, they show later that none was lost. */
  heads: Head[];
  /** What is damaged and was not copied. `key`: of the bucket. */
  damages: { key: string; detail: string }[];
}

/** Which entries of a log a copy ends with: the number of the last one, or a time (ISO 8601, UTC). */
export type Until = { log: string; sequence: number } | { at: string };

export interface CopyOptions {
  /** Where the logs end in the copy. Default: where they end now. */
  until?: readonly Until[];
  /** Whether records that expire may tell of later changes than the copied logs have: most are left out then. */
  isAhead?: boolean;
  /** Calls the work until nothing was deleted while it ran, so that it saw everything there was at its start. */
  undisturbed?: (work: () => Promise<void>) => Promise<void>;
  /** Called after each key. */
  progress?: (copied: Copied) => void;
}

/** Kinds of records that stay true when a store is taken back to an earlier state: what has ended or was used. */
const lasting = ['sessions', 'tokens'];
/** Leases mean nothing in a copy. Heads are copied last, so that none names an entry that the copy lacks. */
const notCopied = ['leases', 'heads'];

/**
 * Copies a store into an empty bucket, or what is new into an earlier copy. It may be written to
 * meanwhile: the copy has what was there when it began to read the logs. First the records that
 * expire, so that none of them mentions a later entry; then how far the logs reach, the objects, and
 * the entries. Whatever stops it, the copy is a beginning of the logs with all that they name.
 */
export async function copyStore(from: Bucket, into: Bucket, options: CopyOptions = {}): Promise<Copied> {
  const { until = [], isAhead = false, undisturbed = (work) => work(), progress = () => undefined } = options;
  const isOpen = await hasFormat(into);
  if (!isOpen) await beginCopy(into, until);
  else {
    // Before anything of the copy is deleted.
    await assertSameStore(from, into);
    await beginUpdate(into);
  }
  const copied: Copied = { objects: 0, bytes: 0, entries: 0, records: 0, heads: [], damages: [] };
  const listener = (count: (bytes: number) => void): CopyListener => ({
    copied(_key, bytes) {
      count(bytes);
      progress(copied);
    },
    damaged: (key, detail) => void copied.damages.push({ key, detail }),
  });
  const record = listener(() => void copied.records++);
  const kinds = expiringKinds().map(({ kind }) => kind);
  const copiedKinds = kinds.filter((kind) => (isAhead ? lasting.includes(kind) : !notCopied.includes(kind)));
  for (const prefix of [...copiedKinds.map((kind) => `work/${kind}/`), 'previews/']) {
    await deleteOthers(from, into, prefix);
    await copyKeys(from, into, prefix, faultOfRecord, record);
  }
  // Before the logs: the public log must tell of nothing that the copied logs have not.
  const treeHead = await copyTree(from, into, record);
  let tips: Tips = new Map();
  await undisturbed(async () => {
    tips = await readTips(from);
    copied.damages = copied.damages.filter(({ key }) => !/^(?:quarantine\/)?(?:objects|packs)\//.test(key));
    const object = listener((bytes) => {
      copied.objects++;
      copied.bytes += bytes;
    });
    // Needed bytes may be in quarantine. It is copied first, because a reader may bring them back.
    await copyKeys(from, into, quarantineKey('objects/sha256/'), faultOfObject, object);
    await copyKeys(from, into, quarantineKey('packs/sha256/'), faultOfPack, object);
    await copyKeys(from, into, 'objects/sha256/', faultOfObject, object);
    await copyKeys(from, into, 'packs/sha256/', faultOfPack, object);
    // Last: until an object is copied, what an earlier backup has in quarantine may be all that the copy has of it.
    await deleteOthers(from, into, quarantineKey(''));
  });
  const entry = listener(() => void copied.entries++);
  for (const [log, tip] of tips) {
    await copyLog(from, into, log, { tip, takes: entriesUntil(log, until), isOpen }, entry);
  }
  copied.heads = [...(await readHeads(into)), ...(treeHead === null ? [] : [treeHead])];
  await writeHeads(into, copied.heads);
  await finishCopy(into);
  return copied;
}

async function readHeads(bucket: Bucket): Promise<Head[]> {
  const heads: Head[] = [];
  for (const [log, sequence] of await readTips(bucket)) {
    const entry = await readEntry(bucket, log, sequence);
    if (entry) heads.push({ log, sequence, digest: entry.digest });
  }
  return heads;
}

/** Writes how far each log of the copy reaches, in place of what told so before: what the store has may be damaged. */
async function writeHeads(into: Bucket, heads: readonly Head[]): Promise<void> {
  const at = new Date().toISOString();
  for (const head of heads) await deleteOlderHeads(into, await putHead(into, head, { writeId: randomUUID(), at }));
}

function entriesUntil(log: string, until: readonly Until[]): (entry: SealedEntry) => boolean {
  return ({ sequence, at }) =>
    until.every((end) => ('at' in end ? at <= end.at : end.log !== log || sequence <= end.sequence));
}

function faultOfObject(key: string, bytes: Uint8Array): string | null {
  return digestOf(bytes) === digestInKey(key) ? null : 'The bytes do not match the digest.';
}

async function faultOfPack(key: string, bytes: Uint8Array): Promise<string | null> {
  return isWholePack(await decodePack(digestInKey(key), bytes)) ? null : 'The bytes do not match their digests.';
}
