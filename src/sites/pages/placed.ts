import { siteAddress, type SiteName } from '../model/documentation-site.ts';
import type { Site } from '../../site/site.ts';

/** Where a documentation site is served. */
export interface Placed {
  /** Its paths begin with this. */
  base: string;
  /** The whole address by which others know it, with a slash at its end. */
  url: string;
  /** Whether the registry is at another host, so that links to it must be whole. */
  isElsewhere: boolean;
  /** Set for a preview: when it expires. */
  expires?: { iso: string; text: string };
}

type Place = Pick<Site, 'registry' | 'links' | 'url'>;

/** The site below the registry's address. */
export function placeInRegistry(site: Place, name: SiteName): Placed {
  const base = site.links.path(`${siteAddress(name)}/`);
  return { base, url: addressAtHost(site, name) ?? site.links.whole(base), isElsewhere: false };
}

/** The site at a host name of its own. */
export function placeAtHost(site: Place, name: SiteName): Placed {
  return { base: '/', url: addressAtHost(site, name)!, isElsewhere: true };
}

/** The address at the first host name that the configuration gives the site. Null: it has none. */
function addressAtHost({ registry, url }: Pick<Place, 'registry' | 'url'>, { org, slug }: SiteName): string | null {
  const placed = Object.entries(registry.config.sites.hosts).find(([, site]) => site.org === org && site.slug === slug);
  if (placed === undefined) return null;
  const { protocol, port } = new URL(url);
  return `${protocol}//${placed[0]}${port === '' ? '' : `:${port}`}/`;
}

/** A link to a path of the registry. */
export function registryLink({ links }: Pick<Site, 'links'>, { isElsewhere }: Placed, path: string): string {
  return isElsewhere ? links.whole(path) : path;
}
