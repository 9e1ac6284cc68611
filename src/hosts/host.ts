import type { Check } from '../model/check.ts';
import type { Credential } from '../source/source.ts';

export const hostKinds = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
export type HostKind = (typeof hostKinds)[number];

/** A delivery of a hook as it came in: header fields by their names in small letters, and the raw bytes of its body. */
export interface Delivery {
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}

/** A pull request (merge request) of a repository. */
export interface Pull {
  /** As the host counts it. */
  number: number;
  /** The branch that it is to go into. */
  base: string;
  /** Full name of the ref, in the repository that it is made to, under which its head can be fetched; null: the host has none (Bitbucket's forks). */
  ref: string | null;
}

/**
 * What a delivery hints at. Nothing in it is believed: names are held against the repositories that are followed, numbers and refs are asked of
 * the remote again, and no URL of a payload is ever used.
 */
export type Hint =
  /** Branches or tags of the repository moved, came or went; or the repository itself was renamed (then by its former name), moved or deleted. */
  | { kind: 'push'; repository: string }
  /** A pull request was opened, pushed to or reopened; or closed. */
  | { kind: 'pull'; repository: string; pull: Pull; isOpen: boolean }
  /** Nothing that concerns a registry (ping, a comment, …): the event's name. */
  | { kind: 'nothing'; event: string };

/** A repository on a host, and how to speak for it there. */
export interface HostRepository {
  /** As `nameOf` gives it: `owner/name`, of GitLab with all its groups. */
  name: string;
  /** Name of the credential in the configuration; null: the host is not told anything. */
  credential: string | null;
}

/**
 * One git host (design §10): is this hook genuine, what does it hint at, tell the host the outcome. Credentials are sent to the host that the
 * configuration binds them to and to no other. Calls over the network end within 60 s; they reject with `unreachable` where the host
 * does not answer, refuses the credential or stays over its rate limit, with `forbidden` where the credential is bound to another host, with
 * `malformed` where the configuration does not have it whole; what they say holds no secret. Names of repositories are in small letters.
 */
export interface Host {
  readonly kind: HostKind;

  /** Whether one of the secrets signed the delivery. No secrets: no. Compares in constant time, and parses nothing. `now` bounds the age where the signature has one. */
  isGenuine(delivery: Delivery, secrets: readonly string[], now: Date): boolean;

  /** What a genuine delivery hints at. Refuses with `malformed` what is no payload of this host, with `too_large` one of millions of values. */
  readHint(delivery: Delivery): Hint;

  /** The repository's name on this host when the URL (https, ssh, `git@host:path`) is of this host, else null. */
  nameOf(url: string): string | null;

  /** The pull requests that are open, newest first, 200 at most. Without a credential it asks as nobody. */
  listPulls(repository: HostRepository): Promise<Pull[]>;

  /**
   * Tells the host how a check stands. The same check told twice is there once; the newest word wins, in the order of asking. Without a credential,
   * or with an ssh key, nobody is told. GitHub: a check run with annotations where the credential is an app's, else a commit status; the
   * others: a commit status.
   */
  tell(repository: HostRepository, check: Check): Promise<void>;

  /** What git is to send for this credential: for an app, a fresh installation token; for all others null: they are as the configuration has them. */
  gitCredential(repository: HostRepository): Promise<Credential | null>;
}
