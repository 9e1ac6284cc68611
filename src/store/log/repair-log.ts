import type { Bucket } from '../bucket.ts';
import { entryIn, entryKey, type SealedEntry } from './entry.ts';
import { newestSequence } from './open-state.ts';

/**
 * Writes the entries of a log that are damaged or missing again, out of a copy, also those after the
 * newest one. `isShort`: some of those are known to be lost. An entry of the copy is taken only if it is whole and stands between its neighbours.
 * Reports for each whether it is repaired, and why not.
 */
export async function repairLog(
  bucket: Bucket,
  from: Bucket | null,
  { log, isShort }: { log: string; isShort: boolean },
  report: (key: string, isRepaired: boolean, detail: string) => void,
): Promise<void> {
  const newest = await newestSequence(bucket, log);
  const end = from === null ? newest : Math.max(newest, await newestSequence(from, log));
  let previous: SealedEntry | null = null;
  for (let sequence = 1; sequence <= end; sequence++) {
    const entry = await read(bucket, log, sequence);
    if (entry !== null && follows(previous, entry)) {
      previous = entry;
      continue;
    }
    const key = entryKey(log, sequence);
    const copy = from && (await read(from, log, sequence));
    const next = sequence < newest ? await read(bucket, log, sequence + 1) : null;
    const fits = copy !== null && follows(previous, copy) && (next === null || next.previous === copy.digest);
    if (!fits) {
      report(key, false, copy === null ? nowhere(log, sequence) : `The copy has another entry ${sequence} of ${log}.`);
      previous = entry;
      continue;
    }
    const bytes = (await from!.get(key))!;
    await bucket.delete(key);
    const isOurs = (await bucket.putIfAbsent(key, bytes)) === 'created';
    report(key, isOurs, isOurs ? 'Replaced from the copy.' : 'A server wrote another entry. Stop all servers first.');
    previous = isOurs ? copy : null;
  }
  if (isShort && end === newest) report(entryKey(log, end + 1), false, lostFor(log, end));
}

function lostFor(log: string, end: number): string {
  return `No copy has it. To go on without it and what came after it, stop all servers and use --accept-loss ${log}:${end}.`;
}

function nowhere(log: string, sequence: number): string {
  return `No copy has it. To go on with what stands before it, back the store up and restore the backup with --to ${log}:${sequence - 1}.`;
}

/** Whether an entry stands after another; true where the one before is not known. */
function follows(previous: SealedEntry | null, entry: SealedEntry): boolean {
  if (entry.sequence === 1) return entry.previous === null;
  return previous === null || entry.previous === previous.digest;
}

/** An entry as it was written; null if it is damaged or missing. */
async function read(bucket: Bucket, log: string, sequence: number): Promise<SealedEntry | null> {
  const key = entryKey(log, sequence);
  const bytes = await bucket.get(key);
  return bytes && entryIn(bytes, sequence, key);
}
