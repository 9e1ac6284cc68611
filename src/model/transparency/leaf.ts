import { isDigest, type Digest } from '../digest.ts';
import { isObject, parseJson } from '../json.ts';
import { findVersion, nameOf, type Resource, type Version } from '../resource.ts';

/** One public fact: a leaf of the public log. It names nothing that is private, and nobody. */
export type Leaf =
  | VersionLeaf
  /** What `latest` means from then on. Null: nothing. */
  | { event: 'latest'; coordinate: string; label: string | null; at: string }
  /** A key that signs checkpoints from then on, as a verifier key. */
  | { event: 'key'; key: string; at: string };

/** That there is a version, or what became of it. */
export interface VersionLeaf {
  /** `listed`: published before, while the resource was private or before there was a log. */
  event: 'published' | 'listed' | 'deprecated' | 'reactivated' | 'yanked' | 'withdrawn';
  coordinate: string;
  label: string;
  /** The digest of the version's manifest. */
  digest: Digest;
  /** When it happened, or was listed. ISO 8601, UTC. */
  at: string;
}

/** What a public log says so far. */
export interface Told {
  /** The state of a version, by its whole name; null: it is not in the log. */
  stateOf(name: string): Version['status']['state'] | null;
  /** What `latest` of a resource means; null: nothing. */
  latestOf(coordinate: string): string | null;
}

/** A leaf as it is in the log: JSON in canonical form (RFC 8785). */
export function encodeLeaf(leaf: Leaf): Buffer {
  return Buffer.from(JSON.stringify(leaf, Object.keys(leaf).sort()));
}

/** Decodes a leaf. Null for bytes that are none. */
export function decodeLeaf(bytes: Uint8Array): Leaf | null {
  const leaf = parseJson(bytes);
  if (!isObject(leaf) || typeof leaf['at'] !== 'string') return null;
  if (leaf['event'] === 'key') return typeof leaf['key'] === 'string' ? (leaf as Leaf) : null;
  if (typeof leaf['coordinate'] !== 'string') return null;
  if (leaf['event'] !== 'latest' && !isDigest(String(leaf['digest']))) return null;
  return leaf as Leaf;
}

/** Whether a leaf says that there is a version. */
export function isVersion(leaf: Leaf): leaf is VersionLeaf & { event: 'published' | 'listed' } {
  return leaf.event === 'published' || leaf.event === 'listed';
}

/** Whether what happens to a resource is in the public log. */
export function isLogged({ visibility, deletedAt }: Pick<Resource, 'visibility' | 'deletedAt'>): boolean {
  return visibility === 'public' && deletedAt === null;
}

/** The leaves for what changed between two successive values of a resource's record; `before` null: the first. */
export function leavesBetween(before: Resource | null, after: Resource, at: string, told: Told): Leaf[] {
  if (!isLogged(after)) return [];
  if (becamePublic(before, after)) return leavesOfAll(after, at, told, before);
  const coordinate = nameOf(after);
  const same = new Set(before?.versions);
  const leaves = after.versions
    .filter((version) => !same.has(version))
    .flatMap((version) => {
      const earlier = before && findVersion(before, version.label);
      const published = earlier === null ? [leafOf('published', coordinate, version, at)] : [];
      const isSame = (earlier?.status.state ?? 'active') === version.status.state;
      return isSame ? published : [...published, statusLeaf(coordinate, version, at)];
    });
  if (after.latest !== (before?.latest ?? null)) leaves.push({ event: 'latest', coordinate, label: after.latest, at });
  return leaves;
}

/** Whether a resource that was there, and not public, is public now. It may have been public before that. */
export function becamePublic(before: Resource | null, after: Resource): boolean {
  return before !== null && !isLogged(before) && isLogged(after);
}

/**
 * The leaves that list a resource as it is, without what the log says by now. What was withdrawn before it was public is
 * left out. `before`: the resource while it was private; what it did not have is published now.
 */
export function leavesOfAll(resource: Resource, at: string, told: Told, before: Resource | null = null): Leaf[] {
  if (!isLogged(resource)) return [];
  const coordinate = nameOf(resource);
  const leaves = resource.versions.flatMap((version): Leaf[] => {
    const { state } = version.status;
    const known = told.stateOf(`${coordinate}@${version.label}`);
    if (known === state || (known === null && state === 'withdrawn')) return [];
    const isNew = before !== null && findVersion(before, version.label) === null;
    const listed = known === null ? [leafOf(isNew ? 'published' : 'listed', coordinate, version, at)] : [];
    return known === null && state === 'active' ? listed : [...listed, statusLeaf(coordinate, version, at)];
  });
  const { latest } = resource;
  if (latest !== told.latestOf(coordinate)) leaves.push({ event: 'latest', coordinate, label: latest, at });
  return leaves;
}

function statusLeaf(coordinate: string, version: Version, at: string): Leaf {
  const { state } = version.status;
  return leafOf(state === 'active' ? 'reactivated' : state, coordinate, version, at);
}

function leafOf(event: VersionLeaf['event'], coordinate: string, { label, manifest }: Version, at: string): Leaf {
  return { event, coordinate, label, digest: manifest, at };
}
