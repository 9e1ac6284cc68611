import { isDeepStrictEqual } from 'node:util';
import { formatCoordinate } from '../model/address.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { JobOrigin } from '../model/job.ts';
import { isLabel } from '../model/label.ts';
import { isBlocking, type Report } from '../model/problem.ts';
import type { Resource, Version } from '../model/resource.ts';
import type { Artifact, Compiled, GivenRuleset } from '../compile/compile.ts';
import {
  appendVersion,
  createFor,
  currentResource,
  type Appended,
  type Made,
  type PublishRequest,
} from './append-version.ts';
import { buildArtifact, hashCompiled, type ArtifactInput, type Built } from './store-artifact.ts';
import { assertConnectable } from './connectable.ts';
import { rulesetState } from './gate/extended.ts';
import { compareForeseen, type Compared } from './changes/foreseen-changes.ts';
import { gateOf, resolveRuleset, rulesetName } from './gate/ruleset-gate.ts';
import { checkNext, compileDocument, compileGated, validationOf } from './gate/compile-document.ts';
import { malformedLabel } from './place-version.ts';
import { watchPurges } from './purge.ts';
import type { Registry } from './registry.ts';
import { encodeJson } from '../model/json.ts';

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
  for (let attempt = 0; attempt < attempts; attempt++) {
    const result = await publishOnce(registry, request);
    if (result !== null) return result;
  }
  const message = 'Other versions were published while this one was checked; nothing was published. Try again.';
  throw new RegistryError('conflict', message, { retryAfter: 1 });
}

const attempts = 5;

/** Returns null if a version was published meanwhile with which this one was not compared. Nothing was published then. */
async function publishOnce(registry: Registry, request: PublishRequest): Promise<PublishResult | null> {
  if (request.version !== null && !isLabel(request.version)) throw malformedLabel(request.version);
  const existing = await currentResource(registry, request.coordinate);
  if (existing === null && request.create === null) {
    throw new RegistryError('not_found', `${formatCoordinate(request.coordinate)} does not exist. Create it first.`);
  }
  if (existing !== null && request.connection !== undefined) assertConnectable(existing, request.connection);
  const resource = existing ?? createFor(registry, request, null);
  const ruleset = await resolveRuleset(registry, resource.org, await rulesetName(registry, resource));
  let compiled = await compileGated(registry, request, resource, ruleset);
  let report = compiled.report;
  const rulesetDigest = ruleset && rulesetState(ruleset);
  if (compiled.artifact === null) {
    const bare = ruleset === null ? null : await compileBare(registry, request, existing, compiled);
    const standing = bare && (await findStanding(registry, request, bare));
    if (standing) return { ...standing, report, ruleset: rulesetDigest };
    // Who mends the findings should know of the breaks, too.
    if (bare !== null) {
      report = await judgeBare(registry, request, bare, report);
      compiled = { ...compiled, artifact: bare.compiled.artifact, report };
    }
    const reportDigest = request.dryRun ? null : await registry.objects.put(encodeJson(report));
    return { outcome: 'rejected', report, reportDigest, compiled, ruleset: rulesetDigest };
  }
  await hashCompiled(compiled);
  let built = buildFor(registry, request, resource, compiled, ruleset);
  let made = madeOf(request, compiled.artifact, report, built);
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
      made = madeOf(request, compiled.artifact!, report, built);
    }
  }
  if (request.dryRun || foreseen.outcome === 'conflict') {
    return { ...foreseen, report, compiled, ruleset: rulesetDigest };
  }
  if (foreseen.outcome === 'unchanged') {
    // Its bytes are stored. Only a connection may be new.
    const standing = await appendVersion(registry, request, made, () => false);
    return standing && { ...standing, report, compiled, ruleset: rulesetDigest };
  }
  const compared = await compareForeseen(registry, foreseen, compiled.artifact!, request);
  const mendPurged = await watchPurges(registry);
  const store = () => storeArtifact(registry, built, compared);
  await store();
  const isJudged = gateOf(registry, resource).compatibility !== 'none' && !(request.isPast ?? false);
  const appended = await appendVersion(
    registry,
    request,
    { ...made, changes: compared?.changes ?? null },
    // The verdict is about this label and the versions that there were.
    isJudged ? (current, label) => label === foreseen.version.label && isSame(current, existing) : undefined,
  );
  if (appended === null) return null;
  if (appended.outcome === 'published') await mendPurged(store);
  return { ...appended, report, compiled, ruleset: rulesetDigest };
}

/** A document that only its ruleset rejects, compiled without it. */
interface Bare {
  resource: Resource;
  compiled: Compiled;
  made: Made;
}

/** Null: the document itself is invalid, or nothing is published that it could be compared with. */
async function compileBare(
  registry: Registry,
  request: PublishRequest,
  existing: Resource | null,
  { report }: Compiled,
): Promise<Bare | null> {
  const isOverLimits = report.problems.some(({ rule }) => rule.startsWith('sandbox-'));
  if (existing === null || existing.versions.length === 0 || isOverLimits) return null;
  const compiled = await compileDocument(registry, request, existing, null);
  if (compiled.artifact === null) return null;
  const built = buildFor(registry, request, existing, compiled, null);
  return { resource: existing, compiled, made: madeOf(request, compiled.artifact, compiled.report, built) };
}

/**
 * Whether a rejected document is the published one, and so unchanged: a stricter ruleset applies
 * only to new content.
 */
async function findStanding(
  registry: Registry,
  request: PublishRequest,
  { compiled, made }: Bare,
): Promise<(Extract<Appended, { outcome: 'unchanged' | 'published' }> & { compiled: Compiled }) | null> {
  const appended = await appendVersion(registry, request, made, () => false);
  return appended?.outcome === 'unchanged' ? { ...appended, compiled } : null;
}

/** The report of a document that its ruleset rejects, with the breaking changes that it has besides. */
async function judgeBare(
  registry: Registry,
  request: PublishRequest,
  { resource, compiled, made }: Bare,
  report: Report,
): Promise<Report> {
  const foreseen = await appendVersion(registry, { ...request, dryRun: true }, made);
  if (foreseen?.outcome !== 'published' || (request.isPast ?? false)) return report;
  return checkNext(registry, request, resource, foreseen.version.label, { ...compiled, report });
}

function madeOf(
  request: PublishRequest,
  artifact: Artifact,
  { counts: { error, warning } }: Report,
  { manifest, content }: Built,
): Made {
  const { title, summary } = artifact;
  const problems = { error, warning };
  return { manifest: digestOf(manifest), content, stated: statedOf(request, artifact), title, summary, problems };
}

/** The version in the document, unless the request replaces it. */
function statedOf({ stated }: PublishRequest, artifact: Artifact): string | null {
  return stated === undefined ? artifact.version : stated;
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

/** Whether a resource has the same versions in the same states, and the same latest. */
function isSame(current: Resource | null, before: Resource | null): boolean {
  const stateOf = (resource: Resource | null) =>
    resource && [resource.latest, resource.versions.map(({ label, status }) => [label, status.state])];
  return isDeepStrictEqual(stateOf(current), stateOf(before));
}

function jobOrigin({ repository, commit, ...job }: JobOrigin): ArtifactInput['origin'] {
  return { repository, commit, job };
}

/** Stores the artifact's bytes: where the manifest exists, so does all that it names. */
async function storeArtifact(
  registry: Registry,
  { own, shared, manifest }: Built,
  compared: Compared | null,
): Promise<void> {
  // An object of its own: it quotes the version before too, and goes when that is withdrawn.
  const comparison = compared === null ? null : registry.objects.put(compared.bytes);
  await Promise.all([registry.objects.putPack(manifest, shared, own), comparison]);
}
