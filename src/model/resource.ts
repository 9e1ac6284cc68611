import { formatCoordinate, type Coordinate, type ResourceType, type Selector } from './address.ts';
import type { Visibility } from './access.ts';
import type { VersionChanges } from './comparison.ts';
import type { Connection } from './connection.ts';
import type { Dependency } from './dependency.ts';
import type { Digest } from './digest.ts';
import { conflict } from './errors.ts';
import type { GateSettings } from './gate.ts';
import type { Ownership } from './ownership.ts';
import type { Validation } from './problem.ts';
import { highestInRange, latestOf, placeOfLabel, readerOf } from './label.ts';

/** The status of a version. Stored apart from its bytes, which never change (design §7). */
export type Status =
  | { state: 'active' }
  | { state: 'deprecated'; reason: string; replacement?: string; sunset?: string; since: string }
  | { state: 'yanked'; reason: string; since: string }
  | { state: 'withdrawn'; reason: string; since: string };

/** Whose commit a version is: the author's name, never an address, and the message's first line. */
export interface CommitNote {
  author: string;
  subject: string;
}

/** One immutable version of a resource. */
export interface Version {
  label: string;
  /** The version's identity: the digest of its manifest. */
  manifest: Digest;
  /** Digest of the published content without provenance: equal content has the same one (design §7). */
  content: Digest;
  /** ISO 8601, UTC. */
  publishedAt: string;
  /** The date of its commit. Absent for an upload. ISO 8601, UTC. */
  createdAt?: string;
  status: Status;
  /**
   * Set when it never becomes latest automatically: the publisher asked for that, or it came from a
   * tag or an import, and would have taken over from a version with a newer commit.
   */
  neverLatest?: true;
  /**
   * Set when the branch went back to it: the label of the newest version of equal rank then. It
   * counts as published after that one.
   */
  returnedAfter?: string;
  /** Its number among those that the branch went back to after the same version. Absent: 1. */
  returnCount?: number;
  /** The version stated in the document, when the label differs from it. */
  original?: string;
  /** What changed since the version before. Absent for the first, and for old versions. */
  changes?: VersionChanges;
  /** Its commit. Absent for an upload, and for old versions. */
  commit?: CommitNote;
  /** Size of everything that it consists of. Absent: it was published before sizes were recorded. */
  bytes?: number;
  /** How many problems its report has, for lists. Absent: none, or an old version. */
  problems?: { error: number; warning: number };
  /** What it refers to in the registry. Absent: nothing, or an old ruleset. */
  dependencies?: readonly Dependency[];
}

/** An API, schema or ruleset with all its versions: the value of one record. */
export interface Resource extends GateSettings, Ownership {
  org: string;
  type: ResourceType;
  slug: string;
  name: string;
  description: string;
  /** A short summary from its latest document. Lists show it where `description` is empty. */
  summary?: string;
  visibility: Visibility;
  /** Coordinate of the ruleset that every version must pass. Null: the organization's default. */
  ruleset: string | null;
  connection: Connection | null;
  /** Label of the latest version, or null when there is none. */
  latest: string | null;
  /** Whether `latest` was set by hand. It then stays until it is set again. */
  latestPinned: boolean;
  /**
   * Label of the version that the connected branch had when it was last read. Absent: no branch was
   * read, or none since this is recorded.
   */
  onBranch?: string;
  /** Whether schema errors in its documents are warnings. Null: the organization's default. */
  validation: Validation | null;
  /** In order of publication, oldest first. Imported history is inserted by the dates of its commits. */
  versions: Version[];
  createdAt: string;
  /** When it was deleted, or null. The slug and its labels are never reused. */
  deletedAt: string | null;
}

/** What a resource is, in a few words: as somebody described it, else as its document does. */
export function aboutOf({ description, summary = '' }: Pick<Resource, 'description' | 'summary'>): string {
  return description.trim() === '' ? summary : description;
}

/** Throws `conflict` if nothing can be published to the resource, because it was deleted. */
export function assertPublishable(resource: Resource | null): void {
  if (resource === null || resource.deletedAt === null) return;
  throw conflict(`${nameOf(resource)} was deleted; its name is never used again.`);
}

export function coordinateOf({ org, type, slug }: Coordinate): Coordinate {
  return { org, type, slug };
}

/** The coordinate of a resource as text: `@org/type/slug`. */
export function nameOf(resource: Coordinate): string {
  return formatCoordinate(coordinateOf(resource));
}

/** Whether any version can be read. */
export function isPublished({ versions }: Pick<Resource, 'versions'>): boolean {
  return versions.some(({ status }) => status.state !== 'withdrawn');
}

/** The name of the record that holds a resource. */
export function resourceRef({ org, type, slug }: Coordinate): string {
  return `resources/${org}/${type}/${slug}`;
}

/** Parses the name of a resource's record. Null for any other. */
export function parseResourceRef(name: string): Coordinate | null {
  const [kind, org, type, slug] = name.split('/');
  return kind === 'resources' ? ({ org: org!, type: type!, slug: slug! } as Coordinate) : null;
}

/** The version with this label, or null. Labels are unique ignoring case. */
export function findVersion({ versions }: Pick<Resource, 'versions'>, label: string): Version | null {
  return versions[placeOfLabel(versions, label)] ?? null;
}

/** The latest version and the one that was published last, if that is another. None that is withdrawn. */
export function newestVersions({ versions, latest }: Pick<Resource, 'versions' | 'latest'>): Version[] {
  const last = versions.findLast(({ status }) => status.state !== 'withdrawn');
  return versions.filter((version) => version === last || version.label === latest);
}

/**
 * Resolves a selector: `exact` is false for a range, whose version the caller redirects to. An
 * exact label wins over a range with the same spelling. Null when nothing matches. Returns
 * withdrawn versions too, because they answer 410 and not 404.
 */
export function selectVersion(
  resource: Pick<Resource, 'versions' | 'latest'>,
  selector: Selector,
): { version: Version; exact: boolean } | null {
  if (selector.kind === 'digest') {
    const named = resource.versions.filter(({ manifest }) => manifest === selector.digest);
    // Two labels can share a manifest. It is readable while one of them is not withdrawn.
    const version = named.find(({ status }) => status.state !== 'withdrawn') ?? named[0];
    return version ? { version, exact: true } : null;
  }
  if (selector.kind === 'latest') {
    const version = resource.latest === null ? null : findVersion(resource, resource.latest);
    return version ? { version, exact: true } : null;
  }
  const named = resource.versions.find(({ label }) => label === selector.version);
  if (named) return { version: named, exact: true };
  const highest = highestInRange(selector.version, candidatesOf(resource), readerOf(resource.versions));
  return highest ? { version: highest.version, exact: false } : null;
}

/** The label that should be latest now (design §7). Null when every version is yanked or withdrawn. */
export function chooseLatest(resource: Resource): string | null {
  if (resource.latestPinned && resource.latest !== null) {
    const pinned = findVersion(resource, resource.latest);
    if (pinned && isOffered(pinned)) return resource.latest;
  }
  return latestAmong(resource, candidatesOf(resource));
}

/** The same once this version stands after all others. It is compared with the latest now, and not with each of them. */
export function chooseLatestWith(resource: Resource, added: Version): string | null {
  const { versions, latestPinned } = resource;
  const place = resource.latest === null ? -1 : placeOfLabel(versions, resource.latest);
  const current = versions[place];
  const isSameOrder = readerOf(versions) === readerOf(versions, added);
  if (current === undefined || !isOffered(current) || !isSameOrder || (!latestPinned && current.neverLatest))
    return chooseLatest({ ...resource, versions: [...versions, added] });
  if (latestPinned) return current.label;
  const both = [candidateAt(versions, place), { label: added.label, order: versions.length, version: added }];
  return latestAmong(resource, both);
}

function latestAmong({ versions }: Resource, candidates: readonly VersionCandidate[]): string | null {
  const offered = candidates.filter(({ version }) => isOffered(version) && !version.neverLatest);
  return latestOf(offered, readerOf(versions))?.label ?? null;
}

/** The versions before and after this one that are not withdrawn. */
export function neighbours(
  resource: Resource,
  version: Version,
): { predecessor: Version | null; successor: Version | null } {
  const { versions } = resource;
  const index = versions.findLastIndex(({ label }) => label === version.label);
  const firstThere = (at: number, step: 1 | -1): Version | null => {
    while (versions[at]?.status.state === 'withdrawn') at += step;
    return versions[at] ?? null;
  };
  return { predecessor: firstThere(index - 1, -1), successor: firstThere(index + 1, 1) };
}

/** Whether a version is one that readers are sent to. */
export function isOffered({ status }: Pick<Version, 'status'>): boolean {
  return status.state === 'active' || status.state === 'deprecated';
}

/** An offered version and its place in the order of publication. */
interface VersionCandidate {
  label: string;
  order: number;
  version: Version;
}

/** The versions that readers may be sent to. */
function candidatesOf({ versions }: Pick<Resource, 'versions'>): VersionCandidate[] {
  return versions.flatMap((version, index) => (isOffered(version) ? [candidateAt(versions, index)] : []));
}

function candidateAt(versions: readonly Version[], index: number): VersionCandidate {
  const version = versions[index]!;
  return { label: version.label, order: orderOf(versions, index), version };
}

/** The place of a version in the order of publication. One that the branch went back to stands behind another. */
export function orderOf(versions: readonly Version[], index: number): number {
  const { returnedAfter, returnCount = 1 } = versions[index]!;
  if (returnedAfter === undefined) return index;
  return Math.max(index, placeOfLabel(versions, returnedAfter)) + 1 - 1 / (returnCount + 1);
}
