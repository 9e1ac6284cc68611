import { everywhereKey } from '../../model/cache-key.ts';
import { Router } from 'express';
import { anonymous } from '../../model/access.ts';
import { isResourceType, isSlug, type ResourceType } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { nameOf } from '../../model/resource.ts';
import { createSearch } from '../../search/search.ts';
import { searchIndexText } from '../../site/search-index-file.ts';
import { searchPage } from '../../site/pages/search-page.ts';
import { searchResult } from '../../site/pages/search-results.ts';
import type { Site } from '../../site/site.ts';
import { principalOf } from '../authenticate.ts';
import type { Fields } from '../headers.ts';
import { sharing } from './lifetime.ts';
import { onlyGet } from '../methods.ts';
import { prefersPage } from './negotiate.ts';
import { pageOf } from './paging.ts';
import type { ReadLimit } from './read-limit.ts';
import { splitTarget } from './read-request.ts';
import { bytesOf, pageSharing, sendPage, type PageBytes } from '../send-page.ts';
import { sendJson } from './views.ts';

/** Longest query, in characters. */
const longestQuery = 200;

/** Milliseconds to wait for the public index. */
const indexPatience = 10_000;

/**
 * `/search` as JSON or as a page, and `/search/index.json`: the public index, for browsers to
 * search in a static build.
 */
export function createSearchRoutes(site: Site, limit: ReadLimit | null): Router {
  const { registry, links } = site;
  const search = createSearch(registry);
  let kept: { revision: number; page: PageBytes } | null = null;

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/search', async (request, response) => {
    limit?.(request, response);
    const principal = principalOf(request);
    const isPublic = principal.kind === 'anonymous';
    const { query } = splitTarget(request.url);
    const asked = readQuery(query);
    const isPage = !asked.hasFormat && prefersPage(request.headers.accept);
    const found = await search.find(principal, asked, (all) =>
      isPage && asked.text === ''
        ? { items: [], next: null }
        : pageOf(all, query, ({ indexed }) => nameOf(indexed.coordinate)),
    );
    if (isPage) {
      const headers = whenComplete(found, pageSharing(registry.config, { isPublic, by: 'reader' }));
      return sendPage({ request, response }, registry.cache, bytesOf(searchPage(site, { ...asked, ...found })), {
        headers,
      });
    }
    const items = found.items.map((each) => searchResult(site, each, { isWhole: true }));
    // Results differ by reader, so caches must not share them.
    const shared = sharing(registry.config, isPublic ? 'public' : 'private', 'latest', { by: 'reader' });
    await sendJson({ request, response, query }, { ...found, items }, whenComplete(found, shared));
  });
  router.get('/search/index.json', async (request, response) => {
    limit?.(request, response);
    const { entries, revision } = await inTime(search.all(anonymous));
    if (kept?.revision !== revision) kept = { revision, page: bytesOf(searchIndexText({ links }, entries)) };
    const headers = sharing(registry.config, 'public', 'latest', { keys: [everywhereKey] });
    await sendPage({ request, response }, registry.cache, kept.page, { mediaType: 'application/json', headers });
  });
  router.all(['/search', '/search/index.json'], onlyGet);
  return router;
}

/** No cache keeps a response while the index is still being built. */
function whenComplete({ complete }: { complete: boolean }, headers: Fields): Fields {
  return complete ? headers : { ...headers, 'Cache-Control': 'no-store' };
}

/** The result, or `unavailable` if it takes too long. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(
      new RegistryError('unavailable', 'The search index is not ready yet. Retry later.', { retryAfter: 10 }),
    );
  }, indexPatience);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** The search parameters. Throws `malformed` if they are invalid. */
function readQuery(query: string): { text: string; type: ResourceType | null; org: string | null; hasFormat: boolean } {
  const parameters = new URLSearchParams(query);
  const one = (name: string): string | null => {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw new RegistryError('malformed', `The parameter ${name} may be given only once.`);
    return value === undefined || value === '' ? null : value;
  };
  const text = (one('q') ?? '').trim();
  if (text.length > longestQuery)
    throw new RegistryError('malformed', `The parameter q may have at most ${longestQuery} characters.`);
  const type = one('type');
  if (type !== null && !isResourceType(type))
    throw new RegistryError('malformed', 'The parameter type must be apis, schemas or rulesets.');
  const org = one('org');
  if (org !== null && !isSlug(org))
    throw new RegistryError('malformed', 'The parameter org must be an organization name.');
  return { text, type, org, hasFormat: parameters.has('format') };
}
