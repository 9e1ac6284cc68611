import { digestOf, hexOf } from './digest.ts';
import { matchesGlob } from './glob.ts';

/** Why a repository of an owner is not followed. */
export type SkipReason = 'archived' | 'fork' | 'excluded' | 'configured';

/**
 * An organization, group, workspace, project or user on a git host whose repositories an
 * organization follows: the value of one record.
 */
export interface Owner {
  org: string;
  /** Name of the git host in the configuration. */
  host: string;
  /** As configured: `acme/*`. */
  pattern: string;
  state: 'following' | 'failed';
  /** Why the last look failed, or that there are more repositories than are listed. One sentence; null when all is well. */
  detail: string | null;
  /** When the host was last asked. ISO 8601, UTC. */
  lookedAt: string;
  /** When the host last answered. Null: never. ISO 8601, UTC. */
  listedAt: string | null;
  /** False when the owner has more repositories than are listed. Then nothing is detached. */
  isComplete: boolean;
  followed: number;
  /** The other repositories, by name, and why they are not followed. */
  skipped: Record<string, SkipReason>;
}

/** Which repositories of an owner are followed. Names are those below the owner. */
export interface OwnerFilter {
  only?: readonly string[];
  except?: readonly string[];
  archived?: boolean;
  forks?: boolean;
}

/** Why the filter leaves a repository out, or null. Globs ignore case; `*` also matches `/`. */
export function skipReason(
  { only, except = [], archived = false, forks = false }: OwnerFilter,
  name: string,
  { isArchived, isFork }: { isArchived: boolean; isFork: boolean },
): Extract<SkipReason, 'archived' | 'fork' | 'excluded'> | null {
  const fits = (glob: string) => matchesGlob(glob.toLowerCase(), name);
  if ((only !== undefined && !only.some(fits)) || except.some(fits)) return 'excluded';
  if (isArchived && !archived) return 'archived';
  return isFork && !forks ? 'fork' : null;
}

/** The owner in a pattern (`acme/*`, `acme/apis/**`), and whether it includes the groups in it. Null when it is invalid. */
export function parseOwnerPattern(pattern: string): { path: string; isDeep: boolean } | null {
  const [, path, stars] = /^([^*?#%\\\p{Cc}]+)\/(\*{1,2})$/u.exec(pattern) ?? [];
  if (path === undefined || path.split('/').some((part) => part === '' || /^\.{1,2}$/.test(part))) return null;
  return { path, isDeep: stars === '**' };
}

/** What the names of an owner's repositories begin with. */
export function ownerPrefix(path: string): string {
  return `${path.split('/').map(encodeURIComponent).join('/').toLowerCase()}/`;
}

/** Identifies an owner within its organization: 16 hexadecimal digits of a hash of its host and pattern. */
export function ownerId(host: string, pattern: string): string {
  return hexOf(digestOf(`${host}\n${pattern.toLowerCase()}`)).slice(0, 16);
}

/** The name of the record that holds an owner. */
export function ownerRef(org: string, id: string): string {
  return `owners/${org}/${id}`;
}
