import { mkdir } from 'node:fs/promises';
import { RegistryError } from '../model/errors.ts';
import { traceAncestry } from './ancestry.ts';
import { isRefName } from './branch.ts';
import { runGit } from './command.ts';
import { openCommitSnapshot, type Call, type SnapshotLimits } from './commit-snapshot.ts';
import { lookup as systemLookup, type Lookup } from './host.ts';
import { gitDirectory } from './local.ts';
import { parseLocation, type Location, type Reach } from './location.ts';
import { createMirror } from './mirror-repository.ts';
import type { Remote, Source, Tag } from './source.ts';
import { createTransport, type Transport } from './transport.ts';

export interface SourceOptions extends Reach {
  /** The cache folder. Whatever is in it can be deleted at any time. */
  folder: string;
  /** Seconds that one call may wait for the network. */
  timeLimit: number;
  /** Bytes that may be fetched of one repository. */
  sizeLimit: number;
  limits: SnapshotLimits;
  /** Where git and ssh are looked for, as `PATH` takes it. Default: the usual folders of a Unix system. */
  searchPath?: string;
  /** File of the ssh host keys to believe. Default: the user's own and the system's. */
  knownHosts?: string;
  /** Default: the system's resolver. */
  lookup?: Lookup;
}

const usualFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/** Opens the git repositories elsewhere that the options allow, with mirrors of them in the cache folder. */
export function openSource(options: SourceOptions): Source {
  const { folder, timeLimit, sizeLimit, limits, searchPath = usualFolders, lookup = systemLookup } = options;
  const knownHosts = options.knownHosts ?? null;

  const moved = new Map<string, string>();
  let checked: Promise<void> | null = null;

  /** Once: older versions of git ignore the address that a host was resolved to. */
  async function checkGit(signal: AbortSignal): Promise<void> {
    await mkdir(folder, { recursive: true });
    const { stdout } = await runGit({ args: ['version'], folder, protocols: 'none', searchPath, signal });
    const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(stdout.toString()) ?? [];
    if (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 37)) return;
    throw new RegistryError('unavailable', `git 2.37 or newer is needed; here is ${stdout.toString().trim()}.`);
  }

  async function connect(location: Location, remote: Remote, signal: AbortSignal): Promise<Transport> {
    checked ??= checkGit(signal);
    await checked.catch((error: unknown) => {
      checked = null;
      throw error;
    });
    const { credential } = remote;
    return createTransport({ location, credential, searchPath, timeLimit, lookup, knownHosts, moved, signal });
  }

  /** Checks the address first, so that nothing happens for one that is not allowed. */
  function begin(remote: Remote, signal: AbortSignal | undefined): Call & { location: Location } {
    const location = parseLocation(remote.url, options);
    const late = new AbortController();
    setTimeout(() => late.abort(tooSlow(location.url, timeLimit)), 1000 * timeLimit).unref();
    const ends = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    return { location, signal: ends, connect: () => connect(location, remote, ends) };
  }

  return {
    async tip(remote, signal) {
      const { ref } = remote;
      const call = begin(remote, signal);
      const name = ref.replace(/^refs\/heads\//, '');
      if (!isRefName(ref)) return { found: false, detail: `${JSON.stringify(name)} cannot be the name of a branch.` };
      const transport = await call.connect();
      const { stdout } = await transport.run({ folder, args: (url) => ['ls-remote', '--quiet', '--', url, ref] });
      const commit = parseTip(stdout.toString(), ref);
      if (commit !== null) return { found: true, commit };
      const what = ref === 'HEAD' ? 'no commits on its default branch' : `no branch ${JSON.stringify(name)}`;
      return { found: false, detail: `${call.location.url} has ${what}.` };
    },

    async tags(remote, signal) {
      const call = begin(remote, signal);
      const transport = await call.connect();
      await mkdir(folder, { recursive: true });
      const { stdout } = await transport.run({ folder, args: (url) => ['ls-remote', '--quiet', '--tags', '--', url] });
      return parseTags(stdout.toString());
    },

    async snapshot(remote, commit, signal) {
      assertCommit(commit);
      const { location } = begin(remote, signal);
      return openCommitSnapshot({
        repository: location.url,
        target: { commit, ref: remote.ref },
        mirror: createMirror(location.url, { folder, searchPath, timeLimit, sizeLimit }),
        limits,
        begin: () => begin(remote, signal),
      });
    },

    async history() {
      throw new Error('The history of a repository cannot be read yet.');
    },

    async bring(remote, commits, signal) {
      for (const commit of commits) await this.snapshot(remote, commit, signal);
    },

    async bringBlobs(remote, commit, blobs, signal) {
      assertCommit(commit);
      const call = begin(remote, signal);
      const mirror = createMirror(call.location.url, { folder, searchPath, timeLimit, sizeLimit });
      await mirror.fetchBlobs(await call.connect(), blobs, { commit, ref: remote.ref });
    },

    async ancestry(remote, commit, ancestor, signal) {
      assertCommit(commit);
      assertCommit(ancestor);
      if (commit === ancestor) return 'descendant';
      const transport = await begin(remote, signal).connect();
      const target = { commit, ref: remote.ref };
      return traceAncestry(transport, target, ancestor, { folder, searchPath, timeLimit, sizeLimit });
    },

    watchable(remote) {
      const location = parseLocation(remote.url, options);
      return location.kind === 'local' ? gitDirectory(location.url) : null;
    },
  };
}

/** Reads the line of `git ls-remote` for exactly this ref; patterns also match longer names that end alike. */
function parseTip(output: string, ref: string): string | null {
  for (const line of output.split('\n')) {
    const [commit, name] = line.split('\t');
    if (name === ref && commit !== undefined && /^[0-9a-f]{40}$/.test(commit)) return commit;
  }
  return null;
}

/** Reads the lines of `git ls-remote --tags`. An annotated tag has two: its own object's, and, with `^{}`, the commit's. */
function parseTags(output: string): Tag[] {
  const commits = new Map<string, string>();
  for (const line of output.split('\n')) {
    const match = /^([0-9a-f]{40})\trefs\/tags\/(.+?)(\^\{\})?$/.exec(line);
    if (match && (match[3] !== undefined || !commits.has(match[2]!))) commits.set(match[2]!, match[1]!);
  }
  return [...commits].map(([name, commit]) => ({ name, commit })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function assertCommit(commit: string): void {
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    throw new RegistryError('malformed', 'A commit is named by the 40 hexadecimal digits of its id.');
  }
}

function tooSlow(url: string, seconds: number): RegistryError {
  return new RegistryError('unreachable', `${url} did not answer within ${seconds} seconds; it is tried again later.`);
}
