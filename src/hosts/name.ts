/** `owner/name`, or longer with nested groups. Lower case, because hosts ignore case. */
const repositoryName = /^[a-z0-9_.-]+(?:\/[a-z0-9_.-]+)+$/;

/** The text as a repository name, or null when it is invalid. */
export function asRepositoryName(text: string): string | null {
  const lower = text.toLowerCase();
  const isName =
    text.length <= 500 && repositoryName.test(lower) && !lower.split('/').some((part) => /^\.{1,2}$/.test(part));
  return isName ? lower : null;
}

/**
 * The repository name in a URL (https, ssh, `git@host:path`) of the host at `base`, or null for
 * another host. `isNested`: the host allows nested groups; otherwise a name is always `owner/name`.
 */
export function nameOn(base: string, url: string, isNested: boolean): string | null {
  const full = asRepositoryName(pathOn(base, url)?.path ?? '');
  return full !== null && (isNested || full.split('/').length === 2) ? full : null;
}

/**
 * The path of a repository in its URL (https, ssh, `git@host:path`), without the path of `base`,
 * slashes at the ends and `.git`. Null for a URL of another host. `isWeb`: the URL is for https.
 */
export function pathOn(base: string, url: string): { path: string; isWeb: boolean } | null {
  const host = new URL(base);
  // ssh.github.com, altssh.gitlab.com and altssh.bitbucket.org serve ssh on port 443.
  const isSshHost = (text: string) =>
    ['', 'ssh.', 'altssh.'].some((alias) => alias + host.hostname === text.toLowerCase());
  const scp = url.includes('://') ? null : /^(?:[^@:/\s]+@)?([^@:/\s]+):(.+)$/.exec(url);
  if (scp) return isSshHost(scp[1]!) ? { path: trim(scp[2]!), isWeb: false } : null;
  const parsed = URL.parse(url);
  if (parsed === null) return null;
  if (parsed.protocol === 'ssh:')
    return isSshHost(parsed.hostname) ? { path: trim(parsed.pathname), isWeb: false } : null;
  const folder = host.pathname.replace(/\/$/, '');
  const isWeb = parsed.protocol === 'https:' || parsed.protocol === 'http:';
  if (!isWeb || parsed.host !== host.host || !parsed.pathname.startsWith(`${folder}/`)) return null;
  return { path: trim(parsed.pathname.slice(folder.length)), isWeb };
}

function trim(path: string): string {
  return path
    .replace(/^\//, '')
    .replace(/\/$/, '')
    .replace(/\.git$/i, '');
}
