import type { ArtifactConfig, Manifest } from '../model/artifact.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import { listAll } from '../store/bucket.ts';
import { generationKey, parseGenerationKey, type Generation } from '../store/generations.ts';
import { objectKey } from '../store/objects.ts';
import type { Registry } from './registry.ts';
import { decodeJson, parseJson } from '../model/json.ts';

/** One file in the store that is missing or damaged. */
export interface Damage {
  /** Bucket key. */
  key: string;
  detail: string;
}

/** Result of checking the whole store. */
export interface Checked {
  objects: number;
  bytes: number;
  refs: number;
  generations: number;
  versions: number;
  damages: Damage[];
}

/**
 * Checks everything in the store: hashes every object, walks every ref's chain, and follows every
 * version down to its last object. Changes nothing. Calls `progress` after each object and ref.
 */
export async function fsck(
  registry: Registry,
  progress: (checked: Checked) => void = () => undefined,
): Promise<Checked> {
  const checked: Checked = { objects: 0, bytes: 0, refs: 0, generations: 0, versions: 0, damages: [] };
  const sound = new Set<Digest>();
  for await (const digest of registry.objects.list()) {
    const bytes = await registry.bucket.get(objectKey(digest));
    checked.objects++;
    checked.bytes += bytes?.byteLength ?? 0;
    if (bytes && digestOf(bytes) === digest) sound.add(digest);
    else damaged(checked, objectKey(digest), 'The bytes do not match the digest.');
    progress(checked);
  }
  for await (const [name, generations] of chains(registry, checked)) {
    checked.refs++;
    const newest = await checkChain(registry, name, generations, checked);
    progress(checked);
    if (newest && name.startsWith('resources/'))
      await checkResource(registry, newest.value as Resource, sound, checked);
  }
  return checked;
}

function damaged(checked: Checked, key: string, detail: string): void {
  checked.damages.push({ key, detail });
}

/** Every ref with the numbers of its generations, newest first. */
async function* chains(registry: Registry, checked: Checked): AsyncGenerator<[string, number[]]> {
  let name: string | null = null;
  let numbers: number[] = [];
  for await (const key of listAll(registry.bucket, 'refs/')) {
    const parsed = parseGenerationKey(key);
    if (parsed === null) {
      damaged(checked, key, 'Stele did not write this file and ignores it. Move it away.');
      continue;
    }
    if (parsed.name !== name) {
      if (name !== null) yield [name, numbers];
      name = parsed.name;
      numbers = [];
    }
    numbers.push(parsed.generation);
  }
  if (name !== null) yield [name, numbers];
}

/**
 * Walks one chain from the newest generation to the first. Returns the newest if it can be read.
 */
async function checkChain(
  registry: Registry,
  name: string,
  numbers: readonly number[],
  checked: Checked,
): Promise<Generation<unknown> | null> {
  let newest: Generation<unknown> | null = null;
  let expected: Digest | null = null;
  const highest = numbers[0]!;
  for (let number = highest; number > 0; number--) {
    const key = generationKey(name, number);
    const bytes = await registry.bucket.get(key);
    checked.generations++;
    if (bytes === null) {
      damaged(checked, key, 'The generation is missing.');
      return newest;
    }
    if (expected !== null && digestOf(bytes) !== expected)
      damaged(checked, key, 'It does not match the digest in the next generation.');
    const generation = parseGeneration(bytes);
    if (generation === null || generation.generation !== number || (number === 1) !== (generation.previous === null)) {
      damaged(checked, key, 'It is not a generation of this ref.');
      return newest;
    }
    newest ??= generation;
    expected = generation.previous;
  }
  return newest;
}

function parseGeneration(bytes: Uint8Array): Generation<unknown> | null {
  return (parseJson(bytes) as Generation<unknown> | undefined) ?? null;
}

async function checkResource(
  registry: Registry,
  resource: Resource,
  sound: ReadonlySet<Digest>,
  checked: Checked,
): Promise<void> {
  for (const version of resource.versions) {
    if (version.status.state === 'withdrawn') continue;
    checked.versions++;
    const needed = sound.has(version.manifest) ? await namedBy(registry, version.manifest, sound) : [version.manifest];
    for (const digest of needed.filter((each) => !sound.has(each))) {
      damaged(checked, resourceRef(resource), `Version ${version.label} needs ${digest}, which is missing or damaged.`);
    }
  }
}

/** Every digest that a version's manifest refers to. */
async function namedBy(registry: Registry, manifest: Digest, sound: ReadonlySet<Digest>): Promise<Digest[]> {
  const read = async <T>(digest: Digest) => decodeJson<T>((await registry.bucket.get(objectKey(digest)))!);
  const { config, layers } = await read<Manifest>(manifest);
  const digests = [manifest, config.digest, ...layers.map(({ digest }) => digest)];
  if (sound.has(config.digest)) digests.push((await read<ArtifactConfig>(config.digest)).report);
  return digests;
}
