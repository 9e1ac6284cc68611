import { digestOf, hexOf, type Digest } from './digest.ts';
import type { Validation, Visibility } from './resource.ts';

/** What a branch sync does when the document's own version is already published with other content (DESIGN §7). */
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
}

/** How a repository stands to what was published from it. Only `following` and `new` are as they should be. */
export type RepositoryState =
  | 'new' // never synced
  | 'following'
  | 'diverged' // its history was rewritten; what is published stays
  | 'detached' // branch or repository is gone; what is published stays
  | 'unreachable'; // it did not answer; tried again

/** What the last sync made of one document of a repository. `detached`: its file is gone; what is published stays. */
export interface DocumentState {
  /** Coordinate of the resource: `@org/type/slug`. */
  resource: string;
  outcome: 'published' | 'unchanged' | 'rejected' | 'conflict' | 'detached';
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
  /** What a person should know about the state, in one sentence; null when all is well. */
  detail: string | null;
  /** Commit that was last synced. */
  commit: string | null;
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
export type Trigger = 'start' | 'timer' | 'watch' | 'manual' | 'hook' | 'resume';

/** The outcome of one document in one run. */
export interface RunDocument {
  path: string;
  /** Coordinate; null for a file that belongs to none, such as `stele.yaml`. */
  resource: string | null;
  outcome: DocumentState['outcome'];
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

/** The name of the ref that holds a run. */
export function runRef(org: string, id: string): string {
  return `runs/${org}/${id}`;
}
