import { mkdir, rename, writeFile } from 'node:fs/promises';
import { type RegistryError, malformed, unreachable } from '../model/errors.ts';
import { knownParents, traceAncestry } from './history.ts';
import { isRefName } from './git-names.ts';
import { bringBlobs, bringCommits, bringHistory, type Bringing } from './bring.ts';
import { createGitObjects } from './git-objects.ts';
import { openCommitSnapshot, type SnapshotLimits } from './commit-snapshot.ts';
import { lookup as systemLookup, type Lookup, parseLocation, type Location, type Reach } from './location.ts';
import { readGitVersion, usualFolders, isNoRepository, noRepository, notGit } from './command.ts';
import { gitDirectory } from './folder.ts';
import { mergeCommits } from './merge.ts';
import { createMirror, type FetchTarget } from './mirror-repository.ts';
import { noProxies, type Proxies } from '../model/proxy.ts';
import type { Remote, Source, Tag, Tip } from './source.ts';
import { createAdvertised } from './wire.ts';
import { createTransport, type RemoteCall, type Transport } from './transport.ts';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';

export interface SourceOptions extends Reach {
  /** The cache folder. Its contents can be deleted at any time. */
  folder: string;
  /** Seconds that one call may take. */
  timeLimit: number;
  /** Bytes that may be fetched from one repository. */
  sizeLimit: number;
  limits: SnapshotLimits;
  /** Where to find git and ssh, as in `PATH`. Default: the usual folders of a Unix system. */
  searchPath?: string;
  /** File of trusted ssh host keys. Default, or null: the user's and the system's. */
  knownHosts?: string | null;
  /** Default: the system's resolver. */
  lookup?: Lookup;
  /** Default: none. */
  proxies?: Proxies;
  /** Whether git is to trust what this process trusts. Default: what git's machine does. */
  sharesCertificates?: boolean;
}

/** Opens the remote git repositories that the options allow. Keeps mirrors of them in the cache folder. */
export function openSource(options: SourceOptions): Source {
  const { folder, timeLimit, sizeLimit, limits, searchPath = usualFolders, lookup = systemLookup } = options;
  const knownHosts = options.knownHosts ?? null;
  const { proxies = noProxies, sharesCertificates = false } = options;
  const mirrors = { folder, searchPath, timeLimit, sizeLimit, objects: createGitObjects() };

  const moved = new Map<string, string>();
  const advertised = createAdvertised();
  const limitedUntil = new Map<string, number>();
  let checked: Promise<void> | null = null;
  let certificates: Promise<string> | null = null;

  async function checkGit(signal: AbortSignal): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await readGitVersion(folder, searchPath, signal);
  }

  async function connect(location: Location, remote: Remote, signal: AbortSignal): Promise<Transport> {
    checked ??= checkGit(signal);
    await checked.catch((error: unknown) => {
      checked = null;
      throw error;
    });
    const { credential } = remote;
    return createTransport({
      location,
      credential,
      searchPath,
      timeLimit,
      lookup,
      knownHosts,
      proxies,
      certificates: sharesCertificates ? await (certificates ??= writeCertificates(folder)) : null,
      moved,
      advertised,
      limitedUntil,
      signal,
    });
  }

  /** Starts a call. Checks the address first. */
  function begin(remote: Remote, signal: AbortSignal | undefined): RemoteCall & { location: Location } {
    const location = parseLocation(remote.url, options);
    const late = new AbortController();
    setTimeout(() => late.abort(tooSlow(location.url, timeLimit)), 1000 * timeLimit).unref();
    const ends = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    return { location, signal: ends, connect: () => connect(location, remote, ends) };
  }

  /** Starts a call that needs objects, from the mirror or else from the remote. */
  function beginIn(remote: Remote, signal: AbortSignal | undefined): Bringing {
    const call = begin(remote, signal);
    const { url } = call.location;
    const { ref } = remote;
    if (!isRefName(ref)) throw malformed(forbiddenRef(ref));
    return { repository: url, mirror: createMirror(url, mirrors), call };
  }

  function open(remote: Remote, { repository, mirror }: Bringing, target: FetchTarget, signal?: AbortSignal) {
    return openCommitSnapshot({ repository, target, mirror, limits, searchPath, begin: () => begin(remote, signal) });
  }

  return {
    async tip(remote, signal) {
      const { ref } = remote;
      const call = begin(remote, signal);
      if (!isRefName(ref)) return { found: false, detail: forbiddenRef(ref) };
      return askTip(await call.connect(), folder, ref);
    },

    async tags(remote, signal) {
      return askTags(await begin(remote, signal).connect(), folder);
    },

    async snapshot(remote, commit, signal) {
      assertId(commit);
      return open(remote, beginIn(remote, signal), { commit, ref: remote.ref }, signal);
    },

    async history(remote, commit, max, signal) {
      assertId(commit);
      return bringHistory(beginIn(remote, signal), { commit, ref: remote.ref }, { searchPath, max });
    },

    async bring(remote, commits, signal) {
      commits.forEach(assertId);
      await bringCommits(beginIn(remote, signal), commits, remote.ref);
    },

    async bringBlobs(remote, commit, blobs, signal) {
      [commit, ...blobs].forEach(assertId);
      await bringBlobs(beginIn(remote, signal), blobs, { commit, ref: remote.ref });
    },

    async merge(remote, commit, head, signal) {
      [commit, head.commit].forEach(assertId);
      if (!isRefName(head.ref)) throw malformed(forbiddenRef(head.ref));
      const bringing = beginIn(remote, signal);
      const opened = (target: FetchTarget) => open(remote, bringing, target, signal);
      return mergeCommits(bringing, { commit, ref: remote.ref }, head, { mirrors, limits, open: opened });
    },

    async ancestry(remote, commit, ancestor, signal) {
      assertId(commit);
      assertId(ancestor);
      const { call, mirror } = beginIn(remote, signal);
      const parentsOf = (id: string) => knownParents(mirror, id, call.signal);
      if (commit === ancestor || (await parentsOf(commit)).includes(ancestor)) return 'descendant';
      const start = { id: ancestor, parents: await parentsOf(ancestor) };
      return traceAncestry(await call.connect(), { commit, ref: remote.ref }, start, mirrors);
    },

    watchable(remote) {
      const location = parseLocation(remote.url, options);
      return location.kind === 'local' ? gitDirectory(location.url) : null;
    },
  };
}

const isId = /^[0-9a-f]{40}$/;

function assertId(id: string): void {
  if (!isId.test(id)) {
    throw malformed('The id of a commit or blob must be 40 hexadecimal digits.');
  }
}

function tooSlow(url: string, seconds: number): RegistryError {
  return unreachable(`${url} did not answer within ${seconds} seconds. Stele retries later.`);
}

/** Asks a remote for the commit of a ref. `folder` is the working directory of git. */
async function askTip(transport: Transport, folder: string, ref: string): Promise<Tip> {
  const { location, hasCredential } = transport;
  const quick = (await transport.refs(ref))?.find((one) => one.ref === ref);
  const id = quick?.peeled ?? quick?.oid ?? '';
  if (isId.test(id)) return { found: true, commit: id, ...branchOf(quick?.target) };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { ok, stdout } = await transport.run({
    folder,
    args: (url) => ['ls-remote', '--quiet', ...(ref === 'HEAD' ? ['--symref'] : []), '--', url, ref, `${ref}^{}`],
    expects: (stderr) => isNoRepository(stderr, location),
  });
  if (!ok) return { found: false, detail: noRepository(location.url, hasCredential) };
  const output = stdout.toString();
  const commit = parseTip(output, ref);
  if (commit !== null) return { found: true, commit, ...branchOf(/^ref: (.+)\tHEAD$/m.exec(output)?.[1]) };
  if (!(await transport.isGit(folder))) throw notGit(location.url);
  return { found: false, detail: `${location.url} has ${describe(ref)}.` };
}

/** The branch that a symbolic ref leads to. */
function branchOf(target: string | undefined): { branch?: string } {
  return target?.startsWith('refs/heads/') ? { branch: target.slice('refs/heads/'.length) } : {};
}

async function askTags(transport: Transport, folder: string): Promise<Tag[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { stdout } = await transport.run({ folder, args: (url) => ['ls-remote', '--quiet', '--tags', '--', url] });
  return parseTags(stdout.toString());
}

/** The message for a name that fails `isRefName`. */
function forbiddenRef(ref: string): string {
  const name = JSON.stringify(ref.replace(/^refs\/heads\//, '').slice(0, 200));
  return `${name} is not a valid ${ref.startsWith('refs/heads/') ? 'branch' : 'ref'} name.`;
}

function describe(ref: string): string {
  if (ref === 'HEAD') return 'no commits on its default branch';
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (kind === undefined) return `no ref ${JSON.stringify(ref)}`;
  return `no ${kind === 'heads' ? 'branch' : 'tag'} ${JSON.stringify(name)}`;
}

/**
 * Parses the line of `git ls-remote` for exactly this ref, because patterns also match longer names
 * with the same end. An annotated tag has two lines (see `parseTags`).
 */
function parseTip(output: string, ref: string): string | null {
  const ids = new Map(output.split('\n').flatMap((line) => parseLine(line)));
  return ids.get(`${ref}^{}`) ?? ids.get(ref) ?? null;
}

/** Parses `git ls-remote --tags`. An annotated tag has two lines: its own object, and the commit's with `^{}`. */
function parseTags(output: string): Tag[] {
  const commits = new Map<string, string>();
  for (const [ref, commit] of output.split('\n').flatMap((line) => parseLine(line))) {
    const match = /^refs\/tags\/(.+?)(\^\{\})?$/s.exec(ref);
    if (match && (match[2] !== undefined || !commits.has(match[1]!))) commits.set(match[1]!, commit);
  }
  return [...commits].map(([name, commit]) => ({ name, commit })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function parseLine(line: string): [ref: string, commit: string][] {
  const match = /^([0-9a-f]{40})\t(.+)$/s.exec(line);
  return match ? [[match[2]!, match[1]!]] : [];
}

/**
 * Writes the certificates that this process trusts, and those of the system, to a file for git. Returns its path.
 * Git takes one file only, so a private authority alone would make it distrust all others.
 */
async function writeCertificates(folder: string): Promise<string> {
  const all = new Set([...getCACertificates('default'), ...getCACertificates('system')]);
  const path = join(folder, 'certificates.pem');
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, [...all].join('\n'), { mode: 0o600 });
  await rename(draft, path);
  return path;
}
