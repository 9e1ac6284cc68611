import { type Digest, digestOf } from '../../model/digest.ts';
import { insteadOf, conflict } from '../../model/errors.ts';
import { chooseLatest, nameOf, parseResourceRef, type Resource } from '../../model/resource.ts';
import { type Bucket, listAll } from '../../store/bucket.ts';
import { parseWorkKey } from '../../store/work.ts';
import type { LostComparison, LostVersion, Checked } from '../fsck.ts';
import type { Author, Registry } from '../registry.ts';
import { parseJson } from '../../model/json.ts';
import { listLogs, repairLog } from '../../store/log/check-log.ts';
import { newestSequence } from '../../store/log/follow-log.ts';
import { digestInKey, objectKey, packKey, decodePack, isWholePack, quarantineKey } from '../../store/objects.ts';
import { treeFolder, treeName } from '../../store/tree/batch.ts';
import { repairTree, cutTree } from '../../store/tree/check-tree.ts';
import { headsIn } from './witnesses.ts';
import { faultOfRecord } from '../../store/record-fault.ts';
import { readEntry } from '../../store/log/entry.ts';
import { headIn, listHeadKeys, parseHeadKey, type Head } from '../../store/log/heads.ts';

/** What was done about one damage. */
export interface Repaired {
  /**
   * `repaired`: it is as it was written. `given up`: it is gone for good, and the registry says so.
   * `left`: nothing was done.
   */
  outcome: 'repaired' | 'given up' | 'left';
  /** Bucket key, or the coordinate of a version. */
  what: string;
  detail: string;
}

interface GiveUpOptions {
  /** Whether to give up what no copy has: versions are withdrawn, and damaged keys deleted. */
  giveUp: boolean;
  author: Author;
  report: (repaired: Repaired) => void;
}

/** Withdraws versions of a resource whose bytes are lost, in one change. Their other bytes are left to garbage collection. */
async function giveUpVersions(
  registry: Registry,
  name: string,
  lost: readonly LostVersion[],
  { giveUp, author, report }: GiveUpOptions,
): Promise<void> {
  const labels = new Map(lost.map(({ label, needs }) => [label, needs]));
  const reportAll = (outcome: Repaired['outcome'], about: (needs: Digest) => string): void => {
    for (const [label, needs] of labels) report({ outcome, what: coordinateIn(name, label), detail: about(needs) });
  };
  if (!giveUp) return reportAll('left', (needs) => `It needs ${needs}, which no copy has.`);
  const since = registry.now().toISOString();
  const isDone = await changeRecord(registry, name, (resource) => {
    const versions = resource.versions.map((version) => {
      const needs = labels.get(version.label);
      if (needs === undefined || version.status.state === 'withdrawn') return version;
      return {
        ...version,
        status: { state: 'withdrawn', reason: `Its stored bytes were lost (${needs}).`, since } as const,
      };
    });
    const { latest, latestPinned } = resource;
    const value = { ...resource, versions, latestPinned: latestPinned && !labels.has(latest!) };
    return {
      value: { ...value, latest: chooseLatest(value) },
      change: { ...author, action: `withdraw ${[...labels.keys()].join(', ')}: stored bytes were lost` },
    };
  });
  if (!isDone) return reportAll('left', () => `${logIsDamaged}, so it cannot be withdrawn.`);
  reportAll('given up', (needs) => `Withdrawn, because ${needs} is lost.`);
}

/** Removes lost comparisons from the records of their versions. Readers have the versions compared again. */
async function giveUpComparisons(
  registry: Registry,
  name: string,
  lost: readonly LostComparison[],
  { giveUp, author, report }: GiveUpOptions,
): Promise<void> {
  const digests = new Map(lost.map(({ label, digest }) => [label, digest]));
  const reportAll = (outcome: Repaired['outcome'], detail: string): void => {
    for (const label of digests.keys()) report({ outcome, what: coordinateIn(name, label), detail });
  };
  if (!giveUp) return reportAll('left', 'Its comparison with the version before it is lost, and no copy has it.');
  const isDone = await changeRecord(registry, name, (resource) => ({
    value: {
      ...resource,
      versions: resource.versions.map((version) => {
        const { changes, ...rest } = version;
        return changes !== undefined && changes.digest === digests.get(version.label) ? rest : version;
      }),
    },
    change: { ...author, action: `forget comparisons of ${[...digests.keys()].join(', ')}: stored bytes were lost` },
  }));
  if (isDone)
    reportAll('given up', 'Its lost comparison was removed from its record. Stele compares it again on request.');
  else reportAll('left', `${logIsDamaged}, so its lost comparison cannot be removed from its record.`);
}

const logIsDamaged = 'Its organization has a damaged log';

/** Changes a resource's record. False if its log is damaged. */
async function changeRecord(
  { refs }: Registry,
  name: string,
  change: (resource: Resource) => { value: Resource; change: Author & { action: string } },
): Promise<boolean> {
  const changed = refs.update<Resource>(name, (current) => change(current!.value));
  return changed.then(() => true, insteadOf('corrupt', false));
}

function coordinateIn(name: string, label: string): string {
  return `${nameOf(parseResourceRef(name)!)}@${label}`;
}

async function giveUpKey(bucket: Bucket, key: string, { giveUp, report }: GiveUpOptions): Promise<void> {
  const isOurs = !key.startsWith('work/') || parseWorkKey(key) !== null;
  // What is missing cannot be given up: the next check would miss it again.
  if (!giveUp || !isOurs || (await bucket.get(key)) === null) {
    const detail = isOurs ? 'No copy has it.' : 'Stele did not write this file. Move it away.';
    return report({ outcome: 'left', what: key, detail });
  }
  await bucket.delete(key);
  report({ outcome: 'given up', what: key, detail: 'Deleted, because it is damaged.' });
}

export interface RepairOptions extends GiveUpOptions {
  /** A copy of the store, such as a backup. */
  from: Bucket | null;
}

/**
 * Checks the store and repairs what is found, out of quarantine and out of a copy. What neither has is
 * given up if that is asked for, and else left. Entries of logs are never given up: they are replaced
 * by the same entries out of the copy, also those that the log lost at its end, or left. Nothing that
 * is sound is touched. Safe to repeat. Returns what a last check finds.
 */
export async function repairStore(
  registry: Registry,
  check: () => Promise<Checked>,
  { report, ...options }: RepairOptions,
): Promise<Checked> {
  // A repair may reveal more damage: a log that of its versions, a manifest that of its layers.
  for (let checked = await check(); ;) {
    const left: Repaired[] = [];
    let isBetter = false;
    const note = (repaired: Repaired): void => {
      isBetter ||= repaired.outcome !== 'left';
      if (repaired.outcome !== 'left') return report(repaired);
      // Several versions may need what is left.
      const isKnown = left.some(({ what, detail }) => what === repaired.what && detail === repaired.detail);
      if (!isKnown) left.push(repaired);
    };
    await repair(registry, checked, { ...options, report: note });
    if (isBetter) checked = await check();
    if (isBetter && checked.damages.length > 0) continue;
    left.forEach(report);
    return checked;
  }
}

async function repair(registry: Registry, { damages }: Checked, options: RepairOptions): Promise<void> {
  const { bucket } = registry;
  const { from, report } = options;
  const told = (what: string, isRepaired: boolean, detail: string): void =>
    report({ outcome: isRepaired ? 'repaired' : 'left', what, detail });
  const logs = new Set(damages.flatMap(({ key }) => /^log\/([^/]+)\//.exec(key)?.[1] ?? []));
  if (from !== null) {
    for await (const log of listLogs(from)) {
      if ((await newestSequence(from, log)) > (await newestSequence(bucket, log))) logs.add(log);
    }
  }
  for (const log of logs) {
    const isShort = damages.some(({ lostOf }) => lostOf === log);
    await repairLog(bucket, from, { log, isShort }, told);
  }
  if (damages.some(({ key }) => key.startsWith(treeFolder))) await repairTree(bucket, from, told);
  const lost: string[] = [];
  const lostComparisons = new Map<string, LostComparison[]>();
  for (const { key, comparison } of damages) {
    if (!/^(?:objects|packs|work|previews)\//.test(key) || (await isSoundIn(bucket, key))) continue;
    if (await replace(bucket, key, options)) continue;
    if (comparison === undefined) lost.push(key);
    else lostComparisons.getOrInsert(comparison.name, []).push(comparison);
  }
  const lostVersions = new Map<string, LostVersion[]>();
  for (const { key, version } of damages) {
    if (version === undefined || (await hasAgain(bucket, version, options))) continue;
    lostVersions.getOrInsert(key, []).push(version);
  }
  for (const [name, versions] of lostVersions) await giveUpVersions(registry, name, versions, options);
  for (const [name, comparisons] of lostComparisons) await giveUpComparisons(registry, name, comparisons, options);
  for (const key of lost) await giveUpKey(bucket, key, options);
  for (const { key, detail } of damages) if (key.endsWith('/')) report({ outcome: 'left', what: key, detail });
}

/** Whether what a version needs is in the store, also because it could be replaced. */
async function hasAgain(bucket: Bucket, { manifest, needs }: LostVersion, options: RepairOptions): Promise<boolean> {
  const [pack, object] = [packKey(manifest), objectKey(needs)];
  const inPack = async (): Promise<boolean> => {
    const bytes = await bucket.get(pack);
    return Boolean(bytes && (await decodePack(manifest, bytes))?.get(needs));
  };
  if (await inPack()) return true;
  if (!(await isSoundIn(bucket, pack)) && (await replace(bucket, pack, options)) && (await inPack())) return true;
  return (await isSoundIn(bucket, object)) || replace(bucket, object, options);
}

/** Whether what stands under a key is what was written there. */
async function isSoundIn(bucket: Bucket, key: string, place = key): Promise<boolean> {
  const bytes = await bucket.get(place);
  if (bytes === null) return false;
  if (/^(?:work|previews)\//.test(key)) return faultOfRecord(key, bytes) === null;
  const digest: Digest = digestInKey(key);
  return key.startsWith('packs/') ? isWholePack(await decodePack(digest, bytes)) : digestOf(bytes) === digest;
}

/** Writes a key again, out of quarantine or the copy, and reports it. False if neither has it. */
async function replace(bucket: Bucket, key: string, { from, report }: RepairOptions): Promise<boolean> {
  const sources = [
    { source: bucket, place: quarantineKey(key), name: 'quarantine' },
    ...(from === null ? [] : [{ source: from, place: key, name: 'the copy' }]),
  ];
  for (const { source, place, name } of sources) {
    if (!(await isSoundIn(source, key, place))) continue;
    const bytes = (await source.get(place))!;
    await bucket.delete(key);
    await bucket.putIfAbsent(key, bytes);
    if (await isSoundIn(bucket, key)) report({ outcome: 'repaired', what: key, detail: `Replaced from ${name}.` });
    // Such as a folder, which the store neither reads nor deletes.
    else report({ outcome: 'left', what: key, detail: 'Something else has its path. Move it away.' });
    return true;
  }
  return false;
}

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
    throw conflict(`The log ${log} ends with entry ${newest}: use --accept-loss ${log}:${newest}.`);
  const isKept = async (head: Head): Promise<boolean> => {
    if (tree !== null) return head.sequence < newest || head.digest === tree.digest;
    return (await readEntry(bucket, log, head.sequence))?.digest === head.digest;
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
  if (until === 0) throw conflict(`Nothing shows that the log ${log} lost entries after ${sequence}.`);
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
      ? ' Consumers who saw them will reject this log from now on: tell them.'
      : answers === 0
        ? ''
        : ` ${answers} answers to requests were in them: repeated, these are performed again.`;
  report({ outcome: 'given up', what: log, detail: `The ${lost} are lost for good.${about}` });
}

async function readJsonOf(bucket: Bucket, key: string): Promise<unknown> {
  const bytes = await bucket.get(key);
  return bytes && parseJson(bytes);
}
