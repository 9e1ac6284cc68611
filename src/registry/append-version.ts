import type { Connection, OnConflict } from '../model/connection.ts';
import type { VersionChanges } from '../model/comparison.ts';
import type { Dependency } from '../model/dependency.ts';
import type { Digest } from '../model/digest.ts';
import type { JobOrigin } from '../model/access.ts';
import {
  assertPublishable,
  findVersion,
  resourceRef,
  type Resource,
  type Version,
  chooseLatest,
  chooseLatestWith,
} from '../model/resource.ts';
import {
  compareSemanticVersions,
  haveEqualRank,
  readerOf,
  isLabel,
  labelFromVersion,
  nextLabel,
} from '../model/label.ts';
import { fittingVersion } from '../model/compared-with.ts';
import { withBranchAt, insertByDate, latestMovedBack } from '../model/latest.ts';
import { assertConnectable, newResource, withSummary, withTitle, type NewResource } from './change-resource.ts';
import { withChanges } from './compare-versions.ts';
import type { CompileRequest } from './gate/compile-document.ts';
import type { Policy } from './gate/policy.ts';
import type { Author, Registry } from './registry.ts';
import type { Snapshot } from '../source/snapshot.ts';
import { formatCoordinate } from '../model/address.ts';
import { type RegistryError, malformed, notFound } from '../model/errors.ts';

/** What to publish, and how. */
export interface PublishRequest extends CompileRequest {
  /** The requested label; null: from the document's version, else the next one (design §7). */
  version: string | null;
  /** Whether `version` comes from a git tag. Then `onConflict` applies, as to a document's. */
  isTag?: boolean;
  /** Replaces the version in the document; undefined: the document's own. */
  stated?: string | null;
  /** What to do if the document's version is already published with other content. */
  onConflict: OnConflict;
  /** Whether it is past history: ordered by its date, and labelled below all others by default. */
  isPast?: boolean;
  /** Of past history: the highest release before the import. What is not below is judged as what is new. */
  floor?: string | null;
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
  /** Path of the file with its settings, for who wrote it. */
  settings?: string;
  /** Whether it is published into a view (`createTrialRegistry`): what waits for approval is then returned, and not held. */
  isView?: boolean;
  /** The CI job that uploaded the document, for the provenance. */
  job?: JobOrigin;
  author: Author;
}

/** A document that is to be published, by the policy of the moment when that began. `existing`: its resource; null: it is to be made. */
export interface Publication {
  registry: Registry;
  request: PublishRequest;
  existing: Resource | null;
  policy: Policy;
}

/** A version that would be published, and its resource with it. */
export interface Next {
  resource: Resource;
  version: Version;
}

/** A compiled document that is to be published: all that its label depends on, and what lists show. */
export interface Draft {
  content: Digest;
  /** The digest that the same content has with the other line endings; null if it has none. */
  twin: Digest | null;
  /** The version in the document, or null. */
  stated: string | null;
  title: string;
  /** What the document says of itself in a few words. */
  summary: string;
  /** How many problems its report has. */
  problems: { error: number; warning: number };
  dependencies: readonly Dependency[];
}

/** The bytes of a version, once they are stored. */
export interface StoredVersion {
  manifest: Digest;
  /** Size of everything that it consists of. */
  bytes: number;
  /** What changed since the version that was expected to precede it. */
  changes: VersionChanges | null;
}

/** The resource that a publish makes. */
export function createFor(registry: Registry, { coordinate, create }: PublishRequest, title: string | null): Resource {
  return newResource(registry, coordinate, {
    ...create,
    name: create?.name ?? (title?.trim().slice(0, 200) || coordinate.slug),
  });
}

/** The resource to publish to, or null if it is to be made. Throws `malformed`, `not_found` and `conflict`. */
export async function openTarget(registry: Registry, request: PublishRequest): Promise<Resource | null> {
  const { version, coordinate, create } = request;
  if (version !== null && !isLabel(version)) throw malformedLabel(version);
  const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value ?? null;
  assertTarget(resource, request);
  if (resource === null && create === null)
    throw notFound(`${formatCoordinate(coordinate)} does not exist. Create it first.`);
  return resource;
}

/** Throws `conflict` for a resource that was deleted, or is connected to another repository. */
function assertTarget(resource: Resource | null, { connection }: PublishRequest): void {
  assertPublishable(resource);
  if (resource !== null && connection !== undefined) assertConnectable(resource, connection);
}

/**
 * Whether past content fills history alone, so that nobody gets it who did not ask for it: it is below the highest release,
 * or has its rank or no order, and leaves `latest` as it is. `next`: the resource with it.
 */
export function isHistory(
  { isPast = false, floor = null }: PublishRequest,
  existing: Resource | null,
  next: Resource,
  label: string,
): boolean {
  if (!isPast || existing === null || floor === null) return isPast;
  const read = readerOf(next.versions);
  const [own, highest] = [read(label), read(floor)];
  const difference = own === null || highest === null ? 0 : compareSemanticVersions(own, highest);
  return difference < 0 || (difference === 0 && next.latest === existing.latest);
}

/** How an append ended. Only `published` is a new version. */
export type Appended =
  | { outcome: 'published' | 'unchanged'; resource: Resource; version: Version }
  | { outcome: 'conflict'; detail: string; label: string; suggestion: string | null };

/** The resource after the draft is published to it. `stored`: its bytes; default: none, to foresee how that ends. */
export function appendDraft(
  registry: Registry,
  request: PublishRequest,
  current: Resource | null,
  draft: Draft,
  stored: StoredVersion = { manifest: draft.content, bytes: 0, changes: null },
): Appended {
  const { connection, snapshot } = request;
  const named = current === null ? createFor(registry, request, draft.title) : withTitle(current, draft.title);
  const resource = connection === undefined ? named : { ...named, connection };
  const placed = placeDraft(resource, request, draft);
  if (placed.outcome === 'conflict') return placed;
  if (placed.outcome === 'unchanged') {
    const { label } = placed.version;
    const next = connection === undefined ? resource : withBranchAt(resource, label);
    return { outcome: 'unchanged', resource: next, version: findVersion(next, label)! };
  }
  const { label } = placed;
  const { manifest, bytes, changes } = stored;
  const { content, stated, problems, dependencies } = draft;
  const version: Version = {
    label,
    manifest,
    content,
    bytes,
    publishedAt: registry.now().toISOString(),
    ...(snapshot.committedAt !== null && { createdAt: snapshot.committedAt }),
    status: { state: 'active' },
    ...(stated !== null && stated !== label && { original: stated }),
    ...(snapshot.note && { commit: snapshot.note }),
    ...(problems.error + problems.warning > 0 && { problems }),
    ...(dependencies.length > 0 && { dependencies }),
  };
  const from = connection === undefined ? resource : { ...resource, onBranch: label };
  const added = addVersion(from, version, request);
  const next = withChanges(withSummary(added, version, draft.summary), label, changes);
  return { outcome: 'published', resource: next, version: findVersion(next, label)! };
}

/**
 * The commit point: appends one generation, decided from the newest. Writes nothing and returns null
 * if this would be a new version and its bytes are not stored, or `mayPublish` says no to it.
 */
export async function appendVersion(
  registry: Registry,
  request: PublishRequest,
  draft: Draft,
  stored: StoredVersion | null,
  mayPublish: (current: Resource | null, label: string) => boolean,
): Promise<Appended | null> {
  let result: Appended | null = null;
  await registry.refs.update<Resource>(resourceRef(request.coordinate), (generation) => {
    const current = generation?.value ?? null;
    assertTarget(current, request);
    const appended = appendDraft(registry, request, current, draft, stored ?? undefined);
    const isNew = appended.outcome === 'published';
    result = isNew && !(stored && mayPublish(current, appended.version.label)) ? null : appended;
    // An earlier attempt of the same request published it, but its answer was lost.
    const isDone = generation?.operation !== undefined && generation.operation === request.author.operation;
    if (isDone && result?.outcome === 'unchanged') {
      result = { ...result, outcome: 'published' };
      return null;
    }
    if (result === null || result.outcome === 'conflict' || isAsBefore(result, current)) return null;
    return { value: result.resource, change: { ...request.author, action: actionOf(result, current) } };
  });
  return result;
}

/** What an append that is no conflict leads to. */
export type Changed = Extract<Appended, { resource: Resource }>;

/** Whether an unchanged version also leaves the connection and the branch's version as they were. */
function isAsBefore({ outcome, resource }: Changed, before: Resource | null): boolean {
  if (outcome === 'published') return false;
  const isConnected = JSON.stringify(resource.connection) === JSON.stringify(before?.connection);
  return isConnected && resource.onBranch === before?.onBranch && resource.versions === before?.versions;
}

function actionOf({ outcome, resource, version }: Changed, before: Resource | null): string {
  if (outcome === 'published') return `publish ${version.label}`;
  return resource.versions === before?.versions ? 'connect' : `go back to ${version.label}`;
}

type Placed =
  | { outcome: 'published'; label: string }
  | { outcome: 'unchanged'; version: Version }
  | Extract<Appended, { outcome: 'conflict' }>;

/** The label that a draft gets in a resource (design §7), or why it gets none. Pure. */
function placeDraft(resource: Resource, request: PublishRequest, draft: Draft): Placed {
  const { version, isTag = false, onConflict, isPast = false, snapshot } = request;
  const asked = version ?? (draft.stated === null ? null : labelFromVersion(draft.stated));
  if (asked === null) {
    if (isPast && snapshot.origin.commit !== null) return placePast(resource, snapshot, draft);
    const newest = resource.versions.at(-1);
    if (newest && hasContent(newest, draft)) return { outcome: 'unchanged', version: newest };
    return { outcome: 'published', label: suggestedLabel(resource) };
  }
  const existing = findVersion(resource, asked);
  if (existing === null) return wasWithdrawn(resource, asked, draft) ?? { outcome: 'published', label: asked };
  if (hasContent(existing, draft)) return { outcome: 'unchanged', version: existing };
  const isRevised = onConflict === 'revise' && (version === null || isTag);
  const stem = stemOf(asked);
  const same = resource.versions.find((each) => each.label.startsWith(stem) && hasContent(each, draft));
  if (isRevised && same) return { outcome: 'unchanged', version: same };
  const suggestion = suggestedLabel(resource);
  if (existing.status.state === 'withdrawn') {
    return conflict(asked, suggestion, `Version ${asked} was withdrawn; its label is never used again.`);
  }
  if (isRevised) return revise(resource, asked, snapshot, draft, suggestion);
  const never = `Version ${asked} is published with other content`;
  if (version !== null) return conflict(asked, suggestion, `${never} and never changes.`);
  return conflict(asked, suggestion, `${never}. Raise the document's version, for instance to ${suggestion}.`);
}

/** Whether a version that is not withdrawn has this content, line endings aside. */
function hasContent(version: Version, draft: Draft): boolean {
  return version.status.state !== 'withdrawn' && hadContent(version, draft);
}

function hadContent(version: Version, { content, twin }: Draft): boolean {
  return version.content === content || version.content === twin;
}

/** The conflict of content that was withdrawn under another label of the same version, or null. */
function wasWithdrawn(resource: Resource, asked: string, draft: Draft): Placed | null {
  const read = readerOf(resource.versions);
  const { label } =
    resource.versions.find(
      (each) => each.status.state === 'withdrawn' && haveEqualRank(read, each.label, asked) && hadContent(each, draft),
    ) ?? {};
  if (label === undefined) return null;
  const suggestion = suggestedLabel(resource);
  const detail = `This content was withdrawn as ${label}. Change the document, or raise its version, for instance to ${suggestion}.`;
  return conflict(asked, suggestion, detail);
}

/** The label that content gets which names none: the next one. */
function suggestedLabel({ versions }: Resource): string {
  return nextLabel(
    versions.map(({ label }, order) => ({ label, order })),
    readerOf(versions),
  );
}

/**
 * A label under which compatibility allows every change that it allows under any: for a document that its next tag
 * publishes, whose label nobody knows.
 */
export function labelForBreak(resource: Resource): string {
  const next = suggestedLabel(resource);
  return fittingVersion(resource, next, 'breaking') ?? next;
}

/**
 * The resource with this version in its place, and the latest version that it has then. `latest`: as
 * in `PublishRequest`. Pure.
 */
export function addVersion(
  resource: Resource,
  version: Version,
  { isPast = false, latest }: { isPast?: boolean; latest: boolean | 'newer' },
): Resource {
  const add = (added: Version): Resource => {
    if (!isPast)
      return { ...resource, versions: resource.versions.concat([added]), latest: chooseLatestWith(resource, added) };
    const versions = insertByDate(resource.versions, added);
    return { ...resource, versions, latest: chooseLatest({ ...resource, versions }) };
  };
  const next = add(version);
  const isHeld = latest === 'newer' ? latestMovedBack(resource, next) !== null : !latest;
  return isHeld ? add({ ...version, neverLatest: true }) : next;
}

/**
 * Past content without a version gets `0.0.0-<date>-<commit>`, like Go's pseudo-versions. It sorts
 * below all other labels.
 */
function placePast(resource: Resource, { origin, committedAt }: Snapshot, draft: Draft): Placed {
  const same = resource.versions.find((each) => hasContent(each, draft));
  if (same) return { outcome: 'unchanged', version: same };
  const date = (committedAt ?? '').replace(/\D/g, '').slice(0, 14).padEnd(14, '0');
  const label = `0.0.0-${date}-${origin.commit!.slice(0, 12)}`;
  const existing = findVersion(resource, label);
  if (existing === null) return { outcome: 'published', label };
  return conflict(label, null, `Version ${label} is published with other content and never changes.`);
}

/**
 * Chooses the first free revision label: `<label>+<first 7 of the commit>` for git, `<label>+<n>`
 * from 2 on for uploads.
 */
function revise(
  resource: Resource,
  asked: string,
  { origin: { commit } }: Snapshot,
  draft: Draft,
  suggestion: string,
): Placed {
  const stem = stemOf(asked);
  const withdrawn = wasWithdrawn(resource, asked, draft);
  if (withdrawn) return withdrawn;
  for (let n = 2; n < resource.versions.length + 3; n++) {
    const suffix = commit === null ? `${n}` : n === 2 ? commit.slice(0, 7) : `${commit.slice(0, 7)}.${n - 1}`;
    const label = `${stem}${suffix}`;
    if (!isLabel(label)) break;
    if (findVersion(resource, label) === null) return { outcome: 'published', label };
  }
  return conflict(
    asked,
    suggestion,
    `Version ${asked} is already published with other content, and no valid revision label is left. Choose another label.`,
  );
}

/** SemVer §10 allows only one `+`. A label that already has one gets the suffix after a dot. */
function stemOf(asked: string): string {
  return asked.includes('+') ? `${asked}.` : `${asked}+`;
}

function conflict(label: string, suggestion: string | null, detail: string): Placed {
  return { outcome: 'conflict', label, suggestion, detail };
}

function malformedLabel(text: string): RegistryError {
  return malformed(
    `${JSON.stringify(text.slice(0, 140))} is not a valid version. Use 1 to 128 of A-Z a-z 0-9 . _ + -, starting and ending with a letter or digit, without "..". It must not be "latest" or a word of JavaScript such as "constructor", start with "sha256", or end with ".json", ".yaml" or ".yml".`,
  );
}
