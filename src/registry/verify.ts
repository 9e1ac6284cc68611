import { formatCoordinate, type Coordinate, type Selector } from '../model/address.ts';
import { contentDigest, type ArtifactConfig, type Manifest } from '../model/artifact.ts';
import { RegistryError } from '../model/errors.ts';
import { formatJob } from '../model/job.ts';
import { repositoryName, type Repository } from '../model/connection.ts';
import { selectVersion, type Resource } from '../model/resource.ts';
import type { Compiled } from '../compile/compile.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { buildArtifact } from './store-artifact.ts';
import type { Registry } from './registry.ts';
import { findResource } from './find-resource.ts';
import { readJson, readRuleset } from './stored.ts';
import { remoteOf } from './remote.ts';

/** What deriving a version again found. */
export interface Verified {
  coordinate: string;
  version: string;
  /**
   * `same`: every byte. `recoded`: the same documents, packed by another compiler's codecs. `recompiled`: the same input, of which this compiler, which
   * is not the one that published it, makes something else: the one that did can tell. `different`: not what the commit gives.
   */
  outcome: 'same' | 'recoded' | 'recompiled' | 'different';
  published: Digest;
  /** Null when the commit's document is refused now. */
  derived: Digest | null;
  /** Compiler that published it, and the one that verified. */
  compilers: [string, string];
}

/**
 * Derives a version again from its commit and compares (design §13, promise 9). Refuses with `refused` for one that was uploaded, and with
 * `unreachable` where the repository no longer gives the commit.
 */
export async function verify(registry: Registry, coordinate: Coordinate, selector: Selector): Promise<Verified> {
  const resource = await findResource(registry, coordinate);
  const selected = resource && selectVersion(resource, selector);
  if (!resource || !selected)
    throw new RegistryError('not_found', `${formatCoordinate(coordinate, selector)} does not exist.`);
  const { version } = selected;
  const manifest = await readJson<Manifest>(registry, version.manifest);
  const config = await readJson<ArtifactConfig>(registry, manifest.config.digest);
  const { commit, path, job } = config.provenance;
  if (job) {
    throw new RegistryError(
      'refused',
      `Version ${version.label} was uploaded by a CI job, ${formatJob(job)}: it cannot be rebuilt from its commit.`,
    );
  }
  if (commit === null) {
    throw new RegistryError('refused', `Version ${version.label} was uploaded. It has no commit to verify against.`);
  }
  const remote = await remoteOf(registry, whereFrom(resource, config));
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
  const isOtherCompiler = config.compiler !== registry.compiler.id && hasSameInput(config, compiled);
  if (compiled.artifact === null)
    return { ...found, outcome: isOtherCompiler ? 'recompiled' : 'different', derived: null };
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
  if (built.content === contentDigest(manifest)) return { ...found, outcome: 'recoded', derived };
  return { ...found, outcome: isOtherCompiler ? 'recompiled' : 'different', derived };
}

/** Where the version's commit is: in the repository that it is connected to, else in the one that its provenance names. */
function whereFrom(
  { org, connection }: Resource,
  { provenance }: ArtifactConfig,
): Pick<Repository, 'org' | 'url' | 'branch' | 'credential'> {
  const named = provenance.repository!;
  if (connection && repositoryName(connection.repository) === named) {
    return { org, url: connection.repository, branch: connection.branch, credential: connection.credential };
  }
  if (!/^[a-z+]+:\/\/|^[^/@]+@[^/:]+:/.test(named))
    throw new RegistryError(
      'refused',
      `The version is from a folder ${JSON.stringify(named)}, which is no longer connected.`,
    );
  return { org, url: named, branch: null, credential: null };
}

/** Whether the files that were read now are those that were read then. */
function hasSameInput({ provenance }: ArtifactConfig, { files }: Compiled): boolean {
  const now = Object.fromEntries(files.map(({ path, blob }) => [path, blob]));
  const paths = new Set([...Object.keys(now), ...Object.keys(provenance.blobs)]);
  return [...paths].every((path) => (now[path] ?? null) === (provenance.blobs[path] ?? null));
}
