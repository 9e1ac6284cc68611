import { digestOf, type Digest } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import { parseJson } from '../../model/json.ts';
import { chooseLatest, type Resource } from '../../model/resource.ts';
import type { Bucket } from '../../store/bucket.ts';
import { listLogs } from '../../store/log/check-log.ts';
import { newestSequence } from '../../store/log/open-state.ts';
import { repairLog } from '../../store/log/repair-log.ts';
import { digestInKey, objectKey, packKey } from '../../store/objects.ts';
import { decodePack, isWholePack } from '../../store/pack.ts';
import { quarantineKey } from '../../store/quarantine.ts';
import { parseWorkKey } from '../../store/work.ts';
import type { Checked, LostVersion } from '../fsck.ts';
import type { Author, Registry } from '../registry.ts';

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

export interface RepairOptions {
  /** A copy of the store, such as a backup. */
  from: Bucket | null;
  /** Whether to give up what no copy has: versions are withdrawn, and damaged keys deleted. */
  giveUp: boolean;
  author: Author;
  report: (repaired: Repaired) => void;
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
  // What is repaired may show more: a log the versions in it, a manifest its layers.
  for (let checked = await check(); ;) {
    const left: Repaired[] = [];
    let isBetter = false;
    const note = (repaired: Repaired): void => {
      isBetter ||= repaired.outcome !== 'left';
      if (repaired.outcome === 'left') left.push(repaired);
      else report(repaired);
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
    await repairLog(bucket, from, log, (what, isRepaired, detail) =>
      report({ outcome: isRepaired ? 'repaired' : 'left', what, detail }),
    );
  }
  const lost: string[] = [];
  for (const { key } of damages) {
    if (!/^(?:objects|packs|work)\//.test(key) || (await isSoundIn(bucket, key))) continue;
    if (!(await replace(bucket, key, options))) lost.push(key);
  }
  const lostVersions = new Map<string, LostVersion[]>();
  for (const { key, version } of damages) {
    if (version === undefined || (await hasAgain(bucket, version, options))) continue;
    lostVersions.set(key, [...(lostVersions.get(key) ?? []), version]);
  }
  for (const [name, versions] of lostVersions) await giveUpVersions(registry, name, versions, options);
  for (const key of lost) await giveUpKey(bucket, key, options);
  for (const { key, detail } of damages) if (key.endsWith('/')) report({ outcome: 'left', what: key, detail });
}

/** Whether what a version needs is in the store, also because it could be replaced. */
async function hasAgain(bucket: Bucket, { manifest, needs }: LostVersion, options: RepairOptions): Promise<boolean> {
  const [pack, object] = [packKey(manifest), objectKey(needs)];
  const inPack = async (): Promise<boolean> => {
    const bytes = await bucket.get(pack);
    return Boolean(bytes && decodePack(manifest, bytes)?.get(needs));
  };
  if (await inPack()) return true;
  if (!(await isSoundIn(bucket, pack)) && (await replace(bucket, pack, options)) && (await inPack())) return true;
  return (await isSoundIn(bucket, object)) || replace(bucket, object, options);
}

/** Whether what stands under a key is what was written there. */
async function isSoundIn(bucket: Bucket, key: string, place = key): Promise<boolean> {
  const bytes = await bucket.get(place);
  if (bytes === null) return false;
  if (key.startsWith('work/')) return parseWorkKey(key) !== null && parseJson(bytes) !== undefined;
  const digest: Digest = digestInKey(key);
  return key.startsWith('packs/') ? isWholePack(decodePack(digest, bytes)) : digestOf(bytes) === digest;
}

/** Writes a key again, out of quarantine or the copy. False if neither has it. */
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
    report({ outcome: 'repaired', what: key, detail: `Replaced from ${name}.` });
    return true;
  }
  return false;
}

/** Withdraws versions of a resource whose bytes are lost, in one change. Their other bytes are left to garbage collection. */
async function giveUpVersions(
  registry: Registry,
  name: string,
  lost: readonly LostVersion[],
  { giveUp, author, report }: RepairOptions,
): Promise<void> {
  const labels = new Map(lost.map(({ label, needs }) => [label, needs]));
  const [, org, type, slug] = name.split('/');
  const nameOf = (label: string) => `@${org}/${type}/${slug}@${label}`;
  const reportAll = (outcome: Repaired['outcome'], about: (needs: Digest) => string): void => {
    for (const [label, needs] of labels) report({ outcome, what: nameOf(label), detail: about(needs) });
  };
  if (!giveUp) return reportAll('left', (needs) => `It needs ${needs}, which no copy has.`);
  const since = registry.now().toISOString();
  try {
    await registry.refs.update<Resource>(name, (current) => {
      const versions = current!.value.versions.map((version) => {
        const needs = labels.get(version.label);
        if (needs === undefined || version.status.state === 'withdrawn') return version;
        return {
          ...version,
          status: { state: 'withdrawn', reason: `Its stored bytes were lost (${needs}).`, since } as const,
        };
      });
      const { latest, latestPinned } = current!.value;
      const value = { ...current!.value, versions, latestPinned: latestPinned && !labels.has(latest!) };
      return {
        value: { ...value, latest: chooseLatest(value) },
        change: { ...author, action: `withdraw ${[...labels.keys()].join(', ')}: stored bytes were lost` },
      };
    });
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
    return reportAll('left', () => 'Its organization has a damaged log, so it cannot be withdrawn.');
  }
  reportAll('given up', (needs) => `Withdrawn, because ${needs} is lost.`);
}

async function giveUpKey(bucket: Bucket, key: string, { giveUp, report }: RepairOptions): Promise<void> {
  const isOurs = !key.startsWith('work/') || parseWorkKey(key) !== null;
  // What is missing cannot be given up: the next check would miss it again.
  if (!giveUp || !isOurs || (await bucket.get(key)) === null) {
    const detail = isOurs ? 'No copy has it.' : 'Stele did not write this file. Move it away.';
    return report({ outcome: 'left', what: key, detail });
  }
  await bucket.delete(key);
  report({ outcome: 'given up', what: key, detail: 'Deleted, because it is damaged.' });
}
