import type { ResourceType } from './address.ts';
import { matchesGlob } from './glob.ts';
import { formatJob, type JobOrigin } from './job.ts';

export type Visibility = 'public' | 'private';

/** What a credential allows, each including the ones before it. */
export const scopes = ['read', 'publish', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** Who asks. `operator` is the process itself or a person at its data folder's command line. */
export type Principal =
  | { kind: 'anonymous' }
  | { kind: 'operator'; id: string }
  | {
      kind: 'key';
      id: string;
      org: string;
      scopes: readonly Scope[];
      resources: readonly string[] | null;
      /** The CI job that the key was made for; absent for every other key. */
      job?: JobOrigin;
    }
  | { kind: 'user'; id: string; organizations: Readonly<Record<string, readonly Scope[]>> };

/** What is asked for: an organization, or a resource of it (with its visibility, where it exists). */
export interface Target {
  org: string;
  resource?: { type: ResourceType; slug: string; visibility?: Visibility };
}

export const anonymous: Principal = { kind: 'anonymous' };

/**
 * The one policy: whether the principal may do to the target what the scope names. Every read, list, search, build and write
 * decides by it. Reading what is public is anybody's, also with a credential that is meant for something else. A ruleset
 * decides what others may publish, so changing one needs `admin`, or a key whose globs cover it.
 */
export function isAllowed(principal: Principal, scope: Scope, target: Target): boolean {
  if (principal.kind === 'operator') return true;
  if (scope === 'read' && target.resource?.visibility === 'public') return true;
  if (principal.kind === 'anonymous') return false;
  if (principal.kind === 'user') {
    const granted = Object.hasOwn(principal.organizations, target.org) ? principal.organizations[target.org]! : [];
    return includesScope(granted, unlessNamed(scope, target));
  }
  if (principal.org !== target.org || !includesScope(principal.scopes, scope)) return false;
  if (principal.resources === null) return includesScope(principal.scopes, unlessNamed(scope, target));
  const { resource } = target;
  return resource !== undefined && principal.resources.some((glob) => coversResource(glob, resource));
}

/** The scope that is needed of whoever is not trusted with this very resource. */
function unlessNamed(scope: Scope, { resource }: Target): Scope {
  return scope === 'publish' && resource?.type === 'rulesets' ? 'admin' : scope;
}

function includesScope(granted: readonly Scope[], wanted: Scope): boolean {
  return granted.some((scope) => scopes.indexOf(scope) >= scopes.indexOf(wanted));
}

const globGrammar = /^(?:apis|schemas|rulesets|\*)\/[a-z0-9*-]{1,63}$/;

/** Whether the text may narrow a key: `type/slug` where `*` stands for any run of characters of one segment. */
export function isResourceGlob(text: string): boolean {
  return globGrammar.test(text);
}

function coversResource(glob: string, { type, slug }: { type: ResourceType; slug: string }): boolean {
  const [globType, globSlug] = glob.split('/');
  return matchesGlob(globType!, type) && matchesGlob(globSlug!, slug);
}

/** How a principal is written down in refs and logs: a CI job by its own name, not by that of its key. Holds no secret. */
export function formatPrincipal(principal: Principal): string {
  if (principal.kind === 'key' && principal.job) return `job:${formatJob(principal.job)}`;
  return principal.kind === 'anonymous' ? 'anonymous' : `${principal.kind}:${principal.id}`;
}
