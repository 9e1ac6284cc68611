import { insteadOf, unavailable, malformed, conflict } from '../../model/errors.ts';
import type { Bucket } from '../../store/bucket.ts';
import { readTips, copyStore, type Copied, type Until } from '../../store/copy-store.ts';
import { entryKey } from '../../store/log/entry.ts';
import { headKey, listHeadKeys, parseHeadKey } from '../../store/log/heads.ts';
import { hasFormat, isAlmostFinished, isBeingUpdated } from '../../store/format.ts';
import { treeFolder, treeName } from '../../store/tree/batch.ts';
import { notePurges } from '../purge.ts';
import type { Registry } from '../registry.ts';

type Progress = (copied: Copied) => void;

/** Passes over the objects at most: as long as bytes are deleted meanwhile, or a purge elsewhere runs or has crashed. */
const rounds = { deleted: 20, running: 3 };

/**
 * Copies the store into another bucket, or what is new into an earlier copy of it. The registry may
 * be written to meanwhile: see `copyStore`. Rejects with `conflict` if the bucket holds anything else.
 */
export async function backup(registry: Registry, into: Bucket, progress?: Progress): Promise<Copied> {
  // Before the logs, which may grow meanwhile.
  const told = await Array.fromAsync(listHeadKeys(registry.bucket), parseHeadKey);
  const copied = await copyStore(registry.bucket, into, {
    undisturbed: (work) => betweenPurges(registry, work),
    ...(progress && { progress }),
  });
  return { ...copied, damages: [...copied.damages, ...lostEntries(copied, told)] };
}

/** What heads of the store tell of and its logs do not have, at their ends. The copy would not show it. */
function lostEntries({ heads, damages }: Copied, told: readonly ReturnType<typeof parseHeadKey>[]) {
  return [
    ...Map.groupBy(
      told.filter((head) => head !== null),
      ({ log }) => log,
    ),
  ].flatMap(([log, all]) => {
    const head = all.reduce((one, other) => (other.sequence > one.sequence ? other : one));
    const newest = heads.find((each) => each.log === log)?.sequence ?? 0;
    const folder = log === treeName ? treeFolder : `log/${log}/`;
    if (head.sequence <= newest || damages.some(({ key }) => key.startsWith(folder))) return [];
    const detail = `The log lost its entries after ${newest}: ${headKey(head)} records entry ${head.sequence}.`;
    return [{ key: log === treeName ? treeFolder : entryKey(log, newest + 1), detail }];
  });
}

/**
 * Repeats the work until no bytes were deleted while it ran: a copy of the log from before a
 * withdrawal would lack the bytes that it deleted.
 */
async function betweenPurges(registry: Registry, work: () => Promise<void>): Promise<void> {
  for (let round = 1; round <= rounds.deleted; round++) {
    // Nobody can begin to purge while the log that says so is damaged.
    const purgesSince = await notePurges(registry).catch(insteadOf('corrupt', undefined));
    await work();
    const purges = await purgesSince?.().catch(insteadOf('corrupt', undefined));
    if (!purges?.isNew && (!purges?.isRunning || round >= rounds.running)) return;
  }
  throw unavailable('Versions are being withdrawn all the time. Run the backup again later.');
}

/**
 * Copies a backup into an empty bucket, up to a point if one is given. Of a backup whose update was
 * stopped it leaves out the records that expire: they may tell of changes that the logs lack.
 * Rejects with `conflict` if the bucket holds a store already, and with `malformed` for a point beyond
 * the end of a log.
 */
export async function restore(
  from: Bucket,
  into: Bucket,
  until: readonly Until[],
  progress?: Progress,
): Promise<Copied> {
  if (!(await hasFormat(from))) {
    throw malformed('The folder holds no complete backup. Name the folder of `stele backup`.');
  }
  if ((await hasFormat(into)) && !(await isAlmostFinished(into, until))) {
    const message =
      'The store is not empty. Restore into an empty one: choose another data folder with --data, or another bucket.';
    throw conflict(message);
  }
  const tips = await readTips(from);
  for (const end of until) {
    if (!('log' in end)) continue;
    const last = tips.get(end.log) ?? 0;
    const message = `The backup has no entry ${end.sequence} of the log ${end.log}; its last one is ${last}.`;
    if (end.sequence > last) throw malformed(message);
  }
  const isAhead = until.length > 0 || (await isBeingUpdated(from));
  return copyStore(from, into, { until, isAhead, ...(progress && { progress }) });
}
