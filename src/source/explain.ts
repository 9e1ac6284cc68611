import { RegistryError } from '../model/errors.ts';
import type { Location } from './location.ts';

/** What is known about a run of git that failed. */
export interface Failure {
  stderr: string;
  location: Location;
  hasCredential: boolean;
  /** Texts that must not be repeated, whoever said them. */
  secrets: readonly string[];
}

/** Whether the server answered with a redirect, which is never followed blindly. */
export function isRedirect(stderr: string): boolean {
  return /requested URL returned error: 30[12378]/.test(stderr);
}

/** Whether the server has the object but hands out only what a branch or tag names. */
export function isUnadvertised(stderr: string): boolean {
  return /not our ref|unadvertised object|no such remote ref|no matching remote head/i.test(stderr);
}

/** Whether the server says clearly that it has no such repository, or none for whoever asks: hosts do not tell the two apart. */
export function isNoRepository(stderr: string, { kind }: Location): boolean {
  if (kind === 'local') return false;
  return missing.test(stderr) || (kind === 'ssh' && /does not appear to be a git repository/i.test(stderr));
}

/** The same for a person. */
export function noRepository(at: string, hasCredential: boolean): string {
  return `There is no repository at ${at}${hasCredential ? ', or the credential may not see it' : ', or it needs a credential'}.`;
}

// The words of git over http for 404 and 410, and of GitHub, GitLab, Gitea and Bitbucket over ssh.
const missing =
  /returned error: 4(?:04|10)|repository '[^']*' not found|Repository not found|could not be found|Cannot find repository|repository does not exist/i;

type Reason = (at: string, failure: Failure) => string;

const noAccess: Reason = (at, { hasCredential }) =>
  hasCredential
    ? `${at} refused the credential: check that it is valid, not expired, and may read this repository.`
    : `${at} asks for a credential: name one in the connection, or check the URL (hosts answer so for repositories that do not exist, too).`;

// Git's own wording under LC_ALL=C, and curl's and ssh's inside it; the first that fits decides.
const reasons: readonly (readonly [RegExp, Reason])[] = [
  [
    /Load key|UNPROTECTED PRIVATE KEY|no such identity|Identity file .* not accessible/,
    (at) =>
      `The ssh key for ${at} cannot be used: check that its file exists, is a private key without passphrase, and is readable by its owner alone.`,
  ],
  [/could not read (?:Username|Password)|Authentication failed|returned error: 401/, noAccess],
  [
    /returned error: 403/,
    (at, { hasCredential }) =>
      `${at} forbids reading${hasCredential ? ' with this credential: check what it may do' : ' without a credential: name one'}.`,
  ],
  [missing, (at, { hasCredential }) => noRepository(at, hasCredential)],
  [/returned error: 429/, (at) => `${at} asks for fewer requests (429); it is tried again later.`],
  [
    /returned error: (?:5\d\d)/,
    (at) => `${at} is in trouble of its own and answered with a server error; try again later.`,
  ],
  [
    /Host key verification failed|no matching host key|REMOTE HOST IDENTIFICATION/i,
    (at) =>
      `The ssh host key of ${at} is not known here, or has changed: put its key into known_hosts (ssh-keyscan), once checked.`,
  ],
  [/Permission denied \((?:publickey|password|keyboard)/, noAccess],
  [/Could not resolve host/, (at) => `The host of ${at} cannot be found: check the URL's spelling.`],
  [
    /Connection refused|Couldn't connect|Failed to connect|No route to host|Network is unreachable/,
    (at) => `Nothing answers at ${at}: the host refused the connection or cannot be reached.`,
  ],
  [/timed out|Operation too slow|timeout/i, (at) => `${at} did not answer in time.`],
  [
    /SSL|certificate|TLS|gnutls/i,
    (at) => `No trusted TLS connection to ${at} can be made: check the server's certificate.`,
  ],
  [
    /dubious ownership/,
    (at) =>
      `The repository at ${at} belongs to another user, and git does not read such repositories: run the server as its owner.`,
  ],
  [
    /dumb http transport/,
    (at) =>
      `${at} is served as plain files ("dumb http"), which cannot hand out single commits: serve it by git http-backend or a git host.`,
  ],
  [
    /mismatched algorithms|unknown object format|object format/,
    (at) => `${at} uses SHA-256 object names, which are not supported.`,
  ],
  [/does not appear to be a git repository|not a git repository/i, (at) => `${at} is not a git repository.`],
  [
    /not our ref|unadvertised object|no such remote ref|couldn't find remote ref|no matching remote head/i,
    (at) => `${at} does not hand out that commit: it is gone, or the branch has moved on; the next sync looks again.`,
  ],
  [
    /hung up unexpectedly|early EOF|RPC failed|unexpected disconnect|bad pack|invalid index-pack|index-pack failed|fetch-pack|protocol error|expected /,
    (at) => `${at} broke off or sent what is not a git answer; try again later.`,
  ],
  [/not valid: is this a git repository/, (at) => `${at} does not answer as a git repository.`],
];

/** Puts into words why git failed, and what to do. The wording names the repository and holds no secret. */
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
