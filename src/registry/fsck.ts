import { digestOf, type Digest } from '../model/digest.ts';
import { parseJson } from '../model/json.ts';
import { nameOf, resourceRef, type Resource, type Version } from '../model/resource.ts';
import { isRegistryError } from '../model/errors.ts';
import { formatVerifierKey } from '../model/transparency/note.ts';
import { decodeLeaf, isLogged, isVersion } from '../model/transparency/leaf.ts';
import { isDraftRef, type Draft } from '../sites/model/documentation-site.ts';
import { listAll, type Bucket } from '../store/bucket.ts';
import { isBeingUpdated } from '../store/format.ts';
import { checkLog, entriesAfter, listLogs } from '../store/log/check-log.ts';
import { entryKey, isItem, type SealedEntry } from '../store/log/entry.ts';
import type { Head } from '../store/log/heads.ts';
import { objectKey, packKey, decodePack, isWholePack, type Pieces } from '../store/objects.ts';
import { treeName } from '../store/tree/batch.ts';
import { checkTree } from '../store/tree/check-tree.ts';
import { faultOfRecord } from '../store/record-fault.ts';
import { digestsOfVersion, neededComparison, standingOf } from './maintenance/references.ts';
import { hasKey, hasPublicLog, logKeys } from './transparency/log-key.ts';
import { createWitnesses, headsIn, type Witnesses } from './maintenance/witnesses.ts';
import type { Registry } from './registry.ts';

/** Something in the store that is damaged or missing. */
export interface Damage {
  /** Bucket key; of a version, the name of its resource's record. */
  key: string;
  detail: string;
  /** The version that cannot be read because of it. */
  version?: LostVersion;
  /** The version whose comparison with the one before it cannot be read because of it. */
  comparison?: LostComparison;
  /** The log that lost its newest entries, the first of which the key is. */
  lostOf?: string;
}

export interface LostVersion {
  label: string;
  manifest: Digest;
  /** The digest that is missing or damaged. */
  needs: Digest;
}

export interface LostComparison {
  /** Name of the resource's record. */
  name: string;
  label: string;
  digest: Digest;
}

/** What a check of the whole store found. */
export interface Checked {
  /** A pack is one, as in a collection of garbage and in a copy. */
  objects: number;
  bytes: number;
  entries: number;
  records: number;
  versions: number;
  damages: Damage[];
  /**
   * Manifests that no entry of a log names: left by publishes that did not end, or the newest
   * entries of a log are lost.
   */
  unnamed: Digest[];
  /** The newest entry of each log, of a damaged one the last before the damage. Kept elsewhere, they show later that none was lost. */
  heads: Head[];
  /** Logs that the registry names and that have no entries: their first change did not end, or they are lost. */
  empty: string[];
  /** Public versions that are not in the public log, by name: a server lists them at its next start. */
  unlogged: string[];
  /** Versions of the public log that the registry does not know, by name: it was taken back to an earlier state. */
  unknown: string[];
  /** The key that the public log announces, if this registry has none, as a verifier key. */
  lostKey: string | null;
}

/**
 * Reads everything that is stored: hashes every object again, follows every log from its first
 * entry, compares its checkpoint with what its entries lead to and its newest entry with what tells of
 * it elsewhere (also `expected`), follows every version that is not withdrawn down to its last byte, and the
 * public log from its first batch. Changes nothing, and what others write meanwhile is no damage. Calls `progress` now and then.
 */
export async function fsck(
  registry: Registry,
  progress: (checked: Checked) => void = () => undefined,
  expected: readonly Head[] = [],
): Promise<Checked> {
  const check = beginCheck(registry, progress);
  // Read before the logs, so that no record names an entry that was appended later.
  const witnesses = await readWork(registry.bucket, check.damaged);
  for (const head of expected) witnesses.add(head, 'What you expect');
  await checkObjects(check);
  for await (const manifest of registry.objects.listPacks()) await checkPack(check, manifest);
  const logs = await Array.fromAsync(listLogs(registry.bucket));
  for (const log of new Set([...logs, ...witnesses.logs()]))
    if (log !== treeName) await checkOneLog(check, log, witnesses);
  await checkPublicLog(check, witnesses);
  check.checked.empty = check.begun.filter((log) => !logs.includes(log));
  await namePublishedMeanwhile(check);
  check.checked.unnamed = [...check.missing].flatMap(([digest, lost]) =>
    lost !== null && !check.named.has(digest) ? [digest] : [],
  );
  return check.checked;
}

type Check = ReturnType<typeof beginCheck>;

function beginCheck(registry: Registry, progress: (checked: Checked) => void) {
  const checked: Checked = {
    objects: 0,
    bytes: 0,
    entries: 0,
    records: 0,
    versions: 0,
    damages: [],
    unnamed: [],
    heads: [],
    empty: [],
    unlogged: [],
    unknown: [],
    lostKey: null,
  };
  return {
    registry,
    checked,
    damaged: (key: string, detail: string): void => void checked.damages.push({ key, detail }),
    progress: (): void => progress(checked),
    /** Objects whose bytes match their digests. */
    sound: new Set<Digest>(),
    /** The unreadable objects of each manifest; null: its pack is missing or damaged. */
    missing: new Map<Digest, Digest[] | null>(),
    /** Manifests that an entry names. */
    named: new Set<Digest>(),
    /** The newest entry of each log that was read. */
    reached: new Map<string, number>(),
    /** Logs that the registry names. */
    begun: [] as string[],
  };
}

async function checkObjects({ registry, checked, damaged, progress, sound }: Check): Promise<void> {
  for await (const digest of registry.objects.list()) {
    const bytes = await registry.bucket.get(objectKey(digest));
    // Deleted since it was listed. What needs it is found below.
    if (bytes === null) continue;
    checked.objects++;
    checked.bytes += bytes.byteLength;
    if (digestOf(bytes) === digest) sound.add(digest);
    else damaged(objectKey(digest), 'The bytes do not match the digest.');
    progress();
  }
}

/** Reads a version's pack, and notes what of the version cannot be read. */
async function checkPack(
  { registry, checked, damaged, progress, sound, missing }: Check,
  manifest: Digest,
): Promise<void> {
  const bytes = await registry.bucket.get(packKey(manifest));
  missing.set(manifest, null);
  if (bytes === null) return;
  const pieces = await decodePack(manifest, bytes);
  checked.objects++;
  checked.bytes += bytes.byteLength;
  if (!isWholePack(pieces)) damaged(packKey(manifest), 'The bytes do not match their digests.');
  if (pieces?.get(manifest)) missing.set(manifest, await missingOf(registry, manifest, pieces, sound));
  progress();
}

async function checkOneLog(check: Check, log: string, witnesses: Witnesses): Promise<void> {
  const { registry, checked, damaged } = check;
  // Of all entries, also of those behind a damaged one.
  const owners = new Map<string, Map<string, Version>>();
  const entry = (sealed: SealedEntry): void => {
    checked.entries++;
    check.reached.set(log, sealed.sequence);
    const against = witnesses.against(log, sealed);
    if (against !== null)
      damaged(entryKey(log, sealed.sequence), `${against} records another entry ${sealed.sequence}.`);
    for (const { name, owner, value } of sealed.changes.filter(isItem)) {
      const version = value as Version;
      owners.getOrInsertComputed(owner, () => new Map<string, Version>()).set(name, version);
      check.named.add(version.manifest);
    }
    check.progress();
  };
  const { records, head, newest } = await checkLog(registry.bucket, registry.objects, log, { entry, damaged });
  checked.records += records.size;
  if (head !== null) checked.heads.push(head);
  for (const name of records.keys()) if (name.startsWith('logs/')) check.begun.push(name.slice('logs/'.length));
  const beyond = witnesses.beyond(log, newest);
  if (beyond !== null)
    checked.damages.push({
      key: entryKey(log, newest + 1),
      detail: `The log lost its entries after ${newest}: ${beyond.where} records entry ${beyond.sequence}.`,
      lostOf: log,
    });
  for (const [owner, versions] of owners) await checkVersions(check, owner, versions);
  for (const [name, { value }] of records) {
    const bundle = isDraftRef(name) ? (value as Draft).file?.bundle : undefined;
    if (bundle && !(await isStored(registry, bundle, check.sound)))
      damaged(objectKey(bundle), `The file of a site in ${name} is missing or damaged. Send it again.`);
  }
}

async function checkPublicLog({ registry, checked, progress }: Check, witnesses: Witnesses): Promise<void> {
  const damaged = (damage: Damage): void => void checked.damages.push(damage);
  const told = new Map<string, Digest>();
  const leaf = (bytes: Buffer): void => {
    const decoded = decodeLeaf(bytes);
    if (decoded !== null && isVersion(decoded)) told.set(`${decoded.coordinate}@${decoded.label}`, decoded.digest);
    progress();
  };
  const { head, isWhole, position } = await checkTree(registry.bucket, witnesses.of(treeName), { damaged, leaf });
  if (head === null) return;
  checked.heads.push(head);
  const isLost = registry.config.publicLog.key === null && registry.logKey?.read() === null;
  if (hasPublicLog(registry) && isLost) checked.lostKey = position.key;
  const fault = hasPublicLog(registry) && !isLost ? faultOfKey(registry, position.key) : null;
  if (fault !== null) damaged({ key: '.log-key', detail: fault });
  // What stands behind a damage is not known.
  if (!isWhole || registry.refs.damages().length > 0) return;
  for (const { value } of await registry.refs.all<Resource>('resources/')) {
    for (const { label, manifest, status } of value.versions) {
      const name = `${nameOf(value)}@${label}`;
      const digest = told.get(name);
      told.delete(name);
      if (!isLogged(value) || status.state === 'withdrawn') continue;
      if (digest === undefined) checked.unlogged.push(name);
      else if (digest !== manifest)
        damaged({ key: resourceRef(value), detail: `Version ${label} is ${manifest}, and the public log says ${digest}.` }); // prettier-ignore
    }
    if (value.deletedAt !== null)
      for (const name of told.keys()) if (name.startsWith(`${nameOf(value)}@`)) told.delete(name);
  }
  checked.unknown = [...told.keys()];
}

/** What is wrong with the key of the public log, which announces that one. */
function faultOfKey(registry: Registry, announced: string | null): string | null {
  try {
    const keys = logKeys(registry, false).map(formatVerifierKey);
    if (announced === null || hasKey(keys, announced)) return null;
    return `The public log announces the key ${announced}, and this is ${keys[0]}. Put the right one back.`;
  } catch (error) {
    if (isRegistryError(error, 'corrupt')) return (error.cause as Error).message;
    if (isRegistryError(error, 'malformed')) return error.message;
    throw error;
  }
}

async function checkVersions(check: Check, owner: string, versions: ReadonlyMap<string, Version>): Promise<void> {
  const { registry, checked, sound, missing } = check;
  const standing = standingOf(versions.values());
  for (const version of standing.values()) {
    const { label, manifest } = version;
    const digest = neededComparison(version, standing);
    // The version itself is sound: readers compare again.
    if (digest !== null && !(await isStored(registry, digest, sound)) && !(await isThere(registry, digest)))
      checked.damages.push({
        key: objectKey(digest),
        detail: `What changed in ${owner} ${label} is missing. It is compared again.`,
        comparison: { name: owner, label, digest },
      });
    // It may have been published since the packs were listed.
    if (!missing.has(manifest)) await checkPack(check, manifest);
    checked.versions++;
    for (const needs of missing.get(manifest) ?? [manifest]) {
      const detail = `Version ${label} needs ${needs}, which is missing or damaged.`;
      checked.damages.push({ key: owner, detail, version: { label, manifest, needs } });
    }
  }
}

/** Notes the manifests of publishes that ended since the logs were read. */
async function namePublishedMeanwhile({ registry: { bucket }, reached, named }: Check): Promise<void> {
  for await (const log of listLogs(bucket))
    for await (const entry of entriesAfter(bucket, log, reached.get(log) ?? 0))
      for (const { value } of entry.changes.filter(isItem)) named.add((value as Version).manifest);
}

/** Reads the records that expire, and previews. Returns what they tell of logs. */
async function readWork(bucket: Bucket, damaged: (key: string, detail: string) => void): Promise<Witnesses> {
  const witnesses = createWitnesses();
  // The records of a copy that is being brought up to date are newer than its logs.
  const isAhead = await isBeingUpdated(bucket);
  for (const prefix of ['work/', 'previews/'])
    for await (const key of listAll(bucket, prefix)) {
      const bytes = await bucket.get(key);
      // It was replaced or expired since it was listed.
      if (bytes === null) continue;
      const fault = faultOfRecord(key, bytes);
      if (fault !== null) damaged(key, fault);
      else if (!isAhead) for (const head of headsIn(key, parseJson(bytes))) witnesses.add(head, key);
    }
  return witnesses;
}

/** The objects of a manifest that can be read neither from its pack nor on their own. */
async function missingOf(registry: Registry, manifest: Digest, pieces: Pieces, sound: Set<Digest>): Promise<Digest[]> {
  const isSound = async (digest: Digest) =>
    pieces.has(digest) ? Boolean(pieces.get(digest)) : isStored(registry, digest, sound);
  const read = async (digest: Digest) => ((await isSound(digest)) ? registry.objects.get(digest, manifest) : null);
  const missing: Digest[] = [];
  for (const digest of await digestsOfVersion(manifest, read)) if (!(await isSound(digest))) missing.push(digest);
  return missing;
}

/** Whether the object is sound. Looks again, for it may have been stored since the objects were listed. */
async function isStored({ bucket }: Registry, digest: Digest, sound: Set<Digest>): Promise<boolean> {
  if (sound.has(digest)) return true;
  const bytes = await bucket.get(objectKey(digest));
  if (bytes === null || digestOf(bytes) !== digest) return false;
  sound.add(digest);
  return true;
}

/** Whether the object has bytes. Damaged ones are reported when objects are checked. */
async function isThere({ bucket }: Registry, digest: Digest): Promise<boolean> {
  return (await bucket.get(objectKey(digest))) !== null;
}
