import { RegistryError } from '../model/errors.ts';
import type { Location } from './location.ts';

/** A failed run of git. */
export interface Failure {
  stderr: string;
  location: Location;
  hasCredential: boolean;
  /** Texts to remove from messages. */
  secrets: readonly string[];
}

/** Whether the server answered with a redirect. Git does not follow redirects itself. */
export function isRedirect(stderr: string): boolean {
  return /requested URL returned error: 30[12378]/.test(stderr);
}

/** Whether the server provides only the tips of branches and tags, so not this object. */
export function isUnadvertised(stderr: string): boolean {
  return /not our ref|unadvertised object|no such remote ref|no matching remote head|want [0-9a-f]{40} not valid/i.test(
    stderr,
  );
}

/**
 * Whether the server says that the repository does not exist. Hosts also say so when the caller may
 * not see it.
 */
export function isNoRepository(stderr: string, { kind }: Location): boolean {
  if (kind === 'local') return false;
  return missing.test(stderr) || (kind === 'ssh' && /does not appear to be a git repository/i.test(stderr));
}

/** The message for `isNoRepository`. */
export function noRepository(at: string, hasCredential: boolean): string {
  return `There is no repository at ${at}${hasCredential ? ', or the credential may not see it' : ', or it needs a credential'}.`;
}

// What git prints for 404 and 410 over http, and GitHub, GitLab, Gitea and Bitbucket over ssh.
const missing =
  /returned error: 4(?:04|10)|repository '[^']*' not found|Repository not found|could not be found|Cannot find repository|repository does not exist/i;

/** The error for a server that answers with something else, such as a page to sign in. */
export function notGit(at: string): RegistryError {
  return new RegistryError(
    'unreachable',
    `${at} does not answer like a git repository. It may be a page for people, such as one to sign in. Check the URL.`,
  );
}

type Reason = (at: string, failure: Failure) => string;

const noAccess: Reason = (at, { hasCredential }) =>
  hasCredential
    ? `${at} rejected the credential. Check that it is valid, has not expired, and can read this repository.`
    : `${at} requires a credential. Set one in the connection, or check the URL: hosts also ask for one when there is no such repository.`;

// Messages of git under LC_ALL=C, and of curl and ssh within them. The first match decides.
const reasons: readonly (readonly [RegExp, Reason])[] = [
  [
    /Load key|UNPROTECTED PRIVATE KEY|no such identity|Identity file .* not accessible/,
    (at) =>
      `The ssh key for ${at} cannot be used. Check that its file exists, is a private key without a passphrase, and is readable only by its owner.`,
  ],
  [/could not read (?:Username|Password)|Authentication failed|returned error: 401/, noAccess],
  [
    /returned error: 403/,
    (at, { hasCredential }) =>
      `${at} forbids reading ${hasCredential ? 'with this credential. Check its permissions' : 'without a credential. Set one in the connection'}.`,
  ],
  [missing, (at, { hasCredential }) => noRepository(at, hasCredential)],
  [/returned error: 429/, (at) => `${at} limits the rate of requests (429). Stele retries later.`],
  [/returned error: (?:5\d\d)/, (at) => `${at} answered with a server error. Try again later.`],
  [
    /Host key verification failed|no matching host key|REMOTE HOST IDENTIFICATION/i,
    (at) =>
      `The ssh host key of ${at} is unknown or has changed. Verify it (ssh-keyscan), then add it to the known_hosts file that sync.knownHosts names.`,
  ],
  [/Permission denied \((?:publickey|password|keyboard)/, noAccess],
  [/Could not resolve host/, (at) => `The host of ${at} does not exist. Check the spelling of the URL.`],
  [
    /Connection refused|Couldn't connect|Failed to connect|No route to host|Network is unreachable/,
    (at) => `Cannot connect to ${at}: the host refused the connection or is unreachable.`,
  ],
  [/timed out|Operation too slow|timeout/i, (at) => `${at} did not answer in time.`],
  [
    /SSL|certificate|TLS|gnutls/i,
    (at) => `Cannot make a trusted TLS connection to ${at}. Check the server's certificate.`,
  ],
  [
    /dubious ownership/,
    (at) => `The repository at ${at} belongs to another user, so git refuses to read it. Run the server as its owner.`,
  ],
  [
    /dumb http transport/,
    (at) =>
      `${at} is served as plain files ("dumb http"), which cannot provide single commits. Serve it with git http-backend or a git host.`,
  ],
  [
    /mismatched algorithms|unknown object format|object format/,
    (at) => `${at} uses SHA-256 object names, which are not supported.`,
  ],
  [/does not appear to be a git repository|not a git repository/i, (at) => `${at} is not a git repository.`],
  [
    /not our ref|unadvertised object|no such remote ref|couldn't find remote ref|no matching remote head/i,
    (at) => `${at} does not provide that commit. It was removed, or the branch has moved; the next sync tries again.`,
  ],
  [
    /hung up unexpectedly|early EOF|RPC failed|unexpected disconnect|bad pack|invalid index-pack|index-pack failed|fetch-pack|protocol error|expected /,
    (at) => `${at} closed the connection or sent an invalid git response. Try again later.`,
  ],
  [/not valid: is this a git repository/, (at) => notGit(at).message],
];

/**
 * Explains why git failed and what to do. The message names the repository and contains no secret.
 */
export function explainFailure(failure: Failure): RegistryError {
  const { stderr, location } = failure;
  if (/No space left on device|Disk quota exceeded/.test(stderr)) {
    return new RegistryError('unavailable', 'The disk of the cache folder is full.');
  }
  const reason = reasons.find(([pattern]) => pattern.test(stderr))?.[1];
  if (reason) return new RegistryError('unreachable', reason(location.url, failure));
  const line = lastLine(stderr);
  return new RegistryError(
    'unreachable',
    `${location.url} could not be read${line === '' ? '' : `: ${withoutSecrets(line, failure.secrets)}`}`,
  );
}

function lastLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => /^(?:fatal|error|ERROR|ssh):?/.test(line));
  return (lines.at(-1) ?? '').replace(/\p{Cc}/gu, ' ').slice(0, 300);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '•••'), text);
}
