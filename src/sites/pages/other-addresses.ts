import { pageAt, routeOf } from '../model/page-path.ts';
import { findPage, type GrantedSite } from '../registry/read-site.ts';
import { followRedirects, redirectAnchor } from '../registry/check-site.ts';

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
