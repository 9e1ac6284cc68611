import { openPages, type FoundPage, type SiteIndex } from '../../search/ranking/pages.js';
import { siteIndex } from '../../search/site-index.ts';
import type { Registry } from '../../registry/registry.ts';
import type { DeploymentContents } from '../model/deployment.ts';
import type { GrantedSite } from '../registry/read-site.ts';
import { versionFolder } from './site-navigation.ts';

const opened = new WeakMap<DeploymentContents, ReturnType<typeof openPages>>();
const maxResults = 30;

/** The pages that fit a query, best first: those of the version in `folder`, or those of no version. */
export async function searchSite(
  registry: Registry,
  granted: GrantedSite,
  query: string,
  folder: string,
): Promise<FoundPage[]> {
  let search = opened.get(granted.contents);
  if (search === undefined) {
    search = openPages(JSON.parse(await siteIndex(registry, granted)) as SiteIndex);
    opened.set(granted.contents, search);
  }
  return search(query, maxResults, (route) => versionFolder(granted.contents, route) === folder);
}
