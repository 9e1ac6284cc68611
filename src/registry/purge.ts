import type { ArtifactConfig, Manifest } from '../model/artifact.ts';
import type { Digest } from '../model/digest.ts';
import type { Resource } from '../model/resource.ts';
import type { Registry } from './registry.ts';

/**
 * Deletes the bytes of a withdrawn version that no other version of any resource refers to. Doing it twice, or after a crash anywhere,
 * ends the same. A publish of the same bytes at the same moment wins: what it refers to is put back, here or by the publish itself.
 */
export async function purgeVersion(registry: Registry, manifest: Digest): Promise<void> {
  const own = await digestsOf(registry, manifest);
  const before = await heldDigests(registry, manifest);
  const doomed = [...own].filter((digest) => !before.has(digest));
  // The manifest goes last: while it is there, a purge that was cut short can be finished.
  doomed.sort((a, b) => Number(a === manifest) - Number(b === manifest));
  const kept = new Map<Digest, Uint8Array>();
  for (const digest of doomed) {
    const bytes = await registry.objects.get(digest);
    if (bytes) kept.set(digest, bytes);
    await registry.objects.delete(digest);
  }
  const after = await heldDigests(registry, manifest);
  for (const [digest, bytes] of kept) if (after.has(digest)) await registry.objects.put(bytes);
}

/** Every digest that a version's manifest names, itself included; none where the manifest is gone already. */
async function digestsOf(registry: Registry, manifest: Digest): Promise<Set<Digest>> {
  const digests = new Set<Digest>([manifest]);
  const bytes = await registry.objects.get(manifest);
  if (bytes === null) return digests;
  const { config, layers } = JSON.parse(Buffer.from(bytes).toString()) as Manifest;
  for (const { digest } of [config, ...layers]) digests.add(digest);
  const configBytes = await registry.objects.get(config.digest);
  if (configBytes) digests.add((JSON.parse(Buffer.from(configBytes).toString()) as ArtifactConfig).report);
  return digests;
}

/**
 * The digests that versions still need, as far as they could be among those of `manifest`. Read past every cache. Versions of deleted
 * resources count: deleting a resource deletes no bytes.
 */
async function heldDigests(registry: Registry, manifest: Digest): Promise<Set<Digest>> {
  const held = new Set<Digest>();
  for await (const name of registry.refs.list('resources/')) {
    const resource = (await registry.refs.update<Resource>(name, () => null))?.value;
    for (const version of resource?.versions ?? []) {
      if (version.status.state === 'withdrawn') continue;
      if (version.manifest === manifest) held.add(manifest);
      for (const digest of await digestsOf(registry, version.manifest)) held.add(digest);
    }
  }
  return held;
}
