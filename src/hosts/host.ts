import type { Check, PullComment } from '../model/check.ts';
import type { Credential } from '../source/source.ts';

/** What the registry says and asks of a product, beside what its adapter does. */
interface Product {
  /** For people. */
  name: string;
  /** Its public host; null where there is none. */
  publicUrl: string | null;
  /** The API of the public host, and its path on other servers. */
  api: { url: string | null; path: string };
  /** Whether a delivery with these header fields may be its own. */
  sends: (headers: Delivery['headers']) => boolean;
  /** How deep the path of an owner may be, and how to write one. Absent: one name. */
  owners?: { groups: number; isDeep: boolean; advice: string };
  /** Paths of pages of the public host, each before a commit or a title, and the anchor before a line. */
  pages?: { commit: string; file: string; issue: string; line?: string };
}

/** Events of Bitbucket that only Data Center has. Cloud's are `repo:push` and `pullrequest:…`. */
const serverEvent = /^(?:repo:(?:refs_changed|modified|forked|comment:)|pr:|project:|mirror:|diagnostics:)/;

/** The products that there are adapters for, by kind. Only `hosts.ts` knows the adapters. */
const products = {
  github: {
    name: 'GitHub',
    publicUrl: 'https://github.com',
    api: { url: 'https://api.github.com', path: '/api/v3' },
    sends: (headers) => headers['x-github-event'] !== undefined,
    pages: { commit: '/commit/', file: '/blob/', issue: '/issues/new?title=' },
  },
  gitlab: {
    name: 'GitLab',
    publicUrl: 'https://gitlab.com',
    api: { url: 'https://gitlab.com/api/v4', path: '/api/v4' },
    sends: (headers) => headers['x-gitlab-event'] !== undefined,
    owners: {
      groups: 20,
      isDeep: true,
      advice: 'Write a group and /*, such as acme/apis/*, or /** for the groups in it, too',
    },
    pages: { commit: '/-/commit/', file: '/-/blob/', issue: '/-/issues/new?issue%5Btitle%5D=' },
  },
  gitea: {
    name: 'Gitea or Forgejo',
    publicUrl: 'https://codeberg.org',
    api: { url: 'https://codeberg.org/api/v1', path: '/api/v1' },
    sends: (headers) => (headers['x-gitea-event'] ?? headers['x-forgejo-event']) !== undefined,
    pages: { commit: '/commit/', file: '/src/commit/', issue: '/issues/new?title=' },
  },
  bitbucket: {
    name: 'Bitbucket Cloud',
    publicUrl: 'https://bitbucket.org',
    api: { url: 'https://api.bitbucket.org/2.0', path: '/2.0' },
    sends: (headers) => headers['x-event-key'] !== undefined,
    pages: { commit: '/commits/', file: '/src/', issue: '/issues/new?title=', line: '#lines-' },
  },
  'bitbucket-server': {
    name: 'Bitbucket Data Center',
    publicUrl: null,
    api: { url: null, path: '/rest/api/1.0' },
    sends: (headers) => serverEvent.test(headers['x-event-key'] ?? ''),
  },
  azure: {
    name: 'Azure DevOps',
    publicUrl: 'https://dev.azure.com',
    api: { url: 'https://dev.azure.com', path: '' },
    sends: (headers) => /^VSServices\b/.test(headers['user-agent'] ?? ''),
    owners: { groups: 2, isDeep: false, advice: 'Write acme/* for an organization, or acme/project/* for a project' },
  },
} satisfies Record<string, Product>;

export type HostKind = keyof typeof products;
export const hostKinds = Object.keys(products) as HostKind[];

/** What is known of a product. */
export function productOf(kind: HostKind): Product {
  return products[kind];
}

/** A hook delivery: header fields by lower-case name, and the raw bytes of the body. */
export interface Delivery {
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}

/** A pull request (merge request) of a repository, or a group of them in a merge queue. */
export interface Pull {
  /** The host's number for it. Null for a group of a merge queue. */
  number: number | null;
  /** The branch to merge into. */
  base: string;
  /**
   * Full name of the ref in the target repository from which its head can be fetched. Null when
   * there is none (Bitbucket's forks).
   */
  ref: string | null;
}

/** How a delivery names a repository. */
interface Named {
  repository: string;
  /** The host's id of it, which stays when it is renamed. Absent: the delivery does not say. */
  id?: string;
}

/**
 * What a delivery is about. It is only a hint: names are compared with the followed repositories,
 * numbers and refs are asked from the remote again, and URLs in a payload are never used.
 */
export type Hint =
  /** Branches or tags of the repository changed. */
  | ({ kind: 'push' } & Named)
  /** The repository was created, renamed, moved, archived or deleted. A moved one by its former name. */
  | ({ kind: 'repository'; /** Its name now, if it was moved. */ now?: string } & Named)
  /** A pull request was opened, pushed to, reopened or closed. */
  | ({ kind: 'pull'; pull: Pull; isOpen: boolean } & Named)
  /** Somebody asked the host to repeat the checks of this commit. */
  | { kind: 'again'; repository: string; commit: string }
  /** An event that the registry does not need (ping, a comment, …). `event` is its name. */
  | { kind: 'nothing'; event: string };

/** A repository on a host, and the credential to use. */
export interface HostRepository {
  /** As returned by `nameOf`: `owner/name`; on GitLab with all groups. */
  name: string;
  /** Name of the credential in the configuration. Null: nothing is reported to the host. */
  credential: string | null;
}

/** An organization, group, workspace, project or user on a host, and the credential to use. */
export interface HostOwner {
  /** `acme`; on GitLab with all groups, on Azure DevOps perhaps with the project. */
  path: string;
  /** Whether the groups in a group belong to it (GitLab). */
  isDeep: boolean;
  /** Name of the credential in the configuration. Null: only what everyone can see. */
  credential: string | null;
}

/** A repository, as a host describes it. */
export interface FoundRepository {
  /** The host's id of it, which stays when it is renamed or moved. Null: the host did not say. */
  id: string | null;
  /** As returned by `nameOf` for the URL. */
  name: string;
  /** https URL to clone it, below the host's own. */
  url: string;
  isArchived: boolean;
  isFork: boolean;
  /** Whether strangers cannot see it. Absent: the host did not say. */
  isPrivate?: boolean;
}

/** The repositories of an owner that the credential can see. */
export interface FoundRepositories {
  repositories: FoundRepository[];
  /** False when there are more. */
  isComplete: boolean;
}

/**
 * A git host (design §10): verifies hooks, parses them, and reports results. A credential is sent
 * only to the host that the configuration binds it to. Network calls end within 60 s. They reject
 * with `unreachable` when the host does not answer, rejects the credential or keeps limiting the
 * rate; with `forbidden` when the credential is bound to another host; and with `malformed` when
 * its configuration is incomplete. Messages contain no secret. Repository names are lower case.
 */
export interface Host {
  readonly kind: HostKind;
  /** Its name in the configuration, which is its kind unless there are several of a kind. */
  readonly name: string;

  /**
   * Whether one of the secrets signed the delivery; on Azure DevOps, which signs nothing, whether
   * the delivery contains one. False without secrets. Compares in constant time and parses nothing.
   * `now` limits the age of signatures with a timestamp. Hashes a large body in several turns of the
   * event loop.
   */
  isGenuine(delivery: Delivery, secrets: readonly string[], now: Date): Promise<boolean>;

  /**
   * Parses a verified delivery, in one turn of the event loop: a large body is cut before, so that
   * long lists and texts are not in it. Throws `malformed` when it is not a payload of this host.
   */
  readHint(delivery: Delivery): Hint;

  /**
   * The repository's name when the URL (https, ssh, `git@host:path`) belongs to this host, else
   * null.
   */
  nameOf(url: string): string | null;

  /**
   * The open pull requests, newest first, at most 200. Without a credential the request is
   * anonymous. Rejects with `unreachable` when the answer is not a list.
   */
  listPulls(repository: HostRepository): Promise<{ pulls: Pull[]; isComplete: boolean }>;

  /**
   * The repositories of an owner, at most 2,000. Their URLs are made of the host's own URL and their
   * names. Items that are invalid are left out.
   */
  listRepositories(owner: HostOwner): Promise<FoundRepositories>;

  /**
   * The repository with this id (`FoundRepository.id`), or without one, with this name or formerly
   * with it, as the host has it now. Null where the host has none that the credential can see.
   */
  findRepository(repository: HostRepository, id: string | null): Promise<FoundRepository | null>;

  /**
   * Reports the state of a check. A repeated report has no further effect; of several, the last
   * call wins. Reports nothing without a credential or with an ssh key. GitHub gets a check run
   * with annotations when the credential is an app's; otherwise, and on other hosts, a commit
   * status; Azure DevOps one on the pull requests, too.
   */
  reportCheck(repository: HostRepository, check: Check): Promise<void>;

  /**
   * Writes the comment of a pull request and its notes: the first time new ones, later the same
   * ones again. Notes that are no longer given are removed; a note at a line that the host does not
   * show is left out. Writes nothing without a credential or with an ssh key. Absent: the host
   * cannot do it.
   */
  comment?(repository: HostRepository, comment: PullComment): Promise<void>;

  /**
   * The credential for git: a fresh installation token for an app, null for others, which git uses
   * as configured.
   */
  gitCredential(repository: HostRepository): Promise<Credential | null>;

  /** Nothing waits any more to ask again: what failed is for whoever asks after the next start. */
  close(): void;
}

/**
 * Returns the product that sent a delivery, by its header fields, or null if they do not name one.
 * Used only for the message to a sender that posts to the wrong URL.
 */
export function senderOf({ headers }: Pick<Delivery, 'headers'>): HostKind | null {
  // Gitea also sends the fields of GitHub, and Data Center those of Bitbucket Cloud.
  return hostKinds.findLast((kind) => products[kind].sends(headers)) ?? null;
}
