import type { Principal } from '../../model/access.ts';
import type { Resource } from '../../model/resource.ts';
import type { DocumentationSite } from '../../model/sites/documentation-site.ts';
import type { PageBytes } from '../send-page.ts';

/** Returns the page of a list of resources and sites, as it was made before if everybody sees it and nothing changed. */
export type KeptPages = (
  principal: Principal,
  resources: readonly Resource[],
  sites: readonly DocumentationSite[],
  make: () => PageBytes,
) => PageBytes;

/** Creates pages that are kept with the list that they show: `listReadable` returns the same array until something changes. */
export function createKeptPages(): KeptPages {
  const kept = new WeakMap<readonly Resource[], { sites: readonly DocumentationSite[]; page: PageBytes }>();
  return (principal, resources, sites, make) => {
    const known = kept.get(resources);
    if (known !== undefined && isSame(known.sites, sites)) return known.page;
    const page = make();
    if (principal.kind === 'anonymous') kept.set(resources, { sites, page });
    return page;
  };
}

function isSame(a: readonly DocumentationSite[], b: readonly DocumentationSite[]): boolean {
  return a.length === b.length && a.every((site, index) => site === b[index]);
}
