import { digestOf, hexOf, type Digest } from './digest.ts';
import type { Validation } from './problem.ts';
import type { Visibility } from './access.ts';

/** What a branch sync does when the document's own version is already published with other content (design §7). */
export type OnConflict = 'revise' | 'reject';

/** A resource's link to the file that it is published from. */
export interface Connection {
  /** URL, or path of a local repository. Never holds a credential. */
  repository: string;
  /** Null follows the repository's HEAD. */
  branch: string | null;
  /** Path of the file in the repository's tree, `/` between segments. */
  path: string;
  /** Glob of tag names, such as `v*`: those tags become versions, and the branch does not. Null: the branch does. */
  tags: string | null;
  onConflict: OnConflict;
  /** Name of a credential in the configuration. */
  credential: string | null;
  /** Made by a sync that found the document, and ended by one that is to pass it over; absent: by hand. */
  found?: true;
}

/** How the last sync of a repository went. Only `following` and `new` are as they should be. */
export type RepositoryState =
  | 'new' // never synced, or connected again by hand
  | 'following'
  | 'detached' // branch or repository is gone, or came back as another one; what is published stays
  | 'failed'; // it did not answer, or the sync broke off; tried again

/** That a repository rewrote what was published from it: history, or a tag. Stays until somebody connects it again. */
export interface Divergence {
  /** What was rewritten, in one sentence. */
  detail: string;
  /** When it was noticed. ISO 8601, UTC. */
  since: string;
}

/**
 * How a resource's connection stands, for people and programs: what is published is what the repository has (`synced`), is about to be
 * (`behind`), is not, because the sync or the document was refused (`failed`) or the source is gone (`detached`); or it is, and the
 * repository rewrote its past (`diverged`).
 */
export type ConnectionState = 'synced' | 'behind' | 'failed' | 'diverged' | 'detached';

/** What the last sync made of one document of a repository. `detached`: its file is gone; what is published stays. */
export interface DocumentState {
  /** Coordinate of the resource: `@org/type/slug`. */
  resource: string;
  outcome: 'published' | 'unchanged' | 'rejected' | 'conflict' | 'detached';
  /** Since when it has not been otherwise than well, or ill, as now. ISO 8601, UTC. */
  since?: string;
  /** Why it was refused or is gone, in one sentence; null where all is well. */
  detail?: string | null;
  /** Label of the version that holds this content; null when it was refused. */
  label: string | null;
  /** Digest of the report. */
  report: Digest | null;
  /** Digest of the object that lists the input blobs: `{path: blob id or null}`. Equal inputs are not compiled again. */
  inputs: Digest | null;
  /** The ruleset that the document was checked by: its coordinate, and what that meant then. */
  rulesetName: string | null;
  ruleset: Digest | null;
  /** The compiler that read it: a newer one reads refused documents again. */
  compiler: string;
}

/** What was made of one tag for one resource. `label` null: it was refused, and is tried again when the tag moves. */
export interface TagState {
  commit: string;
  label: string | null;
  /** What its document was refused by: tried again when that is another one. */
  refused?: { ruleset: Digest | null; compiler: string };
  /** Where it points now, if it was moved after it was published: told once. */
  moved?: string;
}

/** When a commit is looked at again. */
export interface Retry {
  commit: string;
  tries: number;
  /** ISO 8601, UTC. */
  at: string;
}

/** One repository and branch that an organization follows: the value of one ref. */
export interface Repository {
  org: string;
  url: string;
  branch: string | null;
  credential: string | null;
  /** Set where documents are found by content rather than connected one by one: the folder to look in (`''`: the whole tree). */
  discover: string | null;
  /** Visibility and validation of the resources that discovery creates. */
  visibility: Visibility;
  validation: Validation;
  state: RepositoryState;
  /** Since when the state is what it is. ISO 8601, UTC. */
  since?: string;
  /** Null, or absent: it never rewrote anything. */
  diverged?: Divergence | null;
  /** Secrets that its hooks may be signed with, sealed. */
  hookSecrets?: string[];
  /** What a person should know about the state, in one sentence; null when all is well. */
  detail: string | null;
  /** Commit that was last synced. */
  commit: string | null;
  /** Set while a commit could not be read though nothing is wrong with it: the timer looks at it again, later and later. */
  retry?: Retry | null;
  syncedAt: string | null;
  /** By path. */
  documents: Record<string, DocumentState>;
  /** By `@org/type/slug tag`. */
  tags: Record<string, TagState>;
}

/** What the last sync made of the document at this path, or null. */
export function documentAt(repository: Repository, path: string): DocumentState | null {
  return Object.hasOwn(repository.documents, path) ? repository.documents[path]! : null;
}

/** Whether an outcome leaves its resource where its document is. */
export function isWell({ outcome }: Pick<DocumentState, 'outcome'>): boolean {
  return outcome === 'published' || outcome === 'unchanged';
}

/** How a connection stands, with why and since when; `null` for a repository or document that no sync has looked at. `isWanted`: a sync was asked for. */
export function connectionState(
  repository: Repository | null,
  document: DocumentState | null,
  isWanted = false,
): { state: ConnectionState; detail: string | null; since: string | null } {
  const since = repository?.since ?? repository?.syncedAt ?? null;
  if (repository?.state === 'detached') return { state: 'detached', detail: repository.detail, since };
  if (document?.outcome === 'detached') return told('detached', document);
  if (repository?.state === 'failed') return { state: 'failed', detail: repository.detail, since };
  if (document && !isWell(document)) return told('failed', document);
  if (repository?.diverged) return { state: 'diverged', ...repository.diverged };
  const isBehind = repository === null || repository.state === 'new' || repository.commit === null || isWanted;
  return { state: isBehind ? 'behind' : 'synced', detail: null, since };
}

function told(
  state: ConnectionState,
  { detail = null, since = null }: { detail?: string | null; since?: string | null },
): ReturnType<typeof connectionState> {
  return { state, detail, since };
}

/** How a repository is named to the public: its URL, or the last segment of a local path, since a server's folders are its own. */
export function repositoryName(url: string): string {
  if (/^[a-z+]+:\/\//.test(url) || /^[^/@]+@[^/:]+:/.test(url)) return url;
  return (
    url
      .replace(/\/(?:\.git)?\/*$/, '')
      .split('/')
      .at(-1)!
      .replace(/\.git$/, '') || 'repository'
  );
}

/** What is said about a repository, for whoever may not know where a local one is: its folder becomes its name. */
export function publicDetail(url: string, detail: string | null): string | null {
  return detail?.replaceAll(url, repositoryName(url)) ?? null;
}

/** The identity of a followed repository within its organization: 16 hexadecimal digits from its URL and branch. */
export function repositoryId(url: string, branch: string | null): string {
  return hexOf(digestOf(`${url}\n${branch ?? ''}`)).slice(0, 16);
}

/** The name of the ref that holds a followed repository. */
export function repositoryRef(org: string, id: string): string {
  return `repositories/${org}/${id}`;
}

/** What started a run. */
export type Trigger = 'start' | 'timer' | 'watch' | 'manual' | 'hook' | 'resume' | 'import';

/** The outcome of one document in one run. */
export interface RunDocument {
  path: string;
  /** Coordinate; null for a file that belongs to none, such as `stele.yaml`. */
  resource: string | null;
  outcome: DocumentState['outcome'];
  /** The commit that it was read in, where that is not the run's: a tag's. */
  commit?: string;
  label: string | null;
  report: Digest | null;
  /** One sentence for people: why it was refused, or under which label it went. */
  detail: string | null;
}

/** One reconciliation of one repository: the value of one ref, written when it starts and when it ends. */
export interface Run {
  id: string;
  org: string;
  repository: string;
  url: string;
  branch: string | null;
  trigger: Trigger;
  /** `host/pid` of the process that runs it: after a crash, nobody does. */
  process: string;
  state: 'queued' | 'running' | 'succeeded' | 'failed';
  from: string | null;
  to: string | null;
  startedAt: string;
  finishedAt: string | null;
  documents: RunDocument[];
  /** Why the run as a whole failed; null where it did not. */
  detail: string | null;
}

/** A pull request of a repository, and what was made of it: the value of one ref, made when somebody asks for a check. */
export interface PullCheck {
  org: string;
  /** `repositoryId` */
  repository: string;
  number: number;
  /** Full name of the ref under which its head is fetched. */
  ref: string;
  state: 'wanted' | 'checked' | 'failed' | 'closed';
  /** The commit that was checked last, or could not be. */
  head: string | null;
  /** Names of the checks that the host was told of that commit. */
  checks: string[];
  /** Why the check failed; null where it did not. */
  detail: string | null;
  /** How often on end the check of this head failed for want of the remote, and when it is tried again: ISO 8601, UTC. */
  tries?: number;
  nextAt?: string;
}

/** The name of the ref that holds a pull request's check. */
export function pullRef(org: string, repository: string, number: number): string {
  return `pulls/${org}/${repository}/${number}`;
}

/** The name of the ref that holds a run. */
export function runRef(org: string, id: string): string {
  return `runs/${org}/${id}`;
}
