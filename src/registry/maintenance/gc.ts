import { hexOf, isDigest, type Digest } from '../../model/digest.ts';
import { encodeJson, parseJson } from '../../model/json.ts';
import { expiringKinds } from '../../model/record-places.ts';
import { openRounds } from '../../scheduling/waiting.ts';
import { listAll } from '../../store/bucket.ts';
import { listLogs, readLogContents } from '../../store/log/check-log.ts';
import { digestInKey, bringBack, putIntoQuarantine, quarantineKey } from '../../store/objects.ts';
import { whileDeleting } from '../purge.ts';
import { newId, type Registry } from '../registry.ts';
import { readObject } from '../stored.ts';
import { digestsOfVersion, referencesOf } from './references.ts';
import { someAtOnce } from '../../scheduling/turns.ts';

export interface GcOptions {
  /** Milliseconds that an object must be unreferenced before it is put into quarantine. Default: a day. */
  grace?: number;
  /** Milliseconds that it stays in quarantine. Default: a week. */
  quarantine?: number;
  /** Say what would be done, and do nothing. */
  dryRun?: boolean;
  progress?: (collected: Collected) => void;
}

/** The result of a garbage collection, in numbers of objects. */
export interface Collected {
  /** Objects that something refers to. */
  kept: number;
  /** Objects that are unreferenced, but not yet for the grace period. */
  waiting: number;
  quarantined: number;
  /** Bytes of those that were put into quarantine. */
  bytes: number;
  /** Those that left quarantine for good. */
  deleted: number;
  /** Those that something refers to again. */
  broughtBack: number;
}

/** Since when each key is unreferenced, and since when it is in quarantine: milliseconds since 1970. */
interface GcMarks {
  unreferenced: Record<string, number>;
  quarantined: Record<string, number>;
}

const day = 24 * 60 * 60_000;
const folders = ['objects/sha256/', 'packs/sha256/'];
const marks = 'gc/';
/** Keys that one run remembers. More wait for a later run, so that the memory stays bounded. */
const maxMarks = 200_000;
const atOnce = 16;

/**
 * Deletes what nothing refers to. Two runs with the grace period between them must find that nothing
 * refers to an object; then it is put into quarantine, where every reader finds it, and deleted by a
 * run after that period. Safe beside publishers in all processes: whoever publishes what this deletes
 * either committed before this looks again, or finds that this ran and stores the bytes again
 * (`storeMendable`); and what is missed by a crash of either is read out of quarantine. Entries of logs
 * stay. Rejects with `corrupt`, and deletes nothing, if a log or a manifest is damaged.
 */
export async function collectGarbage(registry: Registry, options: GcOptions): Promise<Collected> {
  const { grace = day, quarantine = 7 * day, dryRun = false, progress = () => undefined } = options;
  const collected: Collected = { kept: 0, waiting: 0, quarantined: 0, bytes: 0, deleted: 0, broughtBack: 0 };
  const { bucket } = registry;
  const now = registry.now().getTime();
  const { marks: before, names } = await readMarks(registry);
  const after: GcMarks = { unreferenced: {}, quarantined: {} };
  const live = await markLive(registry);
  const doomed: string[] = [];
  let count = 0;
  for (const folder of folders) {
    for await (const key of listAll(bucket, folder)) {
      // A file that Stele did not write.
      if (!isDigest(digestInKey(key))) continue;
      if (live.has(nameOf(key))) collected.kept++;
      else if (count++ < maxMarks) {
        // If the clock was set back, the key waits longer.
        const since = Math.min(before.unreferenced[key] ?? now, now);
        if (now - since >= grace && key in before.unreferenced) doomed.push(key);
        else after.unreferenced[key] = since;
      }
      progress(collected);
    }
  }
  collected.waiting = Object.keys(after.unreferenced).length;
  await sweepQuarantine(registry, live, { before, after, now, collected, quarantine, dryRun });
  if (dryRun) return { ...collected, quarantined: doomed.length };
  if (doomed.length > 0) {
    await whileDeleting(registry, async () => {
      for (const key of doomed) {
        const bytes = await putIntoQuarantine(bucket, key);
        if (bytes === null) continue;
        after.quarantined[key] = now;
        collected.quarantined++;
        collected.bytes += bytes;
        progress(collected);
      }
      // What was committed before this is seen here; what is committed later stores its bytes again.
      const still = await markLive(registry);
      for (const key of doomed) {
        if (still.has(nameOf(key)) && (await bringBack(bucket, key)) !== null) collected.broughtBack++;
      }
    });
  }
  await bucket.putIfAbsent(`${marks}${String(now).padStart(15, '0')}-${newId(registry)}`, encodeJson(after));
  for (const name of names) await bucket.delete(name);
  return collected;
}

interface Sweep {
  before: GcMarks;
  after: GcMarks;
  now: number;
  collected: Collected;
  quarantine: number;
  dryRun: boolean;
}

/** Brings back what something refers to again, and deletes what was in quarantine long enough. */
async function sweepQuarantine(
  { bucket }: Registry,
  live: ReadonlySet<string>,
  { before, after, now, collected, quarantine, dryRun }: Sweep,
): Promise<void> {
  for await (const quarantinedKey of listAll(bucket, quarantineKey(''))) {
    const key = quarantinedKey.slice(quarantineKey('').length);
    const since = Math.min(before.quarantined[key] ?? now, now);
    const isOver = now - since >= quarantine;
    const isLive = live.has(nameOf(key));
    const isThere = isLive && (await bucket.get(key)) !== null;
    if (isLive && !isThere) {
      collected.broughtBack++;
      if (!dryRun) await bringBack(bucket, key);
    } else if (isOver) {
      if (!isLive) collected.deleted++;
      if (!dryRun) await bucket.delete(quarantinedKey);
    }
    if (!isOver || (isLive && !isThere)) after.quarantined[key] = since;
  }
}

function nameOf(key: string): string {
  return compact(digestInKey(key));
}

/** A digest in 32 bytes: there may be millions of them in memory. */
function compact(digest: Digest): string {
  return Buffer.from(hexOf(digest), 'hex').toString('latin1');
}

/** Kinds of records that expire and name no object. They may be many. */
const withoutObjects = ['deliveries', 'idempotency', 'key-uses', 'leases', 'sessions', 'tokens'];

async function markLive(registry: Registry): Promise<Set<string>> {
  const { bucket, objects } = registry;
  const live = new Set<string>();
  const add = (digest: Digest): void => void live.add(compact(digest));
  // Also a log that is gone wholly, or that lost its newest entries.
  await registry.refs.refresh('resources/');
  for (const { kind } of expiringKinds()) {
    if (withoutObjects.includes(kind)) continue;
    for await (const key of listAll(bucket, `work/${kind}/`)) {
      const bytes = await bucket.get(key);
      referencesOf(key.slice('work/'.length), bytes && parseJson(bytes)).objects.forEach(add);
    }
  }
  for await (const log of listLogs(bucket)) {
    const { records, summaries } = await readLogContents(bucket, objects, log);
    summaries.forEach(add);
    const manifests: Digest[] = [];
    for (const { name, value } of records) {
      const references = referencesOf(name, value);
      references.objects.forEach(add);
      manifests.push(...references.manifests);
    }
    const needed = (manifest: Digest) => digestsOfVersion(manifest, (digest) => readObject(registry, digest, manifest));
    for await (const digests of someAtOnce(manifests, atOnce, needed)) digests.forEach(add);
  }
  return live;
}

async function readMarks({ bucket }: Registry): Promise<{ marks: GcMarks; names: string[] }> {
  const names = await Array.fromAsync(listAll(bucket, marks));
  const newest = names.at(-1);
  const bytes = newest === undefined ? null : await bucket.get(newest);
  const stored = (bytes && (parseJson(bytes) as GcMarks | undefined)) || { unreferenced: {}, quarantined: {} };
  return { marks: stored, names };
}

const hour = 60 * 60_000;
/** Milliseconds from the start of the process to the first run, so that starting stays fast. */
const firstPause = 10 * 60_000;
const firstSweep = 5 * 60_000;

/**
 * Collects garbage every `gc.interval` hours until it is closed; null if the configuration does not
 * want that. Logs what goes wrong and tries again at the next time.
 */
export function openCollector(registry: Registry): { close(): Promise<void> } | null {
  const { interval } = registry.config.gc;
  if (interval === 0) return null;
  return openRounds(
    { first: Math.min(firstPause, interval * hour), pause: interval * hour },
    async (signal) => {
      // A run may take long, and can be left at any point.
      const collected = await collectGarbage(registry, { progress: () => signal.throwIfAborted() });
      registry.log('info', 'garbage collected', { ...collected });
    },
    (error) => registry.log('warn', 'garbage not collected', { error: String(error) }),
  );
}

/** Deletes the records that have expired (design §5). Returns how many keys it deleted. */
export async function expireRecords(registry: Registry): Promise<number> {
  let deleted = 0;
  for (const { kind, days } of expiringKinds()) {
    deleted += await registry.refs.sweep(kind, registry.now().getTime() - days * day);
  }
  return deleted;
}

/** Deletes expired records every day until it is closed. Logs what goes wrong and tries again the next day. */
export function openExpiry(registry: Registry): { close(): Promise<void> } {
  return openRounds(
    { first: firstSweep, pause: day },
    async () => registry.log('debug', 'expired records deleted', { keys: await expireRecords(registry) }),
    (error) => registry.log('warn', 'expired records not deleted', { error: String(error) }),
  );
}
