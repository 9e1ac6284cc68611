import { findLayer, type ArtifactConfig, type Descriptor, type Manifest } from '../model/artifact.ts';
import type { Digest } from '../model/digest.ts';
import { RegistryError, onRefusal } from '../model/errors.ts';
import type { Report } from '../model/problem.ts';
import type { Version } from '../model/resource.ts';
import type { GivenRuleset } from '../compile/compile.ts';
import type { Registry, Log } from './registry.ts';
import { decodeJson } from '../model/json.ts';
import type { Generation } from '../store/records.ts';

type Stored = { objects: Pick<Registry['objects'], 'get'> };
type Named = Pick<Version, 'manifest'>;

/**
 * The bytes of an object that something in the store refers to. `manifest`: of the version that the
 * object belongs to, if it belongs to one. Throws `corrupt` if it is missing, since it was written
 * before the reference.
 */
export async function readObject(registry: Stored, digest: Digest, manifest?: Digest): Promise<Uint8Array> {
  const bytes = await registry.objects.get(digest, manifest);
  if (bytes === null) throw new RegistryError('corrupt', `Object ${digest} is missing. Run \`stele fsck\`.`);
  return bytes;
}

/** A JSON document that Stele wrote. `manifest`: see `readObject`. */
export async function readJson<T>(registry: Stored, digest: Digest, manifest?: Digest): Promise<T> {
  return decodeJson<T>(await readObject(registry, digest, manifest));
}

/** The manifest of a version. */
export async function readManifestOf(registry: Stored, { manifest }: Named): Promise<Manifest> {
  return readJson<Manifest>(registry, manifest, manifest);
}

/** The config of a version: title, specification, provenance, compiler. */
export async function readConfigOf(registry: Stored, version: Named): Promise<ArtifactConfig> {
  const { config } = await readManifestOf(registry, version);
  return readJson<ArtifactConfig>(registry, config.digest, version.manifest);
}

/** The report of a version, as it was published. */
export async function readReportOf(registry: Stored, version: Named): Promise<Report> {
  return readJson<Report>(registry, (await readConfigOf(registry, version)).report, version.manifest);
}

/** The document of a version as plain JSON: where it is, and how many bytes it has. */
export async function documentOf(registry: Stored, version: Named): Promise<Descriptor> {
  return findLayer(await readManifestOf(registry, version), 'json', 'identity')!;
}

/**
 * A published ruleset for the compiler. `digest`: of its version's manifest; `name`: its coordinate
 * with its version.
 */
export async function readRuleset(registry: Stored, digest: Digest, name: string = digest): Promise<GivenRuleset> {
  const document = await documentOf(registry, { manifest: digest });
  return { digest, name, json: Buffer.from(await readObject(registry, document.digest, digest)).toString() };
}

const logged = new WeakMap<Log, Set<string>>();

/**
 * Reads an expiring record as one of many. A damaged one counts as absent and is logged once, so that
 * it does not take the others along.
 */
export async function readAmong<T>(
  { refs, log }: Pick<Registry, 'refs' | 'log'>,
  name: string,
): Promise<Generation<T> | null> {
  const passOver = ({ message: error }: RegistryError): null => {
    const names = logged.getOrInsertComputed(log, () => new Set());
    if (!names.has(name)) log('error', 'damaged record passed over', { record: name, error });
    names.add(name);
    return null;
  };
  return refs.read<T>(name).catch(onRefusal('corrupt', passOver));
}
