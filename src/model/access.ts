import type { ResourceType } from './address.ts';
import { matchesGlob } from './glob.ts';

export type Visibility = 'public' | 'private';

/**
 * What a credential allows. Each scope includes the ones before it. `approve` lets persons approve changes of others;
 * `keys` makes keys that allow no more than itself.
 */
export const scopes = ['read', 'publish', 'approve', 'keys', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** What a principal holds in one organization: scopes, for all of it or for some of its resources. */
export interface Grant {
  scopes: readonly Scope[];
  /** Globs of `type/slug`. Null: the whole organization. */
  resources: readonly string[] | null;
}

/** Who makes a request. `operator` is the server itself, or a person on the command line of its data folder. */
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
  | {
      kind: 'user';
      id: string;
      organizations: Readonly<Record<string, readonly Grant[]>>;
      /** The person's key that was sent. Absent: they have a session. */
      key?: string;
      /** Whether they may create organizations, by the configuration. With a key: one of the scope admin. */
      mayCreate?: true;
    };

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
 * ruleset decides what others may publish, so publishing one needs `admin`, or globs that cover it.
 */
export function isAllowed(principal: Principal, scope: Scope, target: Target): boolean {
  if (principal.kind === 'operator') return true;
  if (scope === 'read' && target.resource?.visibility === 'public') return true;
  return grantsIn(principal, target.org).some((grant) => covers(grant, scope, target));
}

/**
 * Whether somebody may make, change or revoke what allows this: as an administrator, or because it allows nothing that
 * they do not have. Of a change, what is there and what comes of it are both asked about.
 */
export function mayHandOn(principal: Principal, org: string, given: Grant): boolean {
  if (isAllowed(principal, 'admin', { org })) return true;
  return grantsIn(principal, org).some((held) => isWithin(given, held));
}

/**
 * Whether a grant allows nothing that the other does not. One for a whole organization does not publish rulesets,
 * unless it administers, so globs that name them are more.
 */
export function isWithin(inner: Grant, outer: Grant): boolean {
  if (rankOf(inner) > rankOf(outer)) return false;
  const globs = inner.resources;
  if (globs === null) return outer.resources === null;
  if (outer.resources !== null) return globs.every((glob) => outer.resources!.some((other) => coversName(other, glob)));
  const reachesRulesets = globs.some((glob) => /^(?:rulesets|\*)\//.test(glob));
  return !reachesRulesets || !includesScope(inner.scopes, 'publish') || includesScope(outer.scopes, 'admin');
}

function rankOf({ scopes: held }: Grant): number {
  return Math.max(-1, ...held.map((scope) => scopes.indexOf(scope)));
}

/** The grant with no scope above the highest of these. */
export function cap({ scopes: granted, resources }: Grant, held: readonly Scope[]): Grant {
  const rank = Math.min(rankOf({ scopes: granted, resources }), rankOf({ scopes: held, resources }));
  return { scopes: scopes.slice(rank, rank + 1), resources };
}

/** Whether the principal may create organizations: it runs the registry, or the configuration says so. */
export function mayCreateOrganization(principal: Principal): boolean {
  return principal.kind === 'operator' || (principal.kind === 'user' && principal.mayCreate === true);
}

/** The organizations in which the principal holds something, as far as they are known. */
export function organizationsOf(principal: Principal): string[] {
  if (principal.kind === 'key') return [principal.org];
  return principal.kind === 'user' ? Object.keys(principal.organizations) : [];
}

/** What the principal holds in an organization. */
export function grantsIn(principal: Principal, org: string): readonly Grant[] {
  if (principal.kind === 'operator') return [{ scopes: ['admin'], resources: null }];
  if (principal.kind === 'key') return principal.org === org ? [principal] : [];
  if (principal.kind !== 'user' || !Object.hasOwn(principal.organizations, org)) return [];
  return principal.organizations[org]!;
}

/** The globs of the organization's resources for which the principal has the scope. Null: all; empty: none. */
export function partOf(principal: Principal, org: string, scope: Scope): readonly string[] | null {
  const grants = grantsIn(principal, org).filter((grant) => includesScope(grant.scopes, scope));
  if (grants.some(({ resources }) => resources === null)) return null;
  return [...new Set(grants.flatMap(({ resources }) => resources ?? []))];
}

/** Whether the principal may publish something in the organization, be it only under some names. */
export function mayPublishIn(principal: Principal, org: string): boolean {
  return partOf(principal, org, 'publish')?.length !== 0;
}

function covers({ scopes: held, resources }: Grant, scope: Scope, target: Target): boolean {
  if (resources === null) return includesScope(held, unlessNamed(scope, target));
  const { resource } = target;
  return (
    includesScope(held, scope) &&
    resource !== undefined &&
    resources.some((glob) => coversName(glob, `${resource.type}/${resource.slug}`))
  );
}

/** The scope needed by a grant that does not name this resource. */
function unlessNamed(scope: Scope, { resource }: Target): Scope {
  return scope === 'publish' && resource?.type === 'rulesets' ? 'admin' : scope;
}

function includesScope(granted: readonly Scope[], wanted: Scope): boolean {
  return granted.some((scope) => scopes.indexOf(scope) >= scopes.indexOf(wanted));
}

const globGrammar = /^(?:apis|schemas|rulesets|sites|\*)\/[a-z0-9*-]{1,63}$/;

/** Whether the text is a valid glob for a key: `type/slug`, where `*` matches any characters in one segment. */
export function isResourceGlob(text: string): boolean {
  return globGrammar.test(text);
}

/** Whether a glob covers `type/slug`, or another glob: its `*` is matched as any text is. */
function coversName(glob: string, name: string): boolean {
  const [[globType, globSlug], [type, slug]] = [glob.split('/'), name.split('/')];
  return matchesGlob(globType!, type!) && matchesGlob(globSlug!, slug!);
}

/** The principal as written in refs and logs, without a secret. A CI job has its own name, not its key's. */
export function formatPrincipal(principal: Principal): string {
  if (principal.kind === 'key' && principal.job) return `job:${formatJob(principal.job)}`;
  return principal.kind === 'anonymous' ? 'anonymous' : `${principal.kind}:${principal.id}`;
}

/** Rights in an organization that administrators gave to a group or to one person. */
export interface GivenRights {
  id: string;
  /** The identity provider whose group or person it is. */
  issuer: string;
  /** A value of the provider's claim; `*`: everybody who signs in there. Null: a person has the rights. */
  group: string | null;
  /** The person's subject at the provider. Null: a group has the rights. */
  subject: string | null;
  scopes: Scope[];
  /** Globs of `type/slug`. Null: the whole organization. */
  resources: string[] | null;
}

/**
 * An organization, and who has which rights in it beside those that the configuration gives: the value
 * of one record. All are in the registry's log, since each request of a person asks for all.
 */
export interface OrganizationRights {
  rights: GivenRights[];
}

/** The name of the record of an organization's rights. */
export function rightsRef(org: string): string {
  return `rights/${org}`;
}

/** Whom the rights are given to, in words: `the group payments`. */
export function holderInWords({ group, subject }: Pick<GivenRights, 'group' | 'subject'>): string {
  if (subject !== null) return `the person ${subject}`;
  return group === everybody ? 'everybody who signs in' : `the group ${group}`;
}

/** The group of everybody who signs in. */
export const everybody = '*';

/** The CI job that a key was issued to, as its verified token states. Recorded with what the job publishes. */
export interface JobOrigin {
  issuer: string;
  subject: string;
  /** URL of the repository that the job ran for. */
  repository: string;
  /** The commit that the job ran at. Null when the token names none. */
  commit: string | null;
  /** Full name, such as `refs/heads/main`. Null for a job without a ref. */
  ref: string | null;
  /** The workflow and its ref: GitHub's `workflow_ref` or GitLab's `ci_config_ref_uri`. */
  workflow: string | null;
  /** Page of the job or its run. Null when the token does not identify it. */
  run: string | null;
  /** The account that started the job, by its name on the host. Absent: the token names none. Not published. */
  startedBy?: string;
}

/** A one-line name for the job: its page, or the issuer and subject when it has none. */
export function formatJob({ run, issuer, subject }: Pick<JobOrigin, 'run' | 'issuer' | 'subject'>): string {
  return run ?? `${issuer}#${subject}`;
}

/** A CI job as its verified token describes it. */
export interface CiJob extends Pick<JobOrigin, 'issuer' | 'subject' | 'commit' | 'run'> {
  audiences: readonly string[];
  /** The token's identifier. A token can be used once. */
  tokenId: string;
  /** Which claims the token has: GitHub's (Forgejo and Gitea use them too) or GitLab's. */
  kind: 'github' | 'gitlab';
  /** `owner/name`, or a GitLab project's path. */
  repository: string;
  repositoryUrl: string;
  /** Identifiers that stay the same when the name changes owner. Null when the token has none. */
  repositoryId: string | null;
  ownerId: string | null;
  /** Full name, such as `refs/heads/main`. Null when the job has no ref or names it ambiguously. */
  ref: string | null;
  isRefProtected: boolean;
  /** The file that started the run and the file that defines this job, each with repository and ref. */
  workflow: string | null;
  jobWorkflow: string | null;
  environment: string | null;
  /** What started the job: `push`, `pull_request`, `merge_request_event`, … */
  event: string | null;
  /** Whether the job runs for a merge request from a fork. GitHub's tokens do not say; `event` does. */
  isFork: boolean;
  /** The account that started the job, by its name on the host. Null: the token names none. */
  startedBy: string | null;
  /** ISO 8601. */
  expiresAt: string;
}

/** The part of a job that is recorded with what it publishes. */
export function originOf({ issuer, subject, repositoryUrl, commit, ref, workflow, run, startedBy }: CiJob): JobOrigin {
  const origin = { issuer, subject, repository: repositoryUrl, commit, ref, workflow, run };
  return { ...origin, ...(startedBy !== null && { startedBy }) };
}
