import { signerOf } from './commit-signer.ts';
import { isDeepStrictEqual } from 'node:util';
import { formatCoordinate } from '../model/address.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { JobOrigin } from '../model/keys/job.ts';
import { isLabel } from '../model/label.ts';
import { isBlocking, type Report } from '../model/problem.ts';
import type { Resource } from '../model/resource.ts';
import type { Compiled, GivenRuleset } from '../compile/compile.ts';
import {
  appendDraft,
  appendVersion,
  createFor,
  placeDraft,
  readTarget,
  type Appended,
  type Draft,
  type PublishRequest,
} from './append-version.ts';
import {
  buildArtifact,
  contentOf,
  contentTwin,
  hashCompiled,
  type ArtifactInput,
  type Built,
} from './store-artifact.ts';
import { rulesetState } from './gate/extended.ts';
import { compareForeseen, type Compared } from './changes/foreseen-changes.ts';
import { defaultVisibility } from './gate/organization-defaults.ts';
import { gateOf, resolveRuleset, rulesetName } from './gate/ruleset-gate.ts';
import { checkImpact } from './gate/impact-gate.ts';
import type { NextVersion } from './graph/impact.ts';
import { checkNext, compileDocument, compileGated, validationOf } from './gate/compile-document.ts';
import { malformedLabel, type Placed } from './place-version.ts';
import { withRoom } from './maintenance/quotas.ts';
import { watchPurges } from './purge.ts';
import { inSpan, type Registry } from './registry.ts';
import { encodeJson } from '../model/json.ts';

/** How a publish ended. Only `published` changed anything. */
export type PublishResult = (Appended | { outcome: 'rejected'; reportDigest: Digest | null }) & {
  report: Report;
  compiled: Compiled;
  ruleset: Digest | null;
};

/** The version that a dry run would publish. Null: none, or one that there is already. */
export function nextVersionOf(result: PublishResult): NextVersion | null {
  const { artifact } = result.compiled;
  if (result.outcome !== 'published' || artifact === null) return null;
  return { resource: result.resource, version: result.version, artifact };
}

/**
 * Compiles a document and publishes it. The bytes are written first and the record last: that append
 * is the only commit point (design §2). Repeating it after a crash gives the same result.
 */
export async function publish(registry: Registry, given: PublishRequest): Promise<PublishResult> {
  const visibility = given.create?.visibility ?? (await defaultVisibility(registry, given.coordinate.org));
  const request = { ...given, create: given.create && { ...given.create, visibility } };
  return inSpan(registry, 'publish', { 'stele.type': given.coordinate.type }, async () => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const result = await publishOnce(registry, request);
      if (result !== null) return result;
    }
    const message = 'Other versions were published while this one was checked; nothing was published. Try again.';
    throw new RegistryError('conflict', message, { retryAfter: 1 });
  });
}

const attempts = 5;

/**
 * compile → place → judge → build → store → append. Null: a version was published meanwhile with
 * which this one was not compared; nothing was published then.
 */
async function publishOnce(registry: Registry, request: PublishRequest): Promise<PublishResult | null> {
  const existing = await openTarget(registry, request);
  const resource = existing ?? createFor(registry, request, null);
  const given = await resolveRuleset(registry, resource.org, await rulesetName(registry, resource));
  const ruleset = given && rulesetState(given);

  const compiled = await compileGated(registry, request, resource, given);
  const isAccepted = compiled.artifact !== null;
  const readable = isAccepted ? compiled : given && (await compileBare(registry, request, existing, compiled));
  if (readable === null) return reject(registry, request, compiled, ruleset);

  const draft = await draftOf(request, readable);
  const placed = placeDraft(resource, request, draft);
  if (placed.outcome === 'conflict' && isAccepted) return { ...placed, report: compiled.report, compiled, ruleset };

  const judged = await judge(registry, request, existing, { placed, draft }, readable);
  const isNew = placed.outcome !== 'unchanged';
  if (isNew && (!isAccepted || isBlocking(judged.report))) return reject(registry, request, judged, ruleset);

  const built = isNew ? await buildFor(registry, request, resource, judged, given) : null;
  const ended = await withRoom(registry, resource.org, async (take) => {
    if (built !== null) take({ resources: existing === null ? 1 : 0, versions: 1, bytes: bytesIn(built) });
    return storeAndAppend(registry, request, { existing, draft, judged, built });
  });
  return ended && { ...ended, report: judged.report, compiled: judged, ruleset };
}

/** What there is to publish. `built` null: it is published already, and only its connection may be new. */
interface Ready {
  existing: Resource | null;
  draft: Draft;
  judged: Compiled;
  built: Built | null;
}

/** store → append. Null as for `publishOnce`. Only says how it would end for a dry run. */
async function storeAndAppend(
  registry: Registry,
  request: PublishRequest,
  { existing, draft, judged, built }: Ready,
): Promise<Appended | null> {
  const stored = built && { manifest: digestOf(built.manifest), bytes: bytesIn(built), changes: null };
  const foreseen = appendDraft(registry, request, existing, draft, stored)!;
  if (request.dryRun || foreseen.outcome === 'conflict') return foreseen;

  const compared = await compareForeseen(registry, foreseen, judged.artifact!, request);
  const mend = built && (await store(registry, built, compared));

  const { compatibility, impact } = await gateOf(registry, foreseen.resource);
  // A document must not refer to anything more private than itself.
  const isAsOpen = (current: Resource | null) =>
    judged.dependencies === undefined || current?.visibility === existing?.visibility;
  const isJudged = (compatibility !== 'none' || impact === 'block') && !(request.isPast ?? false);
  // The verdict holds only for this label and these versions.
  const mayPublish = (current: Resource | null, label: string) =>
    isAsOpen(current) && (!isJudged || (label === foreseen.version.label && isSame(current, existing)));
  const whole = stored && { ...stored, changes: compared?.changes ?? null };
  const appended = await appendVersion(registry, request, draft, whole, mayPublish);
  if (appended?.outcome === 'published') await mend?.();
  return appended;
}

function bytesIn({ manifest, unshared, shared }: Built): number {
  return [manifest, ...unshared, ...shared].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/**
 * Checks that there is something to publish to: the resource, or null if it is to be made. Throws
 * `malformed`, `not_found` and `conflict`.
 */
async function openTarget(registry: Registry, request: PublishRequest): Promise<Resource | null> {
  if (request.version !== null && !isLabel(request.version)) throw malformedLabel(request.version);
  const existing = await readTarget(registry, request);
  if (existing === null && request.create === null)
    throw new RegistryError('not_found', `${formatCoordinate(request.coordinate)} does not exist. Create it first.`);
  return existing;
}

/**
 * A document that its ruleset rejects, compiled without it, with the report that rejects it: it may
 * equal the published version, which a stricter ruleset leaves as it is, and whoever fixes its
 * findings should see its breaking changes too. Null: the document itself is invalid, or nothing is
 * published that it could be compared with.
 */
async function compileBare(
  registry: Registry,
  request: PublishRequest,
  existing: Resource | null,
  { report }: Compiled,
): Promise<Compiled | null> {
  const isOverLimits = report.problems.some(({ rule }) => rule.startsWith('sandbox-'));
  if (existing === null || existing.versions.length === 0 || isOverLimits) return null;
  const bare = await compileDocument(registry, request, existing, null);
  return bare.artifact && { ...bare, report };
}

async function draftOf(request: PublishRequest, compiled: Compiled): Promise<Draft> {
  const { version, title, summary } = compiled.artifact!;
  const { error, warning } = compiled.report.counts;
  await hashCompiled(compiled);
  return {
    content: contentOf(request.coordinate.type, request.entry, compiled),
    twin: await contentTwin(request.coordinate.type, request.entry, compiled),
    stated: request.stated === undefined ? version : request.stated,
    title,
    summary,
    problems: { error, warning },
    dependencies: compiled.dependencies ?? [],
  };
}

/** The document, with the breaking changes in its report that its gate does not allow. */
async function judge(
  registry: Registry,
  request: PublishRequest,
  existing: Resource | null,
  { placed, draft }: { placed: Placed; draft: Draft },
  compiled: Compiled,
): Promise<Compiled> {
  if (placed.outcome !== 'published' || (request.isPast ?? false)) return compiled;
  const report = await checkNext(registry, request, existing, placed.label, compiled);
  const judged = { ...compiled, report };
  if (existing === null || compiled.artifact === null || isBlocking(report)) return judged;
  if ((await gateOf(registry, existing)).impact !== 'block') return judged;
  const notStored = { manifest: draft.content, bytes: 0, changes: null };
  const next = appendDraft(registry, request, existing, draft, notStored);
  if (next?.outcome !== 'published') return judged;
  const { entry, exemptions = [], isAwaited = false, signal } = request;
  const { resource, version } = next;
  return {
    ...compiled,
    report: await checkImpact(
      registry,
      { resource, version, artifact: compiled.artifact },
      { entry, report, exemptions },
      { isAwaited, signal },
    ),
  };
}

async function reject(
  registry: Registry,
  request: PublishRequest,
  compiled: Compiled,
  ruleset: Digest | null,
): Promise<PublishResult> {
  const { report } = compiled;
  const reportDigest = request.dryRun ? null : await registry.objects.put(encodeJson(report));
  return { outcome: 'rejected', report, reportDigest, compiled, ruleset };
}

/** Whether a resource has the same versions in the same states, and the same latest. */
function isSame(current: Resource | null, before: Resource | null): boolean {
  const stateOf = (resource: Resource | null) =>
    resource && [resource.latest, resource.versions.map(({ label, status }) => [label, status.state])];
  return isDeepStrictEqual(stateOf(current), stateOf(before));
}

/** Makes the artifact's bytes without storing them. */
async function buildFor(
  registry: Registry,
  request: PublishRequest,
  resource: Resource,
  compiled: Compiled,
  ruleset: GivenRuleset | null,
): Promise<Built> {
  const { coordinate, snapshot, job } = request;
  const signer = await signerOf(registry, coordinate.org, snapshot.signature);
  return buildArtifact({
    coordinate,
    entry: request.entry,
    origin: job ? jobOrigin(job) : { ...snapshot.origin, ...(signer && { signer }) },
    compiled,
    compiler: registry.compiler.id,
    validation: await validationOf(registry, resource),
    ruleset,
    view: request.view,
  });
}

function jobOrigin({ repository, commit, ...job }: JobOrigin): ArtifactInput['origin'] {
  return { repository, commit, job };
}

/**
 * Stores a version's bytes: where the manifest exists, so does all that it names. Returns what stores
 * them again if a purge deleted some meanwhile.
 */
async function store(
  registry: Registry,
  { unshared, shared, manifest }: Built,
  compared: Compared | null,
): Promise<() => Promise<void>> {
  const mendPurged = await watchPurges(registry);
  const write = async (): Promise<void> => {
    // A separate object: it quotes the previous version too, and is deleted when that is withdrawn.
    const comparison = compared === null ? null : registry.objects.put(compared.bytes);
    await Promise.all([registry.objects.putPack(manifest, shared, unshared), comparison]);
  };
  await write();
  return () => mendPurged(write);
}
