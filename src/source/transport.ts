import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Credential } from './source.ts';
import { RegistryError } from '../model/errors.ts';
import { runGit, type GitResult } from './command.ts';
import { explainFailure, isNoRepository, isRedirect } from './explain.ts';
import { resolveHost, type Lookup } from './allowed-address.ts';
import type { Location } from './location.ts';

/** One call's way to one repository. Ends with its signal. */
export interface Transport {
  readonly location: Location;
  readonly signal: AbortSignal;
  readonly hasCredential: boolean;
  /**
   * Runs a git command that talks to the repository; it is given the URL to use. Rejects with what `explainFailure` says, unless the
   * failure is one that the caller `expects`.
   */
  run(request: NetworkRequest): Promise<GitResult>;
}

/** One call: its time limit, and its way to the repository, made when it is needed. */
export interface Call {
  signal: AbortSignal;
  connect(): Promise<Transport>;
}

export interface NetworkRequest {
  folder: string;
  args: (url: string) => readonly string[];
  config?: Readonly<Record<string, string>>;
  input?: string;
  expects?: (stderr: string) => boolean;
  signal?: AbortSignal;
}

export interface TransportOptions {
  location: Location;
  credential: Credential | null;
  searchPath: string;
  /** Seconds that the whole call may take. */
  timeLimit: number;
  lookup: Lookup;
  /** File of the ssh host keys to believe; null: the user's own and the system's. */
  knownHosts: string | null;
  /** Where repositories have moved to within their hosts, by URL: remembered from call to call. */
  moved: Map<string, string>;
  signal: AbortSignal;
}

// Of its branches and tags: some hundred thousand.
const mostOutput = 32 * 2 ** 20;

/**
 * Makes ready to talk to a repository: its host is resolved, checked and pinned, the credential goes into the environment of git alone. A redirect is
 * followed once, and only within the same scheme, host and port.
 */
export async function createTransport(options: TransportOptions): Promise<Transport> {
  const { location, credential, searchPath, moved, signal } = options;
  const addresses = location.kind === 'local' ? [] : await untilAborted(resolveHost(location, options.lookup), signal);
  if (location.kind === 'local') await assertFolder(location.url);
  if (credential !== null) assertFits(location, credential);
  const access = accessOf(location, addresses, options);
  const secrets = credential?.kind === 'token' ? [credential.token, basic(credential)] : [];
  // As a URL, since git takes no remote whose name begins with a slash for one that can be asked for objects.
  let url = location.kind === 'local' ? pathToFileURL(location.url).href : (moved.get(location.url) ?? location.url);

  async function attempt(request: NetworkRequest, environment: Record<string, string> = {}): Promise<GitResult> {
    const { folder, args, config, input } = request;
    return runGit({
      args: args(url),
      folder,
      protocols: location.kind === 'local' ? 'file' : location.kind,
      config: { 'http.lowSpeedTime': String(Math.ceil(options.timeLimit)), ...access.config, ...config },
      environment: { ...access.environment, ...environment },
      ...(input === undefined ? {} : { input }),
      outputBytes: mostOutput,
      searchPath,
      signal: request.signal ?? signal,
    });
  }

  /** Where the server sends us: read from curl's trace, which is made for this alone and shown to nobody. */
  async function target(request: NetworkRequest): Promise<URL | null> {
    const trace = { GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1' };
    const { stderr } = await attempt({ ...request, args: (at) => ['ls-remote', '--quiet', '--', at, 'HEAD'] }, trace);
    const found = /<= Recv header: location: (\S+)/i.exec(stderr)?.[1];
    return found === undefined ? null : URL.parse(found, url);
  }

  const hasCredential = credential !== null;
  return {
    location,
    signal,
    hasCredential,
    async run(request) {
      let result = await attempt(request);
      const hadMoved = !result.ok && moved.delete(location.url);
      if (hadMoved && isNoRepository(result.stderr, location)) {
        // It is no longer where it once had moved to: the host is asked again.
        url = location.url;
        result = await attempt(request);
      }
      if (!result.ok && isRedirect(result.stderr)) {
        const to = await target(request);
        const next = to && redirectedUrl(to, url);
        if (next === null) throw redirected(location.url, to);
        url = next;
        moved.set(location.url, next);
        result = await attempt(request);
      }
      if (result.ok || request.expects?.(result.stderr)) return result;
      throw explainFailure({ stderr: result.stderr, location, hasCredential, secrets });
    },
  };
}

/** Git would also read a bundle file. */
async function assertFolder(path: string): Promise<void> {
  const status = await stat(path).catch(() => null);
  if (status?.isDirectory() !== true) throw new RegistryError('unreachable', `There is no folder at ${path}.`);
}

function assertFits({ kind, url }: Location, credential: Credential): void {
  if (kind === 'ssh' && credential.kind === 'token') {
    throw new RegistryError('unreachable', `${url} is reached by ssh, and its credential is a token: name an ssh key.`);
  }
  if ((kind === 'https' || kind === 'http') && credential.kind === 'ssh') {
    throw new RegistryError(
      'unreachable',
      `${url} is reached by ${kind}, and its credential is an ssh key: name a token.`,
    );
  }
}

/** The repository's new URL when it is at the same origin and has a git server's form, else null. */
function redirectedUrl(to: URL, from: string): string | null {
  const suffix = '/info/refs';
  const isSafe = to.origin === new URL(from).origin && to.username === '' && to.password === '';
  return isSafe && to.pathname.endsWith(suffix) ? `${to.origin}${to.pathname.slice(0, -suffix.length)}` : null;
}

function redirected(from: string, to: URL | null): RegistryError {
  const where = to === null ? 'elsewhere' : `to ${to.origin}${to.pathname.replace(/\/info\/refs$/, '')}`.slice(0, 300);
  return new RegistryError(
    'unreachable',
    `${from} redirects ${where}, and redirects to other places are not followed: if that is the repository, use its URL.`,
  );
}

interface Access {
  config: Record<string, string>;
  environment: Record<string, string>;
}

function accessOf(location: Location, addresses: readonly string[], options: TransportOptions): Access {
  const { credential } = options;
  if (location.kind === 'local') return { config: {}, environment: {} };
  if (location.kind === 'ssh') {
    return {
      config: {},
      environment: { GIT_SSH_VARIANT: 'ssh', GIT_SSH_COMMAND: sshCommand(location, addresses, options) },
    };
  }
  const { host, port } = location;
  const list = addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',');
  const config: Record<string, string> = host.includes(':') ? {} : { 'http.curloptResolve': `${host}:${port}:${list}` };
  if (credential?.kind === 'token') config['http.extraHeader'] = `Authorization: Basic ${basic(credential)}`;
  return { config, environment: {} };
}

function basic({ username, token }: { username: string; token: string }): string {
  return Buffer.from(`${username}:${token}`).toString('base64');
}

function sshCommand(
  { host, port }: { host: string; port: number },
  [address = host]: readonly string[],
  { credential, knownHosts }: TransportOptions,
): string {
  const alias = port === 22 ? host : `[${host}]:${port}`;
  const options = {
    BatchMode: 'yes',
    StrictHostKeyChecking: 'yes',
    HostName: address,
    HostKeyAlias: alias,
    CheckHostIP: 'no',
    ConnectTimeout: '15',
    ServerAliveInterval: '10',
    ServerAliveCountMax: '3',
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    IdentityFile: credential?.kind === 'ssh' ? credential.keyFile : 'none',
    ForwardAgent: 'no',
    PermitLocalCommand: 'no',
    ...(knownHosts === null ? {} : { UserKnownHostsFile: knownHosts, GlobalKnownHostsFile: '/dev/null' }),
  };
  const words = Object.entries(options).flatMap(([name, value]) => ['-o', quoted(`${name}=${sshWord(value)}`)]);
  return ['ssh', '-F', '/dev/null', ...words].join(' ');
}

/** A value as ssh_config(5) reads it: in double quotes where it holds a space, `%` doubled. */
function sshWord(value: string): string {
  const plain = value.replaceAll('%', '%%');
  return /\s/.test(plain) ? `"${plain}"` : plain;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const listener = (): void => reject(signal.reason);
  signal.addEventListener('abort', listener, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', listener);
  }
}
