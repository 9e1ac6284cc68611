import type { ArtifactConfig, Manifest } from '../model/artifact.ts';
import type { Digest } from '../model/digest.ts';
import { isRegistryError } from '../model/errors.ts';
import type { Resource } from '../model/resource.ts';
import { followUpFailed } from '../store/after-commit.ts';
import { isAlive, processName } from '../store/process.ts';
import { newId, type Registry } from './registry.ts';
import { decodeJson } from '../model/json.ts';

/** The purges that are at work, in all processes, each as `host/pid/id`: the value of one ref. */
interface Purges {
  running: string[];
}

const purgesRef = 'purges/all';

/** Names the purges that were made or are at work. Read past every cache. */
async function readPurges(registry: Registry): Promise<{ generation: number; isRunning: boolean }> {
  const newest = await registry.refs.readFresh<Purges>(purgesRef);
  return { generation: newest?.generation ?? 0, isRunning: (newest?.value.running ?? []).some(isAlive) };
}

/**
 * For a publish: called before it stores bytes. What it answers is called after the publish is committed, and stores them again where a purge may
 * have deleted some in between. That rejects with `outcome_unknown`: the version is there, its bytes may not be.
 */
export async function watchPurges(registry: Registry): Promise<(storeAgain: () => Promise<void>) => Promise<void>> {
  const before = await readPurges(registry);
  return async (storeAgain) => {
    try {
      const after = await readPurges(registry);
      if (after.isRunning || after.generation !== before.generation) await storeAgain();
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
 * Deletes the bytes of a withdrawn version that no other version of any resource refers to. Doing it twice, or after a crash anywhere,
 * ends the same. A publish of the same bytes at the same moment loses nothing: either this finds its commit, when it looks again after
 * deleting, and puts them back; or the publish, which commits later, finds that this was at work, and stores them again.
 */
export async function purgeVersion(registry: Registry, manifest: Digest): Promise<void> {
  const id = `${processName()}/${newId(registry)}`;
  await announce(registry, id, true);
  try {
    await purge(registry, manifest);
    // Pages and outlines hold what the document said. Other machines' caches are their own: docs say so.
    await registry.cache.clear();
  } finally {
    await announce(registry, id, false);
  }
}

async function purge(registry: Registry, manifest: Digest): Promise<void> {
  const kept = new Map<Digest, Uint8Array>();
  const own = await digestsOf(registry, manifest, kept);
  const before = await heldDigests(registry, kept);
  // What names the others goes last: while it is there, a purge that was cut short can be finished.
  for (const digest of [...own].reverse()) {
    if (before.has(digest)) continue;
    const bytes = await registry.objects.get(digest).catch((error: unknown) => {
      // Damaged bytes go like any others.
      if (isRegistryError(error, 'corrupt')) return null;
      throw error;
    });
    if (bytes) kept.set(digest, bytes);
    await registry.objects.delete(digest);
  }
  const after = await heldDigests(registry, kept);
  for (const [digest, bytes] of kept) if (after.has(digest)) await registry.objects.put(bytes);
}

type Kept = ReadonlyMap<Digest, Uint8Array>;

/** Every digest that a version needs: its manifest, its config, and what those name, in this order. Bytes are looked for in `kept` first. */
async function digestsOf(registry: Registry, manifest: Digest, kept: Kept): Promise<Set<Digest>> {
  const read = async <T>(digest: Digest): Promise<T | null> => {
    const bytes = kept.get(digest) ?? (await registry.objects.get(digest));
    return bytes && decodeJson<T>(bytes);
  };
  const digests = new Set<Digest>([manifest]);
  const named = await read<Manifest>(manifest);
  if (named === null) return digests;
  digests.add(named.config.digest);
  const config = await read<ArtifactConfig>(named.config.digest);
  if (config) digests.add(config.report);
  for (const { digest } of named.layers) digests.add(digest);
  return digests;
}

/** The digests that versions still need, read past every cache. Deleted resources count: deleting a resource deletes no bytes. */
async function heldDigests(registry: Registry, kept: Kept): Promise<Set<Digest>> {
  const held = new Set<Digest>();
  for await (const name of registry.refs.list('resources/')) {
    const resource = (await registry.refs.readFresh<Resource>(name))?.value;
    for (const version of resource?.versions ?? []) {
      if (version.status.state === 'withdrawn') continue;
      for (const digest of await digestsOf(registry, version.manifest, kept)) held.add(digest);
    }
  }
  return held;
}
