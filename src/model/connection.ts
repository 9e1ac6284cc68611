import { malformed } from './errors.ts';
import { digestOf, hexOf, type Digest } from './digest.ts';
import type { ReportedContract } from './dependency.ts';
import type { Validation } from './problem.ts';
import type { FileView } from './artifact.ts';
import type { Visibility } from './access.ts';

/** `user:password@host:path`, which git-clone(1) does not know, and which is stored all the same. */
const scpWithPassword = /^([^@/:\s]+):[^@/]*@(?=[^/:]+:)/;
const userinfo = /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*):([\\/]{2})([^\s/?#"'<>\\]*)@/gi;

/** Whether the URL of a repository names a password, or a user where that is a credential: everywhere but by ssh. */
export function hasCredential(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed !== null && (parsed.password !== '' || (parsed.username !== '' && parsed.protocol !== 'ssh:')))
    return true;
  return withoutCredential(url) !== url;
}

/** The text with every credential in a URL left out, and of a text that is such an address itself. */
export function withoutCredential(text: string): string {
  if (!text.includes('@')) return text;
  return text.replace(scpWithPassword, '$1@').replace(userinfo, (_, scheme: string, slashes: string, info: string) => {
    const user = /^ssh$/i.test(scheme) ? info.replace(/:.*$/s, '@') : '';
    return `${scheme}:${slashes}${user === '' || user.endsWith('@') ? user : `${user}@`}`;
  });
}

/**
 * Throws `malformed` if the URL of a repository contains a credential, or a query or fragment, which may be one
 * (`?private_token=…`): it would be stored for ever, and shown to everybody who may read the repository. `where`: the key of
 * the configuration that has it. The message does not contain the URL.
 */
export function assertNoCredential(url: string, where: string | null = null): void {
  const what = where === null ? 'A repository URL must not' : `${where}: a repository URL must not`;
  if (hasCredential(url))
    throw malformed(
      `${what} contain a user name or password. Put the token into an environment variable, name that under \`credentials\` in the configuration, and name the credential beside the URL.`,
    );
  if (/^(?:https?|ssh):[^?#]*[?#]/i.test(url)) throw malformed(`${what} have a query or a fragment.`);
}

/**
 * What a branch sync does when the document states a version that is already published with other
 * content (design §7).
 */
export type OnConflict = 'revise' | 'reject';

/** Links a resource to the file that it is published from. */
export interface Connection {
  /** URL, or path of a local repository. Never contains a credential. */
  repository: string;
  /** Null follows the repository's HEAD. */
  branch: string | null;
  /** Path of the file in the repository's tree, `/` between segments. Of a view: `viewPath`. */
  path: string;
  /** Absent: all of the file is published. */
  view?: FileView;
  /** Glob of tag names, such as `v*`: matching tags become versions instead of the branch. Null: the branch does. */
  tags: string | null;
  onConflict: OnConflict;
  /** Name of a credential in the configuration. */
  credential: string | null;
  /** Set when a sync found the document and connected it; a sync may also disconnect it. Absent when a person did. */
  found?: true;
}

/** How the last sync of a repository went. `following` and `new` are healthy. */
export type RepositoryState =
  | 'new' // never synced, or connected again by hand
  | 'following'
  | 'detached' // the branch or repository is missing, or another one took its place; published versions stay
  | 'failed'; // the remote did not answer, or the sync failed; it is retried

/** Recorded when a repository rewrites published history or a tag. Stays until somebody connects it again. */
export interface Divergence {
  /** What was rewritten. One sentence. */
  detail: string;
  /** When Stele noticed. ISO 8601, UTC. */
  since: string;
}

/**
 * The result of the last sync for one document of a repository. `waiting`: somebody has to approve its changes.
 * `detached`: the file is gone; published versions stay.
 */
export interface DocumentState {
  /** Coordinate of the resource: `@org/type/slug`. */
  resource: string;
  outcome: 'published' | 'unchanged' | 'waiting' | 'rejected' | 'conflict' | 'detached';
  /** When the resource came into this state: accepted, waiting, rejected or detached. ISO 8601, UTC. */
  since?: string;
  /** Why it was rejected or detached. One sentence; null when it is healthy. */
  detail?: string | null;
  /** Label of the version with this content. Null when it was rejected. */
  label: string | null;
  report: Digest | null;
  /**
   * Digest of the object that lists the input blobs: `{path: blob id or null}`. Equal inputs are
   * not compiled again.
   */
  inputs: Digest | null;
  /** The ruleset that checked the document: its coordinate, and the digest it had then. */
  rulesetName: string | null;
  ruleset: Digest | null;
  /** The compiler that read it. A newer compiler reads rejected documents again. */
  compiler: string;
  /** As in its connection. */
  view?: FileView;
  /** For a rejected document: the settings and exemptions of its gate. It is read again when they change. */
  gate?: string;
  exemptions?: Digest;
  /**
   * For a rejected document: the URLs that it refers to, and the visibility of a resource that it would create.
   * It is read again when a URL means another version.
   */
  references?: { urls: string[]; visibility: Visibility };
}

/** The result of one tag for one resource. `label` null: it was rejected, and is retried when the tag moves. */
export interface TagState {
  commit: string;
  label: string | null;
  /** What rejected it. It is retried when one changes; over a limit, also when a person asks. `gate`: of one that is held. */
  refused?: { ruleset: Digest | null; compiler: string; isOverLimits?: true; gate?: string };
  /** The commit it points to now, if it moved after it was published. Reported once. */
  moved?: string;
}

/** When a commit is read again. */
export interface Retry {
  commit: string;
  tries: number;
  /** ISO 8601, UTC. */
  at: string;
}

/** One repository and branch that an organization follows: the value of one record. */
export interface Repository {
  org: string;
  url: string;
  branch: string | null;
  credential: string | null;
  /** The folder in which documents are found by content (`''`: all). Null: each is connected by hand. */
  discover: string | null;
  /** Visibility and validation of the resources that discovery creates. */
  visibility: Visibility;
  validation: Validation;
  /** `tags`: a document's release tags become its versions, where it has any. Absent: the branch does. */
  versions?: 'tags' | undefined;
  state: RepositoryState;
  /** When the state last changed. ISO 8601, UTC. */
  since?: string;
  /** Null or absent: the repository never rewrote its history. */
  diverged?: Divergence | null;
  /** Set when the configuration lists it, or did; `argument`: `stele serve` was given it. Absent in old records. */
  configured?: true | 'argument' | undefined;
  /** Set when it was found among the repositories of an owner: `ownerId`. */
  owner?: string;
  /** Why it is no longer followed, in one sentence; it is then not synced. Null or absent: it is followed. */
  gone?: string | null;
  /**
   * The host that it is on, as the configuration names it, and the host's id of it, which stays when
   * it is renamed: `github:1296269`. Absent: not known.
   */
  hostId?: string;
  /** Who sees it on that host; `made private`: it was public before. Absent: the host did not say. */
  onHost?: 'public' | 'private' | 'made private';
  /** The URL that it is followed under since it was renamed on its host. This record says nothing else. */
  renamed?: string;
  /** `repositoryId` of the record under its former name, which this one continues. */
  formerId?: string;
  /** Set while it is not synced because it belongs to another owner on its host: its name there. */
  movedTo?: string;
  /** Secrets that sign its hooks, sealed. */
  hookSecrets?: string[];
  /**
   * Set while its host limits requests, which is no failure yet: why, since when, and from when it is asked again.
   * ISO 8601, UTC.
   */
  limited?: { detail: string; since: string; until: string } | null;
  /** What a person should know about the state. One sentence; null when it is healthy. */
  detail: string | null;
  /** The commit that was last synced. Null: the next sync reads every document again. */
  commit: string | null;
  /**
   * The commit that the next one must descend from. Null: any is accepted, because nothing was
   * synced or somebody connected it again. Absent in older records, where it is `commit`.
   */
  trusted?: string | null;
  /** A commit that is not published, because it is not known to descend from `trusted`. */
  held?: string | null;
  /** Set when a commit could not be read for a temporary reason: retried by the timer, after ever longer waits. */
  retry?: Retry | null;
  syncedAt: string | null;
  /** As of `documentsByPath`. */
  documents: Record<string, DocumentState>;
  /** By coordinate: what it published from a file that it publishes as something else now. Absent: nothing. */
  left?: Record<string, DocumentState>;
  /** By `@org/type/slug tag`. */
  tags: Record<string, TagState>;
  /** What its locks (`contracts.lock`) say it uses. Absent: nothing. */
  contracts?: ReportedContract[];
  /** By slug. Absent: it has none. */
  sites?: Record<string, SiteState>;
}

/** What is said of a repository that was made private on its host. */
export const staysVisible =
  'The repository was made private on its host. What is published from it keeps its visibility here: change it if it must be private, too.';

/** The last sync's result for the document at this path, or null. Where two resources have it: of this one, else of the first. */
export function documentAt(
  { documents }: Pick<Repository, 'documents'>,
  path: string,
  resource = '',
): DocumentState | null {
  return (
    [`${path}#${resource}`, path].flatMap((key) => (Object.hasOwn(documents, key) ? documents[key]! : []))[0] ?? null
  );
}

/** Results by path. A second resource of one path has `path#@org/type/slug`; the first is the one that had it before. */
export function documentsByPath(
  before: Repository,
  results: readonly { path: string; state: DocumentState }[],
): Record<string, DocumentState> {
  const firsts = new Map(results.toReversed().map(({ path, state }) => [path, state.resource]));
  for (const { path, state } of results)
    if (documentAt(before, path)?.resource === state.resource) firsts.set(path, state.resource);
  return Object.fromEntries(
    results.map(({ path, state }) => [firsts.get(path) === state.resource ? path : `${path}#${state.resource}`, state]),
  );
}

/**
 * The last sync's result for a resource: of the file at this path, else of the one that it is read from now, else what ended
 * it. Null: no sync has read it.
 */
export function documentOf(repository: Repository, resource: string, path: string): DocumentState | null {
  const isOwn = (each: DocumentState | null) => each?.resource === resource;
  const isLive = (each: DocumentState | null) => isOwn(each) && each!.outcome !== 'detached';
  const here = documentAt(repository, path, resource);
  const states = Object.values(repository.documents);
  const live = isLive(here) ? here : states.find(isLive);
  return live ?? (isOwn(here) ? here : states.find(isOwn)) ?? repository.left?.[resource] ?? null;
}

/** The commit that the next one must descend from, or null. */
export function trustedCommit({ trusted, commit }: Repository): string | null {
  return trusted === undefined ? commit : trusted;
}

/** Whether a document was not accepted, or its label was taken. One that waits for approval may still be. */
export function isRejected({ outcome }: Pick<DocumentState, 'outcome'>): boolean {
  return outcome === 'rejected' || outcome === 'conflict';
}

/** Whether the document itself kept it from being published: the same one may pass later. */
export function isUnpublished({ outcome }: Pick<DocumentState, 'outcome'>): boolean {
  return outcome === 'rejected' || outcome === 'waiting';
}

/** Whether the outcome leaves the resource in step with its document. */
export function isInStep({ outcome }: Pick<DocumentState, 'outcome'>): boolean {
  return outcome === 'published' || outcome === 'unchanged';
}

/**
 * The public name of a repository: its URL, or the last segment of a local path, because paths on
 * the server are private. URLs in old stores may contain a credential, which is left out.
 */
export function repositoryName(given: string): string {
  const url = withoutCredential(given);
  if (/^[a-z+]+:\/\//.test(url) || /^[^/@]+@[^/:]+:/.test(url)) return url;
  return (
    url
      .replace(/\/(?:\.git)?\/*$/, '')
      .split('/')
      .at(-1)!
      .replace(/\.git$/, '') || 'repository'
  );
}

/** The detail with a local repository's path replaced by its public name. */
export function publicDetail(url: string, detail: string | null): string | null {
  return detail?.replaceAll(url, repositoryName(url)) ?? null;
}

/** Identifies a followed repository within its organization: 16 hexadecimal digits of a hash of URL and branch. */
export function repositoryId(url: string, branch: string | null): string {
  return hexOf(digestOf(`${url}\n${branch ?? ''}`)).slice(0, 16);
}

/** The name of the record that holds a followed repository. */
export function repositoryRef(org: string, id: string): string {
  return `repositories/${org}/${id}`;
}

/** A followed repository that no sync has read, apart from where it is and how it is followed. */
export const unread = {
  visibility: 'private',
  validation: 'strict',
  state: 'new',
  detail: null,
  commit: null,
  syncedAt: null,
  documents: {},
  tags: {},
} as const;

/** What started a run. */
export type Trigger = 'start' | 'timer' | 'watch' | 'manual' | 'hook' | 'resume' | 'import';

/** The result for one document in one run. */
export interface RunDocument {
  path: string;
  /** Coordinate. Null for a file that belongs to no resource, such as `stele.yaml`. */
  resource: string | null;
  /** `@org/sites/slug`, for its folder. */
  site?: string;
  outcome: DocumentState['outcome'];
  /** The commit it was read from, when it is not the run's: a tag's. */
  commit?: string;
  label: string | null;
  report: Digest | null;
  /** For people: why it was rejected, or which label it got. One sentence. */
  detail: string | null;
}

/** The number of documents that a run has read, and that it has to read. */
export interface RunProgress {
  done: number;
  total: number;
}

/** One sync of one repository: the value of one record, written when it starts and when it ends. */
export interface Run {
  id: string;
  org: string;
  repository: string;
  url: string;
  branch: string | null;
  trigger: Trigger;
  /** `host/pid.start` of the process that runs it. After a crash no such process exists. */
  process: string;
  state: 'queued' | 'running' | 'succeeded' | 'failed';
  from: string | null;
  to: string | null;
  startedAt: string;
  finishedAt: string | null;
  /** How far it is. Absent until it knows what to read, and in runs that read no branch. */
  progress?: RunProgress;
  documents: RunDocument[];
  /** Why the whole run failed, or null. */
  detail: string | null;
  /** Set where it failed because a document could not be checked (`isSandboxLost`). */
  sandbox?: 'lost';
}

/** The name of the record that holds a run. */
export function runRef(org: string, id: string): string {
  return `runs/${org}/${id}`;
}

/**
 * The state of a resource's or a site's connection, for people and programs.
 *
 * - `synced`: the newest commit is published.
 * - `behind`: there is something new, or nothing was synced yet; or its host limits requests, so that nobody knows.
 * - `waiting`: the newest commit is published once somebody approves its changes.
 * - `failed`: the sync failed, or the document or site was rejected.
 * - `detached`: the branch, repository or file is missing, or another repository took its place.
 * - `diverged`: the newest commit is published, but the repository rewrote its history.
 */
export type ConnectionState = 'synced' | 'behind' | 'waiting' | 'failed' | 'diverged' | 'detached';

/**
 * The state of a connection, why, and since when. `repository` and `document` are null when no sync
 * has read them yet. `hasNews`: a sync found something new and is reading it.
 */
export function connectionState(
  repository: Repository | null,
  document: DocumentState | SiteState | null,
  hasNews = false,
): { state: ConnectionState; detail: string | null; since: string | null } {
  const since = repository?.since ?? repository?.syncedAt ?? null;
  if (repository?.gone) return { state: 'detached', detail: repository.gone, since };
  if (repository?.state === 'detached') return { state: 'detached', detail: repository.detail, since };
  if (document?.outcome === 'detached') return documentState('detached', document);
  if (repository?.state === 'failed') return { state: 'failed', detail: repository.detail, since };
  if (document && !isInStep(document))
    return documentState(document.outcome === 'waiting' ? 'waiting' : 'failed', document);
  if (repository?.diverged) return { state: 'diverged', ...repository.diverged };
  if (repository?.limited)
    return { state: 'behind', detail: repository.limited.detail, since: repository.limited.since };
  const isBehind = repository === null || repository.state === 'new' || repository.commit === null || hasNews;
  if (isBehind) return { state: 'behind', detail: null, since };
  // Whichever came last: the repository could be read again, or the document was accepted.
  return { state: 'synced', detail: null, since: [since, document?.since].toSorted().findLast(Boolean) ?? null };
}

function documentState(
  state: ConnectionState,
  { detail = null, since = null }: { detail?: string | null; since?: string | null },
): ReturnType<typeof connectionState> {
  return { state, detail, since };
}

/** The result of the last sync for one documentation site. */
export interface SiteState {
  outcome: 'published' | 'unchanged' | 'rejected' | 'detached';
  /** When it last changed between healthy and unhealthy. ISO 8601, UTC. */
  since: string;
  /** Why it was rejected or detached. One sentence; null when it is healthy. */
  detail: string | null;
}
