/** The pages of a git host for one commit and its files. */
export interface CommitLinks {
  repository: string;
  commit: string;
  /** The page of a file, at a line number. */
  file(path: string, line?: number): string;
  /** The page of a file as it is now on a branch, where people change it. */
  latest(path: string, branch: string): string;
  /** The form for a new issue, with its title filled in. */
  issue(title: string): string;
}

/** The URL patterns of well-known hosts. */
const hosts: Readonly<Record<string, { commit: string; file: string; issue: string }>> = {
  'github.com': { commit: '/commit/', file: '/blob/', issue: '/issues/new?title=' },
  'gitlab.com': { commit: '/-/commit/', file: '/-/blob/', issue: '/-/issues/new?issue%5Btitle%5D=' },
  'bitbucket.org': { commit: '/commits/', file: '/src/', issue: '/issues/new?title=' },
  'codeberg.org': { commit: '/commit/', file: '/src/commit/', issue: '/issues/new?title=' },
};

/** Returns the pages of a commit, or null if the host is not known. */
export function commitLinks(repository: string | null, commit: string | null): CommitLinks | null {
  const url = repository === null ? null : URL.parse(repository);
  if (url === null || commit === null || url.protocol !== 'https:' || url.username !== '' || url.port !== '')
    return null;
  const host = Object.hasOwn(hosts, url.hostname) ? hosts[url.hostname]! : null;
  if (host === null || !/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const base = `${url.origin}${url.pathname.replace(/\/$/, '').replace(/\.git$/, '')}`;
  const nameOf = (path: string) => path.split('/').map(encodeURIComponent).join('/');
  return {
    repository: base,
    commit: `${base}${host.commit}${commit}`,
    file(path, line) {
      // Bitbucket has its own anchor format for lines.
      const place = line === undefined ? '' : url.hostname === 'bitbucket.org' ? `#lines-${line}` : `#L${line}`;
      return `${base}${host.file}${commit}/${nameOf(path)}${place}`;
    },
    latest: (path, branch) => `${base}${host.file.replace('/commit/', '/branch/')}${nameOf(branch)}/${nameOf(path)}`,
    issue: (title) => `${base}${host.issue}${encodeURIComponent(title)}`,
  };
}
