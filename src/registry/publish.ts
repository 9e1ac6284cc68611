import { formatCoordinate, type Coordinate } from '../model/address.ts';
import type { Connection, OnConflict } from '../model/connection.ts';
import type { VersionChanges } from '../model/comparison.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { JobOrigin } from '../model/job.ts';
import { isLabel } from '../model/label.ts';
import { isBlocking, type Report } from '../model/problem.ts';
import { assertPublishable, findVersion, resourceRef, type Resource, type Version } from '../model/resource.ts';
import type { Artifact, Compiled, GivenRuleset } from '../compile/compile.ts';
import { buildArtifact, type ArtifactInput, type Built } from './store-artifact.ts';
import { assertConnectable } from './connectable.ts';
import { rulesetState } from './gate/extended.ts';
import { compareForeseen, withChanges, type Compared } from './changes/foreseen-changes.ts';
import { resolveRuleset, rulesetName } from './gate/gate.ts';
import {
  checkNext,
  compileDocument,
  compileGated,
  validationOf,
  type CompileRequest,
} from './gate/compile-document.ts';
import { addVersion, malformedLabel, placeVersion } from './place-version.ts';
import { watchPurges } from './purge.ts';
import type { Author, Registry } from './registry.ts';
import { newResource, withTitle, type NewResource } from './create-resource.ts';
import { encodeJson } from '../model/json.ts';

/** What to publish, and how. */
export interface PublishRequest extends CompileRequest {
  /** The requested label; null: from the document's version, else the next one (design §7). */
  version: string | null;
  /** Whether `version` comes from a git tag: see `Placing`. */
  isTag?: boolean;
  /** Replaces the version in the document; undefined: the document's own. */
  stated?: string | null;
  /** What to do if the document's version is already published with other content. */
  onConflict: OnConflict;
  /** Whether it is past history: ordered by its date, and labelled below all others by default. */
  isPast?: boolean;
  /**
   * If false, this version does not become the latest. `newer`: it does not if its commit is older
   * than that of the latest.
   */
  latest: boolean | 'newer';
  /** Compile, check and choose a label, but write nothing. */
  dryRun: boolean;
  /** Settings for creating the resource if it does not exist; null: throw `not_found` instead. */
  create: (Omit<NewResource, 'name'> & { /** Default: the document's title, else the slug. */ name?: string }) | null;
  /** Set on the resource in the same step; undefined leaves its connection unchanged. */
  connection?: Connection;
  /** The CI job that uploaded the document, for the provenance. */
  job?: JobOrigin;
  author: Author;
}

/** How a publish ended. Only `published` changed anything. */
export type PublishResult =
  | {
      outcome: 'published' | 'unchanged';
      resource: Resource;
      version: Version;
      report: Report;
      compiled: Compiled;
      ruleset: Digest | null;
    }
  | { outcome: 'rejected'; report: Report; reportDigest: Digest | null; compiled: Compiled; ruleset: Digest | null }
  | {
      outcome: 'conflict';
      detail: string;
      label: string;
      suggestion: string | null;
      report: Report;
      compiled: Compiled;
      ruleset: Digest | null;
    };

/**
 * Compiles a document and publishes it. The bytes are written first and the ref last: that append
 * is the only commit point (design §2). Repeating it after a crash gives the same result.
 */
export async function publish(registry: Registry, request: PublishRequest): Promise<PublishResult> {
  if (request.version !== null && !isLabel(request.version)) throw malformedLabel(request.version);
  const existing = await currentResource(registry, request.coordinate);
  if (existing === null && request.create === null) {
    throw new RegistryError('not_found', `${formatCoordinate(request.coordinate)} does not exist. Create it first.`);
  }
  if (existing !== null && request.connection !== undefined) assertConnectable(existing, request.connection);
  const resource = existing ?? createFor(registry, request, null);
  const ruleset = await resolveRuleset(registry, resource.org, rulesetName(registry, resource));
  let compiled = await compileGated(registry, request, resource, ruleset);
  let report = compiled.report;
  const rulesetDigest = ruleset && rulesetState(ruleset);
  if (compiled.artifact === null) {
    const standing = ruleset === null ? null : await findStanding(registry, request, existing, compiled);
    if (standing !== null) return { ...standing, report, ruleset: rulesetDigest };
    const reportDigest = request.dryRun ? null : await registry.objects.put(encodeJson(report));
    return { outcome: 'rejected', report, reportDigest, compiled, ruleset: rulesetDigest };
  }
  let built = buildFor(registry, request, resource, compiled, ruleset);
  let made = madeOf(request, compiled.artifact, built);
  // Before any bytes are stored. A taken label stays taken, so the result cannot change.
  const foreseen = (await appendVersion(registry, { ...request, dryRun: true }, made))!;
  if (foreseen.outcome === 'published' && !(request.isPast ?? false)) {
    const checked = await checkNext(registry, request, existing, foreseen.version.label, compiled);
    if (isBlocking(checked)) {
      const reportDigest = request.dryRun ? null : await registry.objects.put(encodeJson(checked));
      return { outcome: 'rejected', report: checked, reportDigest, compiled, ruleset: rulesetDigest };
    }
    if (checked !== report) {
      compiled = { ...compiled, report: checked };
      report = checked;
      built = buildFor(registry, request, resource, compiled, ruleset);
      made = { ...made, manifest: digestOf(built.manifest) };
    }
  }
  if (request.dryRun || foreseen.outcome === 'conflict') {
    return { ...foreseen, report, compiled, ruleset: rulesetDigest };
  }
  const compared = await compareForeseen(registry, foreseen, compiled.artifact!, request);
  const mendPurged = await watchPurges(registry);
  const store = () => storeArtifact(registry, built, compared);
  await store();
  const appended = (await appendVersion(registry, request, { ...made, changes: compared?.changes ?? null }))!;
  if (appended.outcome === 'published') await mendPurged(store);
  return { ...appended, report, compiled, ruleset: rulesetDigest };
}

/**
 * Whether a rejected document is the published one, and so unchanged: a stricter ruleset applies
 * only to new content. To compare, the document is compiled without the ruleset.
 */
async function findStanding(
  registry: Registry,
  request: PublishRequest,
  existing: Resource | null,
  { report }: Compiled,
): Promise<(Extract<Appended, { outcome: 'unchanged' | 'published' }> & { compiled: Compiled }) | null> {
  const isOverLimits = report.problems.some(({ rule }) => rule.startsWith('sandbox-'));
  if (existing === null || existing.versions.length === 0 || isOverLimits) return null;
  const compiled = await compileDocument(registry, request, existing, null);
  if (compiled.artifact === null) return null;
  const built = buildFor(registry, request, existing, compiled, null);
  const made = madeOf(request, compiled.artifact, built);
  const appended = await appendVersion(registry, request, made, { mayPublish: false });
  return appended?.outcome === 'unchanged' ? { ...appended, compiled } : null;
}

function madeOf(request: PublishRequest, artifact: Artifact, { manifest, content }: Built): Made {
  return { manifest: digestOf(manifest), content, stated: statedOf(request, artifact), title: artifact.title };
}

/** The version in the document, unless the request replaces it. */
function statedOf({ stated }: PublishRequest, artifact: Artifact): string | null {
  return stated === undefined ? artifact.version : stated;
}

function createFor(registry: Registry, { coordinate, create }: PublishRequest, title: string | null): Resource {
  return newResource(registry, coordinate, {
    ...create,
    name: create?.name ?? (title?.trim().slice(0, 200) || coordinate.slug),
  });
}

/** The resource, or null if it does not exist. The name of a deleted one is never used again. */
async function currentResource(registry: Registry, coordinate: Coordinate): Promise<Resource | null> {
  const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value ?? null;
  assertPublishable(resource);
  return resource;
}

interface Made {
  manifest: Digest;
  content: Digest;
  /** The version in the document, or null. */
  stated: string | null;
  title: string;
  /** What changed since the version that was foreseen to be before it. */
  changes?: VersionChanges | null;
}

/** Makes the artifact's bytes without storing them. */
function buildFor(
  registry: Registry,
  request: PublishRequest,
  resource: Resource,
  compiled: Compiled,
  ruleset: GivenRuleset | null,
): Built {
  return buildArtifact({
    coordinate: request.coordinate,
    entry: request.entry,
    origin: request.job ? jobOrigin(request.job) : request.snapshot.origin,
    compiled,
    compiler: registry.compiler.id,
    validation: validationOf(registry, resource),
    ruleset,
  });
}

function jobOrigin({ repository, commit, ...job }: JobOrigin): ArtifactInput['origin'] {
  return { repository, commit, job };
}

/** Stores the artifact's bytes: where the manifest exists, so does all that it names. */
async function storeArtifact(
  registry: Registry,
  { objects, manifest }: Built,
  compared: Compared | null,
): Promise<void> {
  // An object of its own: it quotes the version before too, and goes when that is withdrawn.
  const told = compared === null ? null : registry.objects.put(compared.bytes);
  await Promise.all([registry.objects.putPack(manifest, objects), told]);
}

type Appended =
  | { outcome: 'published' | 'unchanged'; resource: Resource; version: Version }
  | { outcome: 'conflict'; detail: string; label: string; suggestion: string | null };

/**
 * The commit point: appends one generation, decided from the newest. Writes nothing and returns
 * null if this would be a new version and `mayPublish` is false.
 */
async function appendVersion(
  registry: Registry,
  request: PublishRequest,
  made: Made,
  { mayPublish = true } = {},
): Promise<Appended | null> {
  let result: Appended | null = null;
  const at = registry.now().toISOString();
  const decide = (current: Resource | null): Resource | null => {
    assertPublishable(current);
    if (current !== null && request.connection !== undefined) assertConnectable(current, request.connection);
    const resource = current === null ? createFor(registry, request, made.title) : withTitle(current, made.title);
    const placed = placeVersion(resource, {
      version: request.version,
      isTag: request.isTag ?? false,
      stated: made.stated,
      content: made.content,
      onConflict: request.onConflict,
      commit: request.snapshot.origin.commit,
      isPast: request.isPast ?? false,
      committedAt: request.snapshot.committedAt,
    });
    if (placed.outcome === 'published' && !mayPublish) {
      result = null;
      return null;
    }
    if (placed.outcome === 'conflict') {
      result = placed;
      return null;
    }
    const connected = request.connection === undefined ? resource : { ...resource, connection: request.connection };
    if (placed.outcome === 'unchanged') {
      result = { outcome: 'unchanged', resource: connected, version: placed.version };
      return JSON.stringify(connected.connection) === JSON.stringify(current?.connection) ? null : connected;
    }
    const version: Version = {
      label: placed.label,
      manifest: made.manifest,
      content: made.content,
      publishedAt: at,
      ...(request.snapshot.committedAt !== null && { createdAt: request.snapshot.committedAt }),
      status: { state: 'active' },
      ...(made.stated !== null && made.stated !== placed.label && { original: made.stated }),
    };
    const next = withChanges(addVersion(connected, version, request), version.label, made.changes ?? null);
    result = { outcome: 'published', resource: next, version: findVersion(next, version.label)! };
    return next;
  };
  if (request.dryRun) {
    decide(await currentResource(registry, request.coordinate));
    return result;
  }
  await registry.refs.update<Resource>(resourceRef(request.coordinate), (generation) => {
    const value = decide(generation?.value ?? null);
    if (value === null) return null;
    const action = result?.outcome === 'published' ? `publish ${result.version.label}` : 'connect';
    return { value, change: { ...request.author, action } };
  });
  return result;
}
