import { isDigest, type Digest } from '../../model/digest.ts';
import { encodeJson, parseJson } from '../../model/json.ts';
import { listAll, type Bucket } from '../bucket.ts';
import { corrupt, type Generation, type RecordsOptions } from '../records.ts';
import { parseWorkKey, workKey } from '../work.ts';

/** How far a log reached once: kept outside of it, a head shows that the log lost its newest entries. */
export interface Head {
  log: string;
  /** Number and digest of the newest entry. */
  sequence: number;
  digest: Digest;
}

const kind = 'heads';

/** The record of a head. Its generation is the number of the entry, so that a list tells how far a log reached. */
export function headKey({ log, sequence }: Pick<Head, 'log' | 'sequence'>): string {
  return workKey(`${kind}/${log}`, sequence);
}

/** The log and the number in the key of a head; null for any other key. */
export function parseHeadKey(key: string): Pick<Head, 'log' | 'sequence'> | null {
  const { name, generation } = parseWorkKey(key) ?? {};
  return name?.startsWith(`${kind}/`) ? { log: name.slice(kind.length + 1), sequence: generation! } : null;
}

/** The keys of the heads of a bucket, those of a log in a row, the newest first. */
export function listHeadKeys(bucket: Bucket): AsyncGenerator<string> {
  return listAll(bucket, `work/${kind}/`);
}

/** The head in the record under a key; null for any other record. */
export function headIn(key: string, record: unknown): Head | null {
  const named = parseHeadKey(key);
  const { generation, value } = (record ?? {}) as Partial<Generation<Partial<Head>>>;
  const { log, digest } = value ?? {};
  const isOwn = named !== null && generation === named.sequence && log === named.log;
  return isOwn && typeof digest === 'string' && isDigest(digest) ? { ...named, digest } : null;
}

/** Stores a head, and returns its key. */
export async function putHead(
  bucket: Bucket,
  { log, sequence, digest }: Head,
  head: Pick<Generation<unknown>, 'writeId' | 'at'>,
): Promise<string> {
  const record: Generation<Omit<Head, 'sequence'>> = {
    generation: sequence,
    ...head,
    actor: 'operator:store',
    origin: null,
    action: 'note head',
    value: { log, digest },
  };
  const key = headKey({ log, sequence });
  await bucket.putIfAbsent(key, encodeJson(record));
  return key;
}

/** The newest head of a log; null: there is none. Rejects with `corrupt` for a damaged one. */
export async function newestHead(bucket: Bucket, log: string): Promise<Head | null> {
  for (;;) {
    const [key] = await bucket.list(`work/${kind}/${log}/`, { limit: 1 });
    if (key === undefined) return null;
    const bytes = await bucket.get(key);
    // A newer one took its place.
    if (bytes === null) continue;
    const head = headIn(key, parseJson(bytes));
    if (head === null) throw corrupt(`${key} is damaged.`);
    return head;
  }
}

/** Deletes the heads of a log that are older than the one under a key. */
export async function deleteOlderHeads(bucket: Bucket, key: string): Promise<void> {
  // Newer keys sort first.
  const older = await bucket.list(key.slice(0, key.lastIndexOf('/') + 1), { after: key });
  for (const each of older) await bucket.delete(each);
}

/** See `createHeads`. */
export type Heads = ReturnType<typeof createHeads>;

/**
 * The heads of the logs of a bucket, written some seconds after the entries that they name. `headEvery`: milliseconds
 * between two writes; without it nothing is written. Failures are reported and change nothing else.
 */
export function createHeads(bucket: Bucket, { now, uniqueId, headEvery, failed = () => undefined }: RecordsOptions) {
  /** The newest head of each log, as far as is known here. */
  const newest = new Map<string, number>();
  const waiting = new Map<string, Head>();
  let loading: Promise<void> | null = null;
  let writing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  function note({ log, sequence }: Pick<Head, 'log' | 'sequence'>): void {
    newest.set(log, Math.max(newest.get(log) ?? 0, sequence));
  }

  async function load(): Promise<void> {
    for await (const key of listHeadKeys(bucket)) {
      const head = parseHeadKey(key);
      if (head !== null) note(head);
    }
  }

  /** One list for all logs. */
  function loaded(): Promise<void> {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  }

  async function writeAll(): Promise<void> {
    for (const [log, head] of waiting) {
      waiting.delete(log);
      const written = putHead(bucket, head, { writeId: uniqueId(), at: now().toISOString() });
      await written.then((key) => deleteOlderHeads(bucket, key)).catch(failed);
    }
  }

  /** Writes what waits. */
  function settle(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = (writing ?? Promise.resolve()).then(writeAll);
    return writing;
  }

  return {
    /** The number of the newest entry of a log that is known to have been written; 0 if none is. */
    async newest(log: string): Promise<number> {
      await loaded();
      return newest.get(log) ?? 0;
    },
    /** The logs that have a head. */
    async logs(): Promise<string[]> {
      await loaded();
      return [...newest.keys()];
    },
    /** Notes how far a log reaches. */
    reached(head: Head): void {
      note(head);
      if (headEvery === undefined) return;
      waiting.set(head.log, head);
      timer ??= setTimeout(() => {
        settle().catch(failed);
      }, headEvery).unref();
    },
    settle,
  };
}
