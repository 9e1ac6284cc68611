import { coordinateOf, nameOf, type Resource } from '../model/resource.ts';
import type { View } from '../model/address.ts';
import type { GrantedVersion } from '../registry/read.ts';
import { statusHeaders, versionLinks } from '../site/links.ts';
import { resourceMarkdown } from '../site/resource-markdown.ts';
import { resourcePage } from '../site/resource-page.ts';
import type { Site } from '../site/site.ts';
import { tryPage } from '../site/try-page.ts';
import { codedPage, worthKeeping } from './page-bytes.ts';
import type { ReadRequest } from './read-request.ts';
import { bytesOf, pageSharing, sendPage, type PageBytes } from './send-page.ts';

/** Sends what people read of a version: its page, the page in Markdown, the page for trying it. */
export type SendResourcePage = (
  read: ReadRequest,
  granted: GrantedVersion,
  view: 'page' | 'markdown' | 'try',
) => Promise<void>;

/** Pages whose digests are kept. */
const pagesKept = 500;

/**
 * The sender of pages. What a page came to is kept as long as the resource is as it was: a changed resource is another object, and nothing else
 * goes into a page but the version's own bytes. A ruleset's page tells who uses it, and is made each time.
 */
export function createSendResourcePage(site: Site): SendResourcePage {
  const { cache, config } = site.registry;
  const kept = new Map<string, { resource: Resource; page: Promise<PageBytes> }>();

  function make(granted: GrantedVersion, view: View, read: ReadRequest): Promise<string> {
    return view === 'page' ? resourcePage(site, granted, read.principal) : resourceMarkdown(site, granted);
  }

  /** Makes a page. Small bytes stay at hand, large ones as long as the cache has them. */
  async function makeKept(granted: GrantedVersion, view: View, read: ReadRequest): Promise<PageBytes> {
    const first = bytesOf(await make(granted, view, read));
    if (first.size < worthKeeping) return first;
    await codedPage(cache, first, 'identity', first.open);
    const again = async () => Buffer.from(await make(granted, view, read));
    const { digest, size } = first;
    return { digest, size, open: () => codedPage(cache, { digest, size }, 'identity', again) };
  }

  function pageOf(granted: GrantedVersion, view: View, read: ReadRequest): Promise<PageBytes> {
    const { resource, version } = granted;
    const name = `${nameOf(resource)}@${version.label} ${view}`;
    const known = kept.get(name);
    if (known?.resource === resource) return known.page;
    const page = makeKept(granted, view, read);
    kept.delete(name);
    if (kept.size >= pagesKept) kept.delete(kept.keys().next().value!);
    kept.set(name, { resource, page });
    page.catch(() => void (kept.get(name)?.page === page && kept.delete(name)));
    return page;
  }

  return async (read, granted, view) => {
    const { resource, version } = granted;
    const isPublic = resource.visibility === 'public';
    const coordinate = coordinateOf(resource);
    const about = ['Link', versionLinks(site.links, resource, version), ...statusHeaders(version)];
    if (view === 'try') {
      const { html, servers } = await tryPage(site, granted);
      const headers = [...about, ...pageSharing(config, { isPublic, connect: servers })];
      return sendPage(read, cache, bytesOf(html), { headers });
    }
    const isReaders = view === 'page' && resource.type === 'rulesets';
    const isForAll = isPublic && (!isReaders || read.principal.kind === 'anonymous');
    const page = isReaders ? bytesOf(await make(granted, view, read)) : await pageOf(granted, view, read);
    const where = site.links.to(coordinate, { label: version.label, view });
    const sharing = pageSharing(config, { isPublic: isForAll, by: isReaders ? 'reader' : 'everyone' });
    const mediaType = view === 'markdown' ? { mediaType: 'text/markdown; charset=utf-8' } : {};
    return sendPage(read, cache, page, { headers: ['Content-Location', where, ...about, ...sharing], ...mediaType });
  };
}
