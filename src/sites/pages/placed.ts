import type { Principal } from '../../model/access.ts';
import { siteAddress, type SiteName } from '../model/documentation-site.ts';
import type { Site } from '../../site/site.ts';
import { pageAt, routeOf } from '../model/page-path.ts';
import { findPage, type GrantedSite } from '../registry/read-site.ts';
import { followRedirects, redirectAnchor } from '../registry/check-site.ts';

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

/** A documentation site as somebody reads it. */
export interface SiteView {
  site: Site;
  granted: GrantedSite;
  placed: Placed;
  reader: Principal;
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

/**
 * Where a path that is not the address of a page leads: by a redirect of the site, or to a page
 * written another way, such as `guide/index.html`. Null: nowhere.
 */
export function otherAddress(granted: GrantedSite, path: string): string | null {
  const { redirects } = granted.contents.settings;
  const stem = path.replace(/\.html$/, '').replace(/(^|\/)index$/, '$1');
  for (const each of [stem, stem.replace(/\/$/, ''), `${stem}/`]) {
    const page = pageAt(each);
    const goal = findPage(granted, page) ? page : followRedirects(redirects, page);
    if (goal === null || findPage(granted, goal) === null) continue;
    const route = routeOf(goal);
    const hash = redirectAnchor(redirects, page);
    if (route !== path) return hash === undefined ? route : `${route}#${encodeURIComponent(hash)}`;
  }
  return null;
}

/** All such paths, each with where it leads. */
export function otherAddresses(granted: GrantedSite): [from: string, to: string][] {
  const { pages, settings } = granted.contents;
  const stems = [...Object.keys(pages).map(routeOf), ...Object.keys(settings.redirects)];
  const paths = stems.flatMap((stem) => {
    const bare = stem.replace(/\/$/, '');
    const folder = bare === '' ? '' : `${bare}/`;
    const ownWay = stem.endsWith('.html') || bare === '' ? [] : [`${bare}.html`];
    return [stem, bare, folder, ...ownWay, `${folder}index`, `${folder}index.html`];
  });
  return [...new Set(paths)].flatMap((path): [string, string][] => {
    const isPage = findPage(granted, pageAt(path)) !== null && routeOf(pageAt(path)) === path;
    const to = path === '' || isPage ? null : otherAddress(granted, path);
    return to === null ? [] : [[path, to]];
  });
}
