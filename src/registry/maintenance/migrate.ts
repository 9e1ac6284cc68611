import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { RegistryError } from '../../model/errors.ts';
import { listAll, type Bucket } from '../../store/bucket.ts';
import { readTips, copyStore, type Copied, type Rewrite } from '../../store/copy-store.ts';
import { hasFormat } from '../../store/format.ts';
import { entriesAfter, listLogs } from '../../store/log/check-log.ts';
import { cleaningOf, type Cleaning } from './clean-urls.ts';

const decompress = promisify(zstdDecompress);
/** How each zstd frame begins. */
const zstd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Records that contain digests of log entries. A rewritten log has other digests. */
const ofDigests = ['work/idempotency/', 'work/heads/'];

/** What was written. */
export interface Migrated extends Copied {
  /** The logs that were written anew, and the records whose credentials were left out. */
  rewritten: { log: string; records: string[] }[];
  /** Whether the store was written to meanwhile: the copy may lack that. */
  isBehind: boolean;
}

/**
 * Writes a store into an empty bucket in the format of this program, and changes nothing of the old
 * one. Only one format was released, so entries are written anew only where the URL of a repository
 * has a credential; what else holds it (summaries of the log, records that expire) is left out.
 * Rejects with `conflict` if the target holds anything.
 */
export async function migrate(from: Bucket, into: Bucket, progress?: (copied: Copied) => void): Promise<Migrated> {
  if (!(await hasFormat(from)))
    throw new RegistryError('malformed', 'The configured store is empty. There is nothing to migrate.');
  if (await hasFormat(into))
    throw new RegistryError('conflict', 'The target is a store already. Choose an empty folder.');
  const before = await readTips(from);
  const cleanings = new Map<string, Cleaning>();
  for await (const log of listLogs(from)) {
    const cleaning = await cleaningOf(entriesAfter(from, log, 0));
    if (cleaning !== null) cleanings.set(log, cleaning);
  }
  const copied = await copyStore(from, into, {
    ...(progress && { progress }),
    ...(cleanings.size > 0 && { rewrite: await rewriteFor(from, cleanings) }),
  });
  const after = await readTips(from);
  const isBehind = [...after].some(([log, tip]) => before.get(log) !== tip);
  return { ...copied, rewritten: [...cleanings].map(([log, { names }]) => ({ log, records: names })), isBehind };
}

async function rewriteFor(from: Bucket, cleanings: ReadonlyMap<string, Cleaning>): Promise<Rewrite> {
  const credentials = [...cleanings.values()].flatMap((cleaning) => cleaning.credentials);
  const needles = credentials.map((credential) => JSON.stringify(credential).slice(1, -1));
  const leftOut = new Set<string>();
  for (const prefix of ['objects/', 'quarantine/objects/', 'work/'])
    for await (const key of listAll(from, prefix)) {
      const bytes = await from.get(key);
      if (bytes !== null && (await holds(bytes, needles))) leftOut.add(key);
    }
  return {
    logs: new Map([...cleanings].map(([log, { clean }]) => [log, clean])),
    isLeftOut: (key) => leftOut.has(key) || ofDigests.some((prefix) => key.startsWith(prefix)),
  };
}

async function holds(bytes: Uint8Array, needles: readonly string[]): Promise<boolean> {
  const plain = Buffer.from(bytes);
  const isPacked = plain.subarray(0, zstd.length).equals(zstd);
  const text = isPacked ? await decompress(plain).catch(() => plain) : plain;
  return needles.some((needle) => text.includes(needle));
}
