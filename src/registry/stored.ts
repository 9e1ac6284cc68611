import { findLayer, type Manifest } from '../model/artifact.ts';
import type { Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { GivenRuleset } from '../compile/compile.ts';
import type { Registry } from './registry.ts';
import { decodeJson } from '../model/json.ts';

/**
 * The bytes of an object that something in the store refers to. Throws `corrupt` if it is missing,
 * since it was written before the reference.
 */
export async function readObject(registry: Pick<Registry, 'objects'>, digest: Digest): Promise<Uint8Array> {
  const bytes = await registry.objects.get(digest);
  if (bytes === null) throw new RegistryError('corrupt', `Object ${digest} is missing. Run \`stele fsck\`.`);
  return bytes;
}

/** A JSON document that Stele wrote. */
export async function readJson<T>(registry: Pick<Registry, 'objects'>, digest: Digest): Promise<T> {
  return decodeJson<T>(await readObject(registry, digest));
}

/** A published ruleset for the compiler. */
export async function readRuleset(registry: Pick<Registry, 'objects'>, digest: Digest): Promise<GivenRuleset> {
  const layer = findLayer(await readJson<Manifest>(registry, digest), 'json', 'identity')!;
  return { digest, json: Buffer.from(await readObject(registry, layer.digest)).toString() };
}
