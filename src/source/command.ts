import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ignoring, type RegistryError, unavailable, unreachable, tooLarge } from '../model/errors.ts';
import { untilAborted, within } from '../scheduling/waiting.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Location } from './location.ts';

/** One run of git. */
export interface GitCommand extends GitSettings {
  /** Never contains a secret, because every user of the machine can read it. */
  args: readonly string[];
  /** Standard input. An error while it is read ends the input there. */
  input?: string | AsyncIterable<Uint8Array>;
  /** The most bytes that git may print before it is stopped. Default: 256 MiB. */
  outputBytes?: number;
  /** Stops git and every process that it started. */
  signal: AbortSignal;
}

/** The result of a run of git. */
export interface GitResult {
  ok: boolean;
  stdout: Buffer;
  stderr: string;
}

/**
 * Runs git with a minimal environment. A non-zero exit code is a result, not an error. When the
 * signal aborts, the whole process group gets SIGTERM, then SIGKILL a second later, and the call
 * rejects with the signal's reason.
 */
export async function runGit(command: GitCommand): Promise<GitResult> {
  const { args, input = '', outputBytes = 256 * 2 ** 20 } = command;
  const flood = new AbortController();
  const signal = AbortSignal.any([command.signal, flood.signal]);
  signal.throwIfAborted();
  const child = startGit(args, command);
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  const onFlood = () => flood.abort(tooLarge(`git printed more than ${outputBytes} bytes.`));
  const stdout = collect(child.stdout, outputBytes, onFlood);
  const stderr = collect(child.stderr, outputBytes, onFlood);
  // Git itself reports an input that ends early.
  pipeline(typeof input === 'string' ? [input] : input, child.stdin).catch(() => undefined);
  try {
    const [code] = await untilAborted(ended, signal);
    return { ok: code === 0, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  } catch (error) {
    await endGroup(child, ended);
    throw error;
  }
}

/** Starts git as the leader of a process group, which the signals of a terminal do not reach. */
export function startGit(args: readonly string[], settings: GitSettings): ChildProcessWithoutNullStreams {
  if (!settings.searchPath.split(':').some((folder) => existsSync(join(folder, 'git'))))
    throw unavailable('git is not installed, or not in a folder where the server looks for it.');
  return spawn('git', args, { cwd: settings.folder, env: environmentOf(settings), detached: true });
}

/** The chunks of a stream, which are dropped when they have more than `max` bytes. */
function collect(stream: Readable, max: number, onMore: () => void): Buffer[] {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= max) return void chunks.push(chunk);
    chunks.length = 0;
    onMore();
  });
  return chunks;
}

/** Resolves when the processes are gone, at most two seconds after the first signal. */
async function endGroup({ pid }: ChildProcessWithoutNullStreams, ended: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  signalGroup(pid, 'SIGTERM');
  const isOver = await within(1000, ended);
  signalGroup(pid, 'SIGKILL');
  if (!isOver) await within(1000, ended);
}

function signalGroup(leader: number, name: NodeJS.Signals): void {
  try {
    process.kill(-leader, name);
  } catch (error) {
    ignoring('ESRCH')(error);
  }
}

interface GitSettings {
  /** The repository, which is also the working directory. */
  folder: string;
  /** The transports that git may use, as in `GIT_ALLOW_PROTOCOL`. `none` for commands that only read. */
  protocols: string;
  /** Git settings. Passed in the environment, so they may contain a secret. */
  config?: Readonly<Record<string, string>>;
  environment?: Readonly<Record<string, string>>;
  /** Where to find git and ssh, as in `PATH`. */
  searchPath: string;
}

// Settings that protect this process. No repository and no user's configuration may change them (design §10).
const walls: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '',
  'core.bigFileThreshold': '8m',
  // A mirror is a cache: what a crash of the machine damages is fetched again.
  'core.fsync': 'none',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  'fetch.unpackLimit': '1',
  'gc.auto': '0',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1',
  'http.proxy': '',
  'maintenance.auto': 'false',
  'pack.threads': '1',
  'protocol.version': '2',
  'submodule.recurse': 'false',
  // Real repositories contain old mistakes that fsck rejects. Stele checks what it reads instead:
  // sizes, names and blob ids.
  'transfer.fsckObjects': 'false',
};

/** The whole environment of one run of git. It contains nothing of the server's own. */
function environmentOf({ protocols, config, environment, folder, searchPath }: GitSettings): Record<string, string> {
  const settings = Object.entries({ ...walls, ...config });
  return {
    PATH: searchPath,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    // git 2.39.4 or newer. Without it, git fetches objects that a server left out, and starts
    // itself endlessly for a shallow repository.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...environment,
  };
}

/** Where git and ssh are looked for unless somebody says otherwise: the usual folders of a Unix system. */
export const usualFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/**
 * Returns the version of git. Rejects with `unavailable` without git, or with one that is too old:
 * older ones cannot merge without a working tree, and those before 2.37 ignore the pinned address of a host.
 */
export async function readGitVersion(folder: string, searchPath: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await runGit({ args: ['version'], folder, protocols: 'none', searchPath, signal });
  const [version, major = '0', minor = '0'] = /(\d+)\.(\d+)[\d.]*/.exec(stdout.toString()) ?? [];
  if (version !== undefined && (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38))) return version;
  throw unavailable(`git 2.38 or newer is required; found ${stdout.toString().trim()}.`);
}

/** A failed run of git. */
export interface GitFailure {
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

/** Whether the server says that the repository does not exist, as hosts also do when the caller may not see it. */
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

const limit = /returned error: 429/;

/** Whether git failed because the server limits requests. */
export function isLimit(stderr: string): boolean {
  return limit.test(stderr);
}

/** The error for a server that limits requests. `retryAfter`: seconds. */
export function limited(at: string, retryAfter?: number): RegistryError {
  const message = `${at} limits the rate of requests (429).`;
  return unreachable(message, retryAfter === undefined ? {} : { retryAfter });
}

/** The error for a server that answers with something else, such as a page to sign in. */
export function notGit(at: string): RegistryError {
  return unreachable(
    `${at} does not answer like a git repository. It may be a page for people, such as one to sign in. Check the URL.`,
  );
}

type Reason = (at: string, failure: GitFailure) => string;

const noAccess: Reason = (at, { hasCredential, location: { kind } }) =>
  hasCredential
    ? kind === 'ssh'
      ? `${at} rejected the credential. Check that the host has its public key, that the key has no passphrase, and that it can read this repository.`
      : `${at} rejected the credential. Check that it is valid, has not expired, and can read this repository.`
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
  [limit, (at) => limited(at).message],
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
    /repository corruption on the remote side/,
    (at) =>
      `git cannot read some objects of ${at}: it is damaged, or was copied in part. Repair it, or connect another copy.`,
  ],
  [
    /hung up unexpectedly|early EOF|RPC failed|unexpected disconnect|bad pack|invalid index-pack|index-pack failed|fetch-pack|protocol error|expected /,
    (at) => `${at} closed the connection or sent an invalid git response. Try again later.`,
  ],
  [/not valid: is this a git repository/, (at) => notGit(at).message],
];

/** Explains why git failed and what to do. The message names the repository and contains no secret. */
export function explainFailure(failure: GitFailure): RegistryError {
  const { stderr, location } = failure;
  if (/No space left on device|Disk quota exceeded/.test(stderr)) {
    return unavailable('The disk of the cache folder is full.');
  }
  const reason = reasons.find(([pattern]) => pattern.test(stderr))?.[1];
  if (reason) return unreachable(reason(location.url, failure));
  const line = lastLine(stderr);
  return unreachable(
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
