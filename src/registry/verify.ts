import { formatCoordinate, type Coordinate, type Selector } from '../model/address.ts';
import { contentDigest, type ArtifactConfig, type Manifest } from '../model/artifact.ts';
import { RegistryError } from '../model/errors.ts';
import { selectVersion } from '../model/resource.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { buildArtifact } from './artifact.ts';
import type { Registry } from './registry.ts';
import { findResource } from './resources.ts';
import { readJson, readRuleset } from './stored.ts';
import { remoteOf } from './remote.ts';

/** What deriving a version again found. */
export interface Verified {
  coordinate: string;
  version: string;
  /** `same`: every byte. `recoded`: the same formats' bytes, made by another compiler or codec. `different`: not what the commit gives. */
  outcome: 'same' | 'recoded' | 'different';
  published: Digest;
  /** Null when the commit's document is refused now. */
  derived: Digest | null;
  /** Compiler that published it, and the one that verified. */
  compilers: [string, string];
}

/**
 * Derives a version again from its commit and compares (DESIGN §13, promise 9). Refuses with `refused` for one that was uploaded, and with
 * `unreachable` where the repository no longer gives the commit.
 */
export async function verify(registry: Registry, coordinate: Coordinate, selector: Selector): Promise<Verified> {
  const resource = await findResource(registry, coordinate);
  const selected = resource && selectVersion(resource, selector);
  if (!resource || !selected)
    throw new RegistryError('not_found', `There is no ${formatCoordinate(coordinate, selector)}.`);
  const { version } = selected;
  const manifest = await readJson<Manifest>(registry, version.manifest);
  const config = await readJson<ArtifactConfig>(registry, manifest.config.digest);
  const { commit, path } = config.provenance;
  const { connection } = resource;
  if (commit === null || connection === null) {
    throw new RegistryError('refused', `Version ${version.label} was uploaded: there is no commit to derive it from.`);
  }
  const remote = await remoteOf(registry, {
    url: connection.repository,
    branch: connection.branch,
    credential: connection.credential,
  });
  const snapshot = await registry.source.snapshot(remote, commit);
  const ruleset = config.ruleset === null ? null : await readRuleset(registry, config.ruleset);
  const compiled = await registry.compiler.compile(
    { type: coordinate.type, entry: path, validation: config.validation, ruleset, limits: registry.config.limits },
    (paths) => snapshot.read(paths),
  );
  const compilers: [string, string] = [config.compiler, registry.compiler.id];
  const found = {
    coordinate: formatCoordinate(coordinate),
    version: version.label,
    published: version.manifest,
    compilers,
  };
  if (compiled.artifact === null) return { ...found, outcome: 'different', derived: null };
  const { validation } = config;
  const origin = { repository: config.provenance.repository, commit };
  const built = buildArtifact({
    coordinate,
    entry: path,
    origin,
    compiled,
    compiler: config.compiler,
    validation,
    ruleset,
  });
  const derived = digestOf(built.manifest);
  if (derived === version.manifest) return { ...found, outcome: 'same', derived };
  return { ...found, outcome: built.content === contentDigest(manifest) ? 'recoded' : 'different', derived };
}
