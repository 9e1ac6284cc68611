import { RegistryError } from '../../model/errors.ts';
import { parseJson } from '../../model/json.ts';
import { listAll, type Bucket } from '../../store/bucket.ts';
import { entryIn, entryKey } from '../../store/log/entry.ts';
import { headIn, listHeadKeys, parseHeadKey, type Head } from '../../store/log/heads.ts';
import { newestSequence } from '../../store/log/follow-log.ts';
import { treeName } from '../../store/tree/batch.ts';
import { cutTree } from '../../store/tree/check-tree.ts';
import type { Author, Registry } from '../registry.ts';
import type { Repaired } from './give-up.ts';
import { headsIn } from './witnesses.ts';

/** The end of a log that somebody accepts. */
export interface LogEndPoint {
  log: string;
  /** Number of the last entry; 0 if all are lost. */
  sequence: number;
}

/**
 * Accepts that a log lost its entries after one: deletes the heads that tell of them, and the answers
 * to requests whose changes were in them, so that these are made again when they are repeated. Notes
 * it in the log of the registry. Rejects with `conflict` if the log does not end there, or if nothing
 * is known to be lost. No server may run on the store.
 */
export async function acceptLoss(
  registry: Registry,
  { log, sequence }: LogEndPoint,
  { author, report }: { author: Author; report: (repaired: Repaired) => void },
): Promise<void> {
  const { bucket, refs } = registry;
  const tree = log === treeName ? await cutTree(bucket, sequence) : null;
  const newest = tree === null ? await newestSequence(bucket, log) : tree.sequence;
  if (newest !== sequence)
    throw new RegistryError(
      'conflict',
      `The log ${log} ends with entry ${newest}: use --accept-loss ${log}:${newest}.`,
    );
  const isKept = async (head: Head): Promise<boolean> => {
    if (tree !== null) return head.sequence < newest || head.digest === tree.digest;
    const key = entryKey(log, head.sequence);
    const bytes = await bucket.get(key);
    return bytes !== null && entryIn(bytes, head.sequence, key)?.digest === head.digest;
  };
  let until = tree?.until ?? 0;
  let answers = 0;
  const forget = async (key: string, head: number): Promise<void> => {
    until = Math.max(until, head);
    await bucket.delete(key);
  };
  for await (const key of listHeadKeys(bucket)) {
    const named = parseHeadKey(key);
    if (named?.log !== log) continue;
    const head = headIn(key, await readJsonOf(bucket, key));
    // Also a damaged one: the key tells how far the log reached.
    if (named.sequence > newest || (head !== null && !(await isKept(head)))) await forget(key, named.sequence);
  }
  for await (const key of listAll(bucket, 'work/idempotency/')) {
    for (const head of headsIn(key, await readJsonOf(bucket, key))) {
      if (head.log !== log || (await isKept(head))) continue;
      answers++;
      await forget(key, head.sequence);
    }
  }
  if (until === 0)
    throw new RegistryError('conflict', `Nothing tells that the log ${log} lost entries after ${sequence}.`);
  const lost =
    tree === null
      ? `entries ${Math.min(sequence + 1, until)} to ${until} of the log ${log}`
      : `leaves ${Math.min(sequence + 1, until)} to ${until} of the public log`;
  await refs.update<object>(tree === null ? `logs/${log}` : 'public-log/loss', (current) => ({
    value: { ...current?.value, lost: { after: sequence, until } },
    change: { ...author, action: `accept the loss of ${lost}` },
  }));
  const about =
    tree !== null
      ? ' Consumers who saw them will refuse what this log says from now on: tell them.'
      : answers === 0
        ? ''
        : ` ${answers} answers to requests were in them: repeated, these are performed again.`;
  report({ outcome: 'given up', what: log, detail: `The ${lost} are lost for good.${about}` });
}

async function readJsonOf(bucket: Bucket, key: string): Promise<unknown> {
  const bytes = await bucket.get(key);
  return bytes && parseJson(bytes);
}
