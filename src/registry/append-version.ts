import type { Coordinate } from '../model/address.ts';
import type { Connection, OnConflict } from '../model/connection.ts';
import type { VersionChanges } from '../model/comparison.ts';
import type { Digest } from '../model/digest.ts';
import type { JobOrigin } from '../model/job.ts';
import {
  assertPublishable,
  findVersion,
  resourceRef,
  withBranchAt,
  type Resource,
  type Version,
} from '../model/resource.ts';
import { assertConnectable } from './connectable.ts';
import { withChanges } from './changes/foreseen-changes.ts';
import { newResource, withSummary, withTitle, type NewResource } from './create-resource.ts';
import type { CompileRequest } from './gate/compile-document.ts';
import { addVersion, placeVersion } from './place-version.ts';
import type { Author, Registry } from './registry.ts';

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

/** What was made of a document. */
export interface Made {
  manifest: Digest;
  content: Digest;
  /** The version in the document, or null. */
  stated: string | null;
  title: string;
  /** What the document says of itself in a few words. */
  summary: string;
  /** How many problems its report has. */
  problems: { error: number; warning: number };
  /** What changed since the version that was foreseen to be before it. */
  changes?: VersionChanges | null;
}

/** The resource that a publish makes. */
export function createFor(registry: Registry, { coordinate, create }: PublishRequest, title: string | null): Resource {
  return newResource(registry, coordinate, {
    ...create,
    name: create?.name ?? (title?.trim().slice(0, 200) || coordinate.slug),
  });
}

/** The resource, or null if it does not exist. The name of a deleted one is never used again. */
export async function currentResource(registry: Registry, coordinate: Coordinate): Promise<Resource | null> {
  const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value ?? null;
  assertPublishable(resource);
  return resource;
}

/** How an append ended. Only `published` is a new version. */
export type Appended =
  | { outcome: 'published' | 'unchanged'; resource: Resource; version: Version }
  | { outcome: 'conflict'; detail: string; label: string; suggestion: string | null };

/**
 * The commit point: appends one generation, decided from the newest. Writes nothing and returns
 * null if this would be a new version and `mayPublish` says no to it.
 */
export async function appendVersion(
  registry: Registry,
  request: PublishRequest,
  made: Made,
  mayPublish: (current: Resource | null, label: string) => boolean = () => true,
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
    if (placed.outcome === 'published' && !mayPublish(current, placed.label)) {
      result = null;
      return null;
    }
    if (placed.outcome === 'conflict') {
      result = placed;
      return null;
    }
    const connected = request.connection === undefined ? resource : { ...resource, connection: request.connection };
    if (placed.outcome === 'unchanged') {
      const { label } = placed.version;
      const next = request.connection === undefined ? connected : withBranchAt(connected, label);
      result = { outcome: 'unchanged', resource: next, version: findVersion(next, label)! };
      const isSame = JSON.stringify(next.connection) === JSON.stringify(current?.connection);
      return isSame && next === connected ? null : next;
    }
    const version: Version = {
      label: placed.label,
      manifest: made.manifest,
      content: made.content,
      publishedAt: at,
      ...(request.snapshot.committedAt !== null && { createdAt: request.snapshot.committedAt }),
      status: { state: 'active' },
      ...(made.stated !== null && made.stated !== placed.label && { original: made.stated }),
      ...(request.snapshot.note && { commit: request.snapshot.note }),
      ...(made.problems.error + made.problems.warning > 0 && { problems: made.problems }),
    };
    const from = request.connection === undefined ? connected : { ...connected, onBranch: version.label };
    const added = addVersion(from, version, request);
    const next = withChanges(withSummary(added, version, made.summary), version.label, made.changes ?? null);
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
    return { value, change: { ...request.author, action: actionOf(result, generation?.value ?? null) } };
  });
  return result;
}

function actionOf(appended: Appended | null, before: Resource | null): string {
  if (appended?.outcome === 'published') return `publish ${appended.version.label}`;
  const isBranch = appended?.outcome === 'unchanged' && appended.resource.versions !== before?.versions;
  return isBranch ? `go back to ${appended.version.label}` : 'connect';
}
