import type { Digest } from '../model/digest.ts';
import { insteadOf } from '../model/errors.ts';
import { organizationKinds } from '../model/record-places.ts';
import { findVersion, type Resource } from '../model/resource.ts';
import { followUpFailed } from '../store/refs.ts';
import { isAlive, processName } from '../store/process.ts';
import { newId, type Registry } from './registry.ts';
import { digestsOfVersion, referencesOf } from './maintenance/references.ts';

/** Running purges of all processes, each as `host/pid.start/id`. The value of one record. */
interface Purges {
  running: string[];
}

const purgesRef = 'purges/all';

async function readPurges(
  registry: Registry,
  read: 'read' | 'readFresh',
): Promise<{ generation: number; isRunning: boolean }> {
  const newest = await registry.refs[read]<Purges>(purgesRef);
  return { generation: newest?.generation ?? 0, isRunning: (newest?.value.running ?? []).some(isAlive) };
}

/**
 * Notes which purges there were. Returns a function that tells whether one has begun or ended
 * since, and whether one may have deleted bytes unnoticed: it was running, and may have crashed.
 */
export async function notePurges(registry: Registry): Promise<() => Promise<{ isNew: boolean; isRunning: boolean }>> {
  // A slightly old answer is enough: a purge that began or ended since then counts too.
  const before = await readPurges(registry, 'read');
  return async () => {
    const after = await readPurges(registry, 'readFresh');
    return { isNew: after.generation !== before.generation, isRunning: before.isRunning || after.isRunning };
  };
}

/**
 * Stores bytes for a record that is written next. Call the returned function after that commit: it
 * stores them again if a purge may have deleted some in between. If that fails, it throws
 * `outcome_unknown`: the record exists, but its bytes may not.
 */
export async function storeMendable(registry: Registry, store: () => Promise<unknown>): Promise<() => Promise<void>> {
  const purgesSince = await notePurges(registry);
  await store();
  return async () => {
    try {
      const { isNew, isRunning } = await purgesSince();
      if (isNew || isRunning) await store();
    } catch (error) {
      throw followUpFailed(error);
    }
  };
}

async function announce(registry: Registry, id: string, isRunning: boolean): Promise<void> {
  await registry.refs.update<Purges>(purgesRef, (current) => {
    const others = (current?.value.running ?? []).filter((each) => each !== id && isAlive(each));
    const change = { actor: 'operator:purge', origin: null, action: isRunning ? 'begin' : 'end' };
    return { value: { running: isRunning ? [...others, id] : others }, change };
  });
}

/**
 * Deletes the bytes of a withdrawn version that no other version refers to. Safe to repeat, also
 * after a crash. A concurrent publish of the same bytes loses nothing: either this finds its commit
 * when it looks again after deleting, and restores the bytes; or the publish commits later, finds
 * this purge, and stores them again.
 */
export async function purgeVersion(registry: Registry, manifest: Digest): Promise<void> {
  await whileDeleting(registry, async () => {
    await purge(registry, manifest);
    // The cache has pages and outlines of the withdrawn document. Other machines have their own
    // caches; the documentation says so.
    await registry.cache.clear();
  });
}

/**
 * Runs work that deletes bytes. Whoever publishes meanwhile stores theirs again after the commit, so
 * the work must only bring back what is committed before it ends.
 */
export async function whileDeleting(registry: Registry, work: () => Promise<void>): Promise<void> {
  const id = `${processName()}/${newId(registry)}`;
  await announce(registry, id, true);
  try {
    await work();
  } finally {
    await announce(registry, id, false);
  }
}

async function purge(registry: Registry, manifest: Digest): Promise<void> {
  const deleted = new Map<Digest, Uint8Array>();
  const digests = new Set([
    ...(await digestsOf(registry, manifest, deleted)),
    ...(await comparisonsWith(registry, manifest)),
  ]);
  const before = await heldDigests(registry, deleted);
  // The manifest goes last: while it exists, an interrupted purge can be finished.
  for (const digest of [...digests].reverse()) {
    const bytes = await registry.objects.get(digest, manifest).catch(insteadOf('corrupt', null));
    if (bytes) deleted.set(digest, bytes);
    if (!before.has(digest)) await registry.objects.delete(digest);
  }
  const after = await heldDigests(registry, deleted);
  const isLost = (digest: Digest) => after.has(digest) && !before.has(digest);
  const root = isLost(manifest) ? deleted.get(manifest) : undefined;
  if (root) await registry.objects.putPack(root, [...deleted.values()]);
  else for (const [digest, bytes] of deleted) if (isLost(digest)) await registry.objects.put(bytes);
}

/** The comparisons that quote a version: its own, and that of the version after it. */
async function comparisonsWith(registry: Registry, manifest: Digest): Promise<Digest[]> {
  const comparisons: Digest[] = [];
  for (const { value: resource } of await registry.refs.all<Resource>('resources/'))
    for (const { manifest: own, changes } of resource.versions)
      if (changes && (own === manifest || findVersion(resource, changes.from)?.manifest === manifest))
        comparisons.push(changes.digest);
  return comparisons;
}

type DeletedBytes = ReadonlyMap<Digest, Uint8Array>;

function digestsOf(registry: Registry, manifest: Digest, deleted: DeletedBytes): Promise<Set<Digest>> {
  return digestsOfVersion(manifest, async (digest) => deleted.get(digest) ?? registry.objects.get(digest, manifest));
}

/**
 * The digests that versions, sites and other records of organizations need, read past every cache.
 * Deleted resources count: deleting a resource deletes no bytes.
 */
async function heldDigests(registry: Registry, deleted: DeletedBytes): Promise<Set<Digest>> {
  const held = new Set<Digest>();
  // A damaged log may hide versions that need the bytes: then nothing is deleted.
  await registry.refs.refresh('resources/');
  for (const kind of organizationKinds()) {
    for await (const name of registry.refs.list(`${kind}/`)) {
      const newest = await registry.refs.read(name);
      const { manifests, objects } = newest ? referencesOf(name, newest.value) : { manifests: [], objects: [] };
      for (const digest of objects) held.add(digest);
      for (const manifest of manifests) {
        for (const digest of await digestsOf(registry, manifest, deleted)) held.add(digest);
      }
    }
  }
  return held;
}
