import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { ServerRef } from 'isomorphic-git';
import { proxyFor, type Proxies } from '../model/proxy.ts';
import type { Credential } from './source.ts';
import { type RegistryError, unreachable } from '../model/errors.ts';
import { untilAborted } from '../scheduling/waiting.ts';
import { runGit, type GitResult, explainFailure, isLimit, isNoRepository, isRedirect, limited } from './command.ts';
import { longestLimit, longestUnnamed } from '../scheduling/retry-after.ts';
import { resolveHost, type Lookup, type Location } from './location.ts';
import { canReceive, receivePack, type PackRequest, askServerRefs, type Advertised } from './wire.ts';

/** See `createTransport`. */
export type Transport = Awaited<ReturnType<typeof createTransport>>;

/** A call: its time limit, and its connection, which is opened when needed. */
export interface RemoteCall {
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
  /** File of trusted ssh host keys. Null: the user's and the system's. */
  knownHosts: string | null;
  proxies: Proxies;
  /** File of trusted certificates. Null: git's own. */
  certificates: string | null;
  /** New URLs of repositories that moved within their hosts, by old URL. Shared between calls. */
  moved: Map<string, string>;
  /** What servers can do. Shared between calls. */
  advertised: Advertised;
  /** When servers that limit requests may be asked again, on the monotonic clock, by server and credential. Shared too. */
  limitedUntil: Map<string, number>;
  signal: AbortSignal;
}

// Bytes. Enough for some hundred thousand branches and tags.
const maxOutput = 32 * 2 ** 20;

/**
 * Prepares a connection to a repository for one call, which ends with its signal: resolves, checks
 * and pins its host, and passes the credential in git's environment only. Follows one redirect, and
 * only within the same scheme, host and port.
 */
export async function createTransport(options: TransportOptions) {
  const { location, credential, searchPath, moved, advertised, limitedUntil, signal } = options;
  const isHttp = location.kind === 'http' || location.kind === 'https';
  const proxy = isHttp ? proxyFor(location.url, options.proxies) : null;
  const resolving = { isProxied: proxy !== null };
  const addresses =
    location.kind === 'local' ? [] : await untilAborted(resolveHost(location, options.lookup, resolving), signal);
  if (location.kind === 'local') await assertFolder(location.url);
  if (credential !== null) assertFits(location, credential);
  const access = accessOf(location, proxy === null ? addresses : null, options);
  const authorization = credential?.kind === 'token' ? `Basic ${basic(credential)}` : null;
  const secrets = credential?.kind === 'token' ? [credential.token, basic(credential)] : [];
  // A file URL, because git cannot fetch single objects from a remote whose name begins with a
  // slash.
  let url = location.kind === 'local' ? pathToFileURL(location.url).href : (moved.get(location.url) ?? location.url);

  const asked = `${isHttp ? new URL(url).origin : url} ${authorization}`;
  const assertNoLimit = () => {
    const left = (limitedUntil.get(asked) ?? 0) - performance.now();
    if (left > 0) throw limited(location.url, Math.ceil(left / 1000));
  };
  const onLimit = (seconds: number | null) => {
    const until = performance.now() + 1000 * Math.min(seconds ?? longestUnnamed, longestLimit);
    limitedUntil.set(asked, Math.max(limitedUntil.get(asked) ?? 0, until));
  };
  const server = { addresses, authorization, proxy, onLimit };
  assertNoLimit();

  async function attempt(request: NetworkRequest, environment: Record<string, string> = {}): Promise<GitResult> {
    const { folder, args, config, input } = request;
    return runGit({
      args: args(url),
      folder,
      protocols: location.kind === 'local' ? 'file' : location.kind,
      config: { 'http.lowSpeedTime': String(Math.ceil(options.timeLimit)), ...access.config, ...config },
      environment: { ...access.environment, ...environment },
      ...(input === undefined ? {} : { input }),
      outputBytes: maxOutput,
      searchPath,
      signal: request.signal ?? signal,
    });
  }

  /** A header that the server sends, from curl's trace. The trace is never shown. */
  async function header(folder: string, name: string): Promise<string | undefined> {
    const trace = { GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1' };
    const args = (at: string) => ['ls-remote', '--quiet', '--', at, 'HEAD'];
    const { stderr } = await attempt({ folder, args }, trace);
    return new RegExp(`<= Recv header: ${name}: (\\S+)`, 'i').exec(stderr)?.[1];
  }

  async function redirectTarget(folder: string): Promise<URL | null> {
    const redirect = await header(folder, 'location');
    return redirect === undefined ? null : URL.parse(redirect, url);
  }

  const hasCredential = credential !== null;
  return {
    location,
    signal,
    hasCredential,
    /**
     * Runs a git command that contacts the repository. `args` gets the URL to use. Rejects as
     * `explainFailure` says, unless the caller `expects` the failure.
     */
    async run(request: NetworkRequest): Promise<GitResult> {
      assertNoLimit();
      let result = await attempt(request);
      const hadMoved = !result.ok && moved.delete(location.url);
      if (hadMoved && isNoRepository(result.stderr, location)) {
        // The repository has left its new place, so the original URL is tried.
        url = location.url;
        result = await attempt(request);
      }
      if (!result.ok && isRedirect(result.stderr)) {
        const to = await redirectTarget(request.folder);
        const next = to && redirectedUrl(to, url);
        if (next === null) throw redirected(location.url, to);
        url = next;
        moved.set(location.url, next);
        result = await attempt(request);
      }
      if (result.ok || request.expects?.(result.stderr)) return result;
      if (isLimit(result.stderr)) onLimit(null);
      assertNoLimit();
      throw explainFailure({ stderr: result.stderr, location, hasCredential, secrets });
    },
    /**
     * The refs whose names begin with a prefix, asked for without a process. Null: ask git instead,
     * as for anything but http, and for every answer that needs an explanation.
     */
    async refs(prefix: string): Promise<ServerRef[] | null> {
      if (!isHttp) return null;
      return askServerRefs({ ...server, url, signal }, prefix, advertised);
    },
    /**
     * Asks for a pack, without a process. It streams until the signal aborts. Null: git must fetch
     * it, as for anything but http, and after every failure.
     */
    receive(request: PackRequest, ends: AbortSignal): AsyncIterable<Buffer> | null {
      if (!isHttp || !canReceive(advertised.get(url))) return null;
      return receivePack({ ...server, url, signal: ends }, request);
    },
    /**
     * Whether the answer is really git's. Over http, git takes a page of one line for an empty
     * repository (its older, "dumb" protocol), and a repository served as plain files for a real one.
     */
    async isGit(folder: string): Promise<boolean> {
      if (!isHttp) return true;
      return (await header(folder, 'content-type')) === 'application/x-git-upload-pack-advertisement';
    },
  };
}

/** Only a folder is allowed. Git would also read a bundle file. */
async function assertFolder(path: string): Promise<void> {
  const status = await stat(path).catch(() => null);
  if (status?.isDirectory() !== true) throw unreachable(`There is no folder at ${path}.`);
}

function assertFits({ kind, url }: Location, credential: Credential): void {
  if (kind === 'ssh' && credential.kind === 'token') {
    throw unreachable(`${url} uses ssh, but its credential is a token. Use an ssh key.`);
  }
  if ((kind === 'https' || kind === 'http') && credential.kind === 'ssh') {
    throw unreachable(`${url} uses ${kind}, but its credential is an ssh key. Use a token.`);
  }
}

/** The repository's new URL if it has the same origin and the form of a git server's URL, else null. */
function redirectedUrl(to: URL, from: string): string | null {
  const suffix = '/info/refs';
  const isSafe = to.origin === new URL(from).origin && to.username === '' && to.password === '';
  return isSafe && to.pathname.endsWith(suffix) ? `${to.origin}${to.pathname.slice(0, -suffix.length)}` : null;
}

function redirected(from: string, to: URL | null): RegistryError {
  const where = to === null ? 'elsewhere' : `to ${to.origin}${to.pathname.replace(/\/info\/refs$/, '')}`.slice(0, 300);
  return unreachable(
    `${from} redirects ${where}. Redirects to another place are not followed. If that is the repository, use its URL.`,
  );
}

interface Access {
  config: Record<string, string>;
  environment: Record<string, string>;
}

/** `addresses`: null where a proxy resolves the host. */
function accessOf(location: Location, addresses: readonly string[] | null, options: TransportOptions): Access {
  const { credential, certificates } = options;
  if (location.kind === 'local') return { config: {}, environment: {} };
  if (location.kind === 'ssh') {
    return {
      config: {},
      environment: { GIT_SSH_VARIANT: 'ssh', GIT_SSH_COMMAND: sshCommand(location, addresses ?? [], options) },
    };
  }
  const { host, port } = location;
  const list = addresses?.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',');
  const config: Record<string, string> = {};
  if (list === undefined) config['http.proxy'] = proxyFor(location.url, options.proxies)!;
  else if (!host.includes(':')) config['http.curloptResolve'] = `${host}:${port}:${list}`;
  if (certificates !== null)
    Object.assign(config, { 'http.sslCAInfo': certificates, 'http.proxySSLCAInfo': certificates });
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
  const words = Object.entries(options).flatMap(([name, value]) => ['-o', shellWord(`${name}=${sshWord(value)}`)]);
  return ['ssh', '-F', '/dev/null', ...words].join(' ');
}

/** A value as in ssh_config(5): quoted when it contains a space, `%` doubled. */
function sshWord(value: string): string {
  const plain = value.replaceAll('%', '%%');
  return /\s/.test(plain) ? `"${plain}"` : plain;
}

function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
