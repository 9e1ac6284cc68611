import { formatCoordinate, type Coordinate, type Selector } from '../model/address.ts';
import { contentDigest, type ArtifactConfig, type Provenance } from '../model/artifact.ts';
import type { Dependency } from '../model/dependency.ts';
import { isImageName } from '../model/image.ts';
import { notFound, refused } from '../model/errors.ts';
import { formatJob } from '../model/access.ts';
import { selectVersion, type Resource } from '../model/resource.ts';
import type { ReportedGate, Report } from '../model/problem.ts';
import type { CompileGate, Compiled, GivenRuleset } from '../compile/compile.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { blobsOf, buildArtifact, contentOf, withoutSources } from './store-artifact.ts';
import type { Registry } from './registry.ts';
import { withApproved } from './gate/compatibility.ts';
import { withLockDependencies, knownFindings } from './gate/compile-document.ts';
import { findResource } from './lives.ts';
import { pinnedReferences } from './graph/references.ts';
import { codeFor, readRecorded } from './gate/ruleset-gate.ts';
import { remoteOf, whereFrom } from './remote.ts';
import { readConfigOf, readJson, readManifestOf } from './stored.ts';

/** Result of rebuilding a version. */
export interface Verified {
  coordinate: string;
  version: string;
  /**
   * - `same`: every byte is the same.
   * - `recoded`: the documents are the same, but another compiler version compressed them
   *   differently.
   * - `recompiled`: the input is the same, but this compiler produces another document. It is not
   *   the compiler that published the version.
   * - `different`: the commit does not produce this version.
   */
  outcome: 'same' | 'recoded' | 'recompiled' | 'different';
  published: Digest;
  /** Null if the document in the commit is now rejected. */
  derived: Digest | null;
  /** The compiler that published the version, and this one. */
  compilers: [string, string];
}

/**
 * Rebuilds a version from its commit and compares (design §13, promise 9). Throws `refused` if the
 * version was uploaded, and `unreachable` if the repository no longer provides the commit.
 */
export async function verify(registry: Registry, coordinate: Coordinate, selector: Selector): Promise<Verified> {
  const resource = await findResource(registry, coordinate);
  const selected = resource && selectVersion(resource, selector);
  if (!resource || !selected) throw notFound(`${formatCoordinate(coordinate, selector)} does not exist.`);
  const { version } = selected;
  const manifest = await readManifestOf(registry, version);
  const config = await readConfigOf(registry, version);
  const { dependencies = [] } = config;
  const { commit, path, job } = config.provenance;
  if (job) {
    throw refused(
      `Version ${version.label} was uploaded by a CI job, ${formatJob(job)}: it cannot be rebuilt from its commit.`,
    );
  }
  if (commit === null) {
    throw refused(`Version ${version.label} was uploaded. It has no commit to verify against.`);
  }
  const { gate: passed, exempted = [] } = await readJson<Report>(registry, config.report, version.manifest);
  const bundled = dependencies.flatMap(({ how, digest }) => (how === 'url' ? [digest] : []));
  await assertInputsThere(registry, version.label, [config.ruleset, ...bundled], passed);
  const remote = await remoteOf(registry, await whereFrom(registry, resource, config));
  const snapshot = await registry.source.snapshot(remote, commit);
  const ruleset = config.ruleset === null ? null : await readRecorded(registry, config.ruleset, passed);
  const gate = passed && ruleset && (await gateAgain(registry, resource, passed, ruleset));
  const { validation, view } = config;
  const { limits } = registry.config;
  const code = codeFor(registry, coordinate, ruleset, snapshot.committedAt);
  const withSources = await registry.compiler.compile(
    {
      type: coordinate.type,
      entry: path,
      ...(view && { view }),
      validation,
      ruleset,
      limits,
      ...(gate && { gate }),
      ...code,
    },
    pinnedReferences(registry, (paths) => snapshot.read(paths), dependencies),
  );
  const compiledAgain = view === undefined ? withSources : withoutSources(withSources, path);
  const again = await withLockDependencies(snapshot, compiledAgain);
  // Versions from before images were part of them have none.
  const files = again.files.filter(({ path: each }) => !isImageName(each) || each in config.provenance.blobs);
  // Approved breaks come from a comparison, not from the files.
  const approved = exempted.filter(({ ofRuleset }) => ofRuleset !== true);
  const recorded = (how: Dependency['how']) => dependencies.filter((each) => each.how === how);
  const all = [...recorded('url'), ...(again.dependencies ?? []), ...recorded('extends')];
  const compiled: Compiled = {
    ...again,
    files,
    report: withApproved(again.report, approved),
    ...(all.length > 0 && { dependencies: all }),
  };
  const compilers: [string, string] = [config.compiler, registry.compiler.id];
  const result = {
    coordinate: formatCoordinate(coordinate),
    version: version.label,
    published: version.manifest,
    compilers,
  };
  // Views from before it was left out name the blob of their entry.
  const namesSources = config.provenance.blobs[path] !== null;
  const blobs = blobsOf({ entry: path, compiled, view, namesSources });
  const isOtherCompiler = config.compiler !== registry.compiler.id && hasSameInput(config, blobs);
  if (compiled.artifact === null)
    return { ...result, outcome: isOtherCompiler ? 'recompiled' : 'different', derived: null };
  const { repository, signer, approvals } = config.provenance;
  const origin = { repository, commit, ...(signer && { signer }), ...(approvals && { approvals }) };
  const built = buildArtifact({
    coordinate,
    entry: path,
    origin,
    compiled,
    compiler: config.compiler,
    validation,
    ruleset,
    view,
    namesSources,
  });
  const derived = digestOf(built.manifest);
  if (derived === version.manifest) return { ...result, outcome: 'same', derived };
  const content = contentOf(path, compiled);
  if (content === contentDigest(manifest)) return { ...result, outcome: 'recoded', derived };
  return { ...result, outcome: isOtherCompiler ? 'recompiled' : 'different', derived };
}

/** Throws `refused` if what a version was made of or checked against was withdrawn since: nobody has its bytes. */
async function assertInputsThere(
  { objects }: Registry,
  label: string,
  inputs: readonly (Digest | null)[],
  gate: ReportedGate | undefined,
): Promise<void> {
  for (const needed of [...inputs, ...Object.values(gate?.extended ?? {}), gate?.ratchet ?? null]) {
    if (needed === null || (await objects.get(needed, needed)) !== null) continue;
    throw refused(
      `Version ${label} refers to, or was checked against, a version that was withdrawn since. It cannot be rebuilt.`,
    );
  }
}

async function gateAgain(
  registry: Registry,
  resource: Resource,
  { blockOn, exemptions = [], today = '', ratchet }: ReportedGate,
  ruleset: GivenRuleset,
): Promise<CompileGate> {
  const accepted =
    ratchet === undefined ? null : await knownFindings(registry, resource, { manifest: ratchet }, ruleset);
  return { blockOn, exemptions, today, known: accepted, ...(ratchet !== undefined && { ratchet }) };
}

/** Whether the files are the same as when the version was published, as far as it names them. */
function hasSameInput({ provenance }: ArtifactConfig, now: Provenance['blobs']): boolean {
  const paths = new Set([...Object.keys(now), ...Object.keys(provenance.blobs)]);
  return [...paths].every((path) => (now[path] ?? null) === (provenance.blobs[path] ?? null));
}
