import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config.ts';
import type { SiteName } from '../model/documentation-site.ts';

/** The documentation site that has a host name of its own, by what `Host` says; null: the registry. */
export type SiteAt = (host: string | undefined) => SiteName | null;

/** Null if no site has a host name of its own. */
export function createSiteAt({ sites }: Pick<Config, 'sites'>): SiteAt | null {
  const byName = new Map(Object.entries(sites.hosts));
  if (byName.size === 0) return null;
  return (host = '') => byName.get(host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')) ?? null;
}

/**
 * The host that a request names: that of a target with scheme and host, which wins over `Host` (RFC
 * 9112 §3.2.2). `X-Forwarded-Host` does not count: caches in front know a request by its `Host`, so
 * a field that clients can send besides must not choose between two sites.
 */
export function hostOf({ url, headers }: IncomingMessage): string | undefined {
  return /^https?:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(url!)?.[1] ?? headers.host;
}
