import { signerOf } from './commit-signer.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Digest } from '../model/digest.ts';
import { digestOnce } from '../store/digest-in-turns.ts';
import { conflict, malformed } from '../model/errors.ts';
import type { JobOrigin } from '../model/access.ts';
import { gateSettingsOf } from '../model/gate.ts';
import { isBlocking, type Report } from '../model/problem.ts';
import type { Approval, Held } from '../model/approval.ts';
import type { Resource } from '../model/resource.ts';
import type { Compiled, GivenRuleset } from '../compile/compile.ts';
import {
  appendDraft,
  appendVersion,
  createFor,
  isHistory,
  openTarget,
  type Appended,
  type Changed,
  type Draft,
  type Next,
  type Publication,
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
import {
  approvalsFor,
  endHeld,
  hold,
  judgeChanges,
  release,
  sourceOf,
  toHold,
  withHold,
  type Judged,
  type ToHold,
} from './approval/hold.ts';
import { rulesetState, resolveRuleset } from './gate/ruleset-gate.ts';
import { compareForeseen, type Compared } from './compare-versions.ts';
import { whyNotMoveLatest } from './gate/compatibility.ts';
import { defaultVisibility, policyOf } from './gate/policy.ts';
import { compileBare, judge } from './gate/judge.ts';
import type { NextVersion } from './graph/impact.ts';
import { compileGated } from './gate/compile-document.ts';
import { withRoom } from './maintenance/quotas.ts';
import { storeMendable } from './purge.ts';
import { inSpan, type Registry } from './registry.ts';
import { encodeJson } from '../model/json.ts';
import type { Snapshot } from '../source/snapshot.ts';

/** How a publish ended. Only `published` changed anything. `held`: what waits for approval. `next`: what was rejected, if that is known. */
export type PublishResult = (
  Appended | { outcome: 'rejected'; reportDigest: Digest | null; held?: ToHold; next: Next | null }
) & {
  /** What was decided about its changes. Absent: nothing had to be. */
  approvals?: Approval[];
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
      if (result === null) continue;
      if (!request.isView && !request.dryRun) await note(registry, request, result);
      return result;
    }
    const message = 'Other versions were published while this one was checked; nothing was published. Try again.';
    throw conflict(message, { retryAfter: 1 });
  });
}

const attempts = 5;

/** Holds what waits. What a newer commit has ends what an older one of the same branch or tag had, and a label is held until it is published. */
async function note(registry: Registry, request: PublishRequest, result: PublishResult): Promise<void> {
  const { coordinate, snapshot } = request;
  const source = sourceOf(request);
  if (result.outcome === 'rejected' && result.held) return hold(registry, coordinate, source, result.held);
  const isNewer = (held: Held) => snapshot.origin.commit !== null && held.source === source;
  const isDone = ({ label }: Held) => 'version' in result && result.version.label === label;
  await endHeld(registry, coordinate, (held) => isNewer(held) || isDone(held));
}

/**
 * compile → place → judge → build → store → append, by the policy of the moment when it began. Null: another policy counts
 * by now, or a version was published meanwhile with which this one was not compared; nothing was published then.
 */
async function publishOnce(registry: Registry, request: PublishRequest): Promise<PublishResult | null> {
  const existing = await openTarget(registry, request);
  const resource = existing ?? createFor(registry, request, null);
  const policy = await policyOf(registry, resource);
  const given = await resolveRuleset(registry, resource.org, policy.ruleset);
  const ruleset = given && rulesetState(given);
  const publication = { registry, request, existing, policy };
  const told = (by: Compiled) => ({ report: by.report, compiled: by, ruleset });

  const compiled = await compileGated(registry, request, resource, policy, given);
  const isAccepted = compiled.artifact !== null;
  const readable = isAccepted ? compiled : given && (await compileBare(publication, compiled));
  if (readable === null) return reject(registry, request, compiled, ruleset, null);

  const draft = await draftOf(request, readable);
  const foreseen = appendDraft(registry, request, existing, draft);
  if (foreseen.outcome === 'conflict') {
    if (!isAccepted) return reject(registry, request, readable, ruleset, null);
    return { ...foreseen, ...told(compiled) };
  }
  const next = foreseen.outcome === 'published' ? foreseen : null;
  const judged = next === null ? readable : await judge(publication, next, readable);
  // Another version than the new one can become the latest: by a label of another kind, or where a branch goes back to a
  // version of equal rank.
  const mayMove = next === null ? policy.approval === 'required' : next.resource.latest !== next.version.label;
  const moved = existing && mayMove ? await whyNotMoveLatest(registry, existing, foreseen.resource) : null;
  if (moved !== null)
    return { outcome: 'conflict', detail: moved, label: foreseen.version.label, suggestion: null, ...told(judged) };
  if (next !== null && (!isAccepted || isBlocking(judged.report)))
    return reject(registry, request, judged, ruleset, next);

  const changes = next && (await judgeChanges(publication, next, judged));
  const built = next && (await buildFor(publication, judged, { given, changes }));
  if (next !== null && changes !== null && changes.state !== 'approved') {
    const held = { ...judged, report: withHold(judged.report, request.entry, changes) };
    const rejected = await reject(registry, request, held, ruleset, next);
    return request.dryRun ? rejected : { ...rejected, held: await toHold(publication, changes, next, judged, built!) };
  }
  const ended = await withRoom(registry, resource.org, async (take) => {
    if (built !== null) take({ resources: existing === null ? 1 : 0, versions: 1, bytes: bytesIn(built) });
    return storeAndAppend(publication, { draft, foreseen, judged, built });
  });
  if (ended?.outcome === 'published' && changes !== null && !request.dryRun)
    await release(registry, request.coordinate, changes, ended.version.label);
  const approvals = changes === null ? {} : { approvals: approvalsFor(changes) };
  return ended && { ...ended, ...approvals, ...told(judged) };
}

/** What there is to publish. `built` null: it is published already, and only its connection may be new. */
interface Ready {
  draft: Draft;
  foreseen: Changed;
  judged: Compiled;
  built: Built | null;
}

/** store → append. Null as for `publishOnce`. Only says how it would end for a dry run. */
async function storeAndAppend(
  { registry, request, existing, policy }: Publication,
  { draft, foreseen, judged, built }: Ready,
): Promise<Appended | null> {
  const stored = built && { manifest: digestOnce(built.manifest), bytes: bytesIn(built), changes: null };
  if (request.dryRun) return appendDraft(registry, request, existing, draft, stored ?? undefined);

  const compared = await compareForeseen(registry, foreseen, judged.artifact!, request);
  const mend = built && (await store(registry, built, compared));

  // Compiling takes seconds.
  if (!isDeepStrictEqual(await policyOf(registry, foreseen.resource), policy)) return null;
  const { compatibility, impact, approval } = policy;
  // What the resource itself says must count as it did, and a document must not refer to anything more private than itself.
  const isAsOpen = (current: Resource | null) =>
    isDeepStrictEqual(settingsIn(current), settingsIn(existing)) &&
    (judged.dependencies === undefined || current?.visibility === existing?.visibility);
  const isGated = compatibility !== 'none' || impact === 'block' || approval === 'required';
  const isJudged = isGated && !isHistory(request, existing, foreseen.resource, foreseen.version.label);
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

async function draftOf(request: PublishRequest, compiled: Compiled): Promise<Draft> {
  const { version, title, summary } = compiled.artifact!;
  const { error, warning } = compiled.report.counts;
  await hashCompiled(compiled);
  return {
    content: contentOf(request.entry, compiled),
    twin: await contentTwin(request.entry, compiled),
    stated: request.stated === undefined ? version : request.stated,
    title,
    summary,
    problems: { error, warning },
    dependencies: compiled.dependencies ?? [],
  };
}

async function reject(
  registry: Registry,
  request: PublishRequest,
  compiled: Compiled,
  ruleset: Digest | null,
  next: Next | null,
): Promise<Extract<PublishResult, { outcome: 'rejected' }>> {
  const { report } = compiled;
  const reportDigest = request.dryRun ? null : await registry.objects.put(encodeJson(report));
  return { outcome: 'rejected', report, reportDigest, compiled, ruleset, next };
}

/** What a resource itself says of its policy. */
function settingsIn(resource: Resource | null): unknown {
  return resource && [resource.ruleset ?? null, resource.validation ?? null, gateSettingsOf(resource)];
}

function isSame(current: Resource | null, before: Resource | null): boolean {
  const stateOf = (resource: Resource | null) =>
    resource && [resource.latest, resource.versions.map(({ label, status }) => [label, status.state])];
  return isDeepStrictEqual(stateOf(current), stateOf(before));
}

async function buildFor(
  { registry, request, policy: { validation } }: Publication,
  compiled: Compiled,
  { given: ruleset, changes }: { given: GivenRuleset | null; changes: Judged | null },
): Promise<Built> {
  const { coordinate, snapshot, job } = request;
  const signer = await signerOf(registry, coordinate.org, snapshot.signature);
  const approvals = changes === null ? [] : approvalsFor(changes);
  return buildArtifact({
    coordinate,
    entry: request.entry,
    origin: {
      ...(job ? jobOrigin(job) : { ...snapshot.origin, ...(signer && { signer }) }),
      ...(approvals.length > 0 && { approvals }),
    },
    compiled,
    compiler: registry.compiler.id,
    validation,
    ruleset,
    view: request.view,
  });
}

function jobOrigin({ repository, commit, startedBy: _login, ...job }: JobOrigin): ArtifactInput['origin'] {
  return { repository, commit, job };
}

/**
 * Stores a version's bytes: where the manifest exists, so does all that it names. Returns what stores
 * them again if a purge deleted some meanwhile.
 */
function store(
  registry: Registry,
  { unshared, shared, manifest }: Built,
  compared: Compared | null,
): Promise<() => Promise<void>> {
  return storeMendable(registry, () => {
    // A separate object: it quotes the previous version too, and is deleted when that is withdrawn.
    const comparison = compared === null ? null : registry.objects.put(compared.bytes);
    return Promise.all([registry.objects.putPack(manifest, shared, unshared), comparison]);
  });
}

/**
 * An upload as it is published: now, or, for moving in, in its place by the date that another registry had for it
 * (decision 170). `latest`: whether it may become the latest. Throws `malformed` for a time that is none, or that is yet
 * to come.
 */
export function datedUpload(
  { now }: Pick<Registry, 'now'>,
  snapshot: Snapshot,
  createdAt: string | null,
  latest: boolean,
): Pick<PublishRequest, 'snapshot' | 'isPast' | 'latest'> {
  if (createdAt === null) return { snapshot, latest };
  const time = Date.parse(createdAt);
  if (Number.isNaN(time)) throw malformed(`${createdAt} is not a time.`);
  if (time > now().getTime()) throw malformed(`${createdAt} is in the future. Say when it was published.`);
  const committedAt = new Date(time).toISOString();
  return { snapshot: { ...snapshot, committedAt }, isPast: true, latest: latest && 'newer' };
}
