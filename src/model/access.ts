import type { ResourceType } from './address.ts';
import { matchesGlob } from './glob.ts';
import { formatJob, type JobOrigin } from './job.ts';

export type Visibility = 'public' | 'private';

/** What a credential allows. Each scope includes the ones before it. */
export const scopes = ['read', 'publish', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/**
 * Who makes a request. `operator` is the server itself, or a person on the command line of its data
 * folder.
 */
export type Principal =
  | { kind: 'anonymous' }
  | { kind: 'operator'; id: string }
  | {
      kind: 'key';
      id: string;
      org: string;
      scopes: readonly Scope[];
      resources: readonly string[] | null;
      /** The CI job that the key was issued to. Absent for every other key. */
      job?: JobOrigin;
    }
  | { kind: 'user'; id: string; organizations: Readonly<Record<string, readonly Scope[]>> };

/**
 * What a request is about: an organization, or one of its resources or documentation sites.
 * `visibility` is absent for one that does not exist.
 */
export interface Target {
  org: string;
  resource?: { type: ResourceType | 'sites'; slug: string; visibility?: Visibility };
}

export const anonymous: Principal = { kind: 'anonymous' };

/**
 * The access policy: whether the principal has this scope on the target. Every read, list, search,
 * build and write goes through it. Anyone may read what is public, whatever credential they send. A
 * ruleset decides what others may publish, so publishing one needs `admin`, or a key whose globs
 * cover it.
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

/** The scope needed by a principal whose key does not name this resource. */
function unlessNamed(scope: Scope, { resource }: Target): Scope {
  return scope === 'publish' && resource?.type === 'rulesets' ? 'admin' : scope;
}

function includesScope(granted: readonly Scope[], wanted: Scope): boolean {
  return granted.some((scope) => scopes.indexOf(scope) >= scopes.indexOf(wanted));
}

const globGrammar = /^(?:apis|schemas|rulesets|sites|\*)\/[a-z0-9*-]{1,63}$/;

/**
 * Whether the text is a valid glob for a key: `type/slug`, where `*` matches any run of characters
 * in one segment.
 */
export function isResourceGlob(text: string): boolean {
  return globGrammar.test(text);
}

function coversResource(glob: string, { type, slug }: { type: string; slug: string }): boolean {
  const [globType, globSlug] = glob.split('/');
  return matchesGlob(globType!, type) && matchesGlob(globSlug!, slug);
}

/**
 * The principal as written in refs and logs. A CI job appears under its own name, not its key's.
 * Never contains a secret.
 */
export function formatPrincipal(principal: Principal): string {
  if (principal.kind === 'key' && principal.job) return `job:${formatJob(principal.job)}`;
  return principal.kind === 'anonymous' ? 'anonymous' : `${principal.kind}:${principal.id}`;
}
