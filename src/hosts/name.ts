/** `owner/name`, or longer with nested groups. Lower case, because hosts ignore case. */
const name = /^[a-z0-9_.-]+(?:\/[a-z0-9_.-]+)+$/;

/** The text as a repository name, or null when it is invalid. */
export function asRepositoryName(text: string): string | null {
  const lower = text.toLowerCase();
  const isName = text.length <= 500 && name.test(lower) && !lower.split('/').some((part) => /^\.{1,2}$/.test(part));
  return isName ? lower : null;
}

/**
 * The repository name in a URL (https, ssh, `git@host:path`) of the host at `base`, or null for
 * another host. `isNested`: the host allows nested groups; otherwise a name is always `owner/name`.
 */
export function nameOn(base: string, url: string, isNested: boolean): string | null {
  const host = new URL(base);
  // ssh.github.com, altssh.gitlab.com and altssh.bitbucket.org serve ssh on port 443.
  const isSshHost = (text: string) =>
    ['', 'ssh.', 'altssh.'].some((alias) => alias + host.hostname === text.toLowerCase());
  const scp = url.includes('://') ? null : /^(?:[^@:/\s]+@)?([^@:/\s]+):(.+)$/.exec(url);
  if (scp) return isSshHost(scp[1]!) ? nameIn(scp[2]!, isNested) : null;
  const parsed = URL.parse(url);
  if (parsed === null) return null;
  const isWeb = parsed.protocol === 'https:' || parsed.protocol === 'http:';
  const isHere = isWeb ? parsed.host === host.host : parsed.protocol === 'ssh:' && isSshHost(parsed.hostname);
  return isHere ? nameIn(parsed.pathname, isNested) : null;
}

function nameIn(path: string, isNested: boolean): string | null {
  const found = asRepositoryName(
    path
      .replace(/^\//, '')
      .replace(/\/$/, '')
      .replace(/\.git$/i, ''),
  );
  return found !== null && (isNested || found.split('/').length === 2) ? found : null;
}
