/** Pages of a git host that show one commit, and files of it. */
export interface CommitLinks {
  repository: string;
  commit: string;
  /** The page of a file, at a line. */
  file(path: string, line?: number): string;
}

/** Where the well-known hosts show a commit and a file of it. */
const hosts: Readonly<Record<string, { commit: string; file: string }>> = {
  'github.com': { commit: '/commit/', file: '/blob/' },
  'gitlab.com': { commit: '/-/commit/', file: '/-/blob/' },
  'bitbucket.org': { commit: '/commits/', file: '/src/' },
  'codeberg.org': { commit: '/commit/', file: '/src/commit/' },
};

/** The pages of a commit where its repository is on a host that is known to have them; null for all others. */
export function commitLinks(repository: string | null, commit: string | null): CommitLinks | null {
  const url = repository === null ? null : URL.parse(repository);
  if (url === null || commit === null || url.protocol !== 'https:' || url.username !== '' || url.port !== '')
    return null;
  const host = Object.hasOwn(hosts, url.hostname) ? hosts[url.hostname]! : null;
  if (host === null || !/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const base = `${url.origin}${url.pathname.replace(/\/$/, '').replace(/\.git$/, '')}`;
  return {
    repository: base,
    commit: `${base}${host.commit}${commit}`,
    file(path, line) {
      const name = path.split('/').map(encodeURIComponent).join('/');
      // Bitbucket has its own form for lines.
      const place = line === undefined ? '' : url.hostname === 'bitbucket.org' ? `#lines-${line}` : `#L${line}`;
      return `${base}${host.file}${commit}/${name}${place}`;
    },
  };
}
