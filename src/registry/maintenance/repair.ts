import { digestOf, type Digest } from '../../model/digest.ts';
import { parseJson } from '../../model/json.ts';
import type { Bucket } from '../../store/bucket.ts';
import { listLogs, repairLog } from '../../store/log/check-log.ts';
import { newestSequence } from '../../store/log/follow-log.ts';
import { digestInKey, objectKey, packKey, decodePack, isWholePack, quarantineKey } from '../../store/objects.ts';
import { treeFolder } from '../../store/tree/batch.ts';
import { repairTree } from '../../store/tree/check-tree.ts';
import { parseWorkKey } from '../../store/work.ts';
import type { Checked, LostComparison, LostVersion } from '../fsck.ts';
import type { Registry } from '../registry.ts';
import { isSoundHead } from './witnesses.ts';
import { giveUpComparisons, giveUpKey, giveUpVersions, type GiveUpOptions, type Repaired } from './give-up.ts';

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
  const logs = new Set(damages.flatMap(({ key }) => /^log\/([^/]+)\//.exec(key)?.[1] ?? []));
  if (from !== null) {
    for await (const log of listLogs(from)) {
      if ((await newestSequence(from, log)) > (await newestSequence(bucket, log))) logs.add(log);
    }
  }
  for (const log of logs) {
    const isShort = damages.some(({ lostOf }) => lostOf === log);
    await repairLog(bucket, from, { log, isShort }, (what, isRepaired, detail) =>
      report({ outcome: isRepaired ? 'repaired' : 'left', what, detail }),
    );
  }
  if (damages.some(({ key }) => key.startsWith(treeFolder)))
    await repairTree(bucket, from, (what, isRepaired, detail) =>
      report({ outcome: isRepaired ? 'repaired' : 'left', what, detail }),
    );
  const lost: string[] = [];
  const lostComparisons = new Map<string, LostComparison[]>();
  for (const { key, comparison } of damages) {
    if (!/^(?:objects|packs|work)\//.test(key) || (await isSoundIn(bucket, key))) continue;
    if (await replace(bucket, key, options)) continue;
    if (comparison === undefined) lost.push(key);
    else lostComparisons.set(comparison.name, [...(lostComparisons.get(comparison.name) ?? []), comparison]);
  }
  const lostVersions = new Map<string, LostVersion[]>();
  for (const { key, version } of damages) {
    if (version === undefined || (await hasAgain(bucket, version, options))) continue;
    lostVersions.set(key, [...(lostVersions.get(key) ?? []), version]);
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
  if (key.startsWith('work/')) {
    const record = parseJson(bytes);
    return parseWorkKey(key) !== null && record !== undefined && isSoundHead(key, record);
  }
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
