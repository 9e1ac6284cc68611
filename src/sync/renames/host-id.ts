import type { FoundRepository, Host } from '../../hosts/host.ts';
import type { Repository } from '../../model/connection.ts';

/** `Repository.hostId` of what a host found; undefined where it did not say. */
export function hostIdOf(host: Host, { id }: { id?: string | null }): string | undefined {
  return id === null || id === undefined ? undefined : `${host.name}:${id}`;
}

/** The id of a followed repository as this host takes it; null if it is not known, or of another host. */
export function idOn(host: Host, { hostId }: Pick<Repository, 'hostId'>): string | null {
  const start = `${host.name}:`;
  return hostId?.startsWith(start) ? hostId.slice(start.length) : null;
}

/** Whether both names are of repositories of one owner. */
export function isSameOwner(one: string, other: string): boolean {
  const ownerOf = (name: string) => name.slice(0, name.lastIndexOf('/'));
  return ownerOf(one) === ownerOf(other);
}

/**
 * The URL of a followed repository under the name that it has now: by ssh if it is followed by ssh,
 * and with `.git` if it has that. Null when it cannot be made.
 */
export function renamedUrl(host: Host, url: string, listed: FoundRepository): string | null {
  const name = host.nameOf(url);
  if (/^https?:/i.test(url)) return /\.git\/?$/i.test(url) ? listed.url : listed.url.replace(/\.git$/, '');
  const at = name === null ? -1 : url.toLowerCase().lastIndexOf(name);
  if (at < 0) return null;
  const renamed = url.slice(0, at) + listed.name + url.slice(at + name!.length);
  return host.nameOf(renamed) === listed.name ? renamed : null;
}
