import { everywhereKey } from '../../model/cache-key.ts';
import type { IRouter } from 'express';
import { LRUCache } from 'lru-cache';
import { anonymous } from '../../model/access.ts';
import { formatCoordinate, isResourceType, isSlug, parseCoordinate, type Coordinate } from '../../model/address.ts';
import { malformed, unavailable } from '../../model/errors.ts';
import { within } from '../../scheduling/waiting.ts';
import type { Found, Search, SearchRequest } from '../../search/search.ts';
import { searchShards, type SearchShards } from '../../site/search-shards.ts';
import { searchPage, searchResult, suggestionsOf } from '../../site/pages/search-page.ts';
import type { Docs } from '../../site/docs/docs-page.ts';
import type { Site } from '../../site/site.ts';
import { principalOf } from '../authenticate.ts';
import type { Fields } from '../headers.ts';
import { sharing } from './caching.ts';
import { onlyGet } from '../methods.ts';
import { orAbsent } from '../error-answers.ts';
import { prefersPage, splitTarget } from './read-request.ts';
import { pageOf, sendJson } from './views.ts';
import type { ReadLimit } from '../rate-limit.ts';
import { bytesOf, pageSharing, sendPage, type PageBytes } from '../send-page.ts';

/** Longest query, in characters. */
const longestQuery = 200;

/** Milliseconds to wait for the public index. */
const indexPatience = 10_000;

/** The files of the public index whose bytes are kept in memory. */
const filesKept = 200;
/** The resources that suggestions come from at most, and how many there are. */
const suggested = 8;

/**
 * `/search` as JSON or as a page, `/search/suggest.json` while somebody types, and the files of the
 * public index (`/search/index.json` names them; `docs.json` is that of the documentation), for browsers to search in a static
 * build. `?in=docs` finds pages of the documentation first.
 */
export function addSearch(app: IRouter, site: Site, search: Search, limit: ReadLimit | null, docs: Docs): void {
  const { registry } = site;
  let index: { revision: number; shards: SearchShards; pages: LRUCache<string, PageBytes> } | null = null;

  async function publicIndex(): Promise<NonNullable<typeof index>> {
    const { entries, revision } = await inTime(search.all(anonymous));
    if (index?.revision !== revision)
      index = { revision, shards: searchShards(site, entries), pages: new LRUCache({ max: filesKept }) };
    return index;
  }

  const docsIndex = async () => `${JSON.stringify(await docs.index())}\n`;

  app.get('/search', async (request, response) => {
    limit?.(request, response);
    const principal = principalOf(request);
    const isPublic = principal.kind === 'anonymous';
    const { query } = splitTarget(request.url);
    const asked = readQuery(query);
    const isPage = !asked.hasFormat && prefersPage(request.headers.accept);
    const results = await search.find(principal, asked, (all) =>
      isPage && asked.text === '' && asked.uses === null && asked.usedBy === null
        ? { items: [], next: null }
        : pageOf(all, query, ({ indexed }) => formatCoordinate(indexed.coordinate)),
    );
    if (isPage) {
      const headers = whenComplete(results, pageSharing(registry.config, { isPublic, by: 'reader' }));
      const pages = asked.inDocs ? (await docs.search()).find(asked.text) : null;
      const html = searchPage(site, { ...asked, ...results, docs: pages });
      return sendPage({ request, response }, registry, bytesOf(html), { headers });
    }
    const items = results.items.map((each) => searchResult(site, each, { isWhole: true }));
    const { instead, ...rest } = results;
    // Results differ by reader, so caches must not share them.
    const shared = sharing(registry.config, isPublic ? 'public' : 'private', 'latest', { by: 'reader' });
    const body = { ...rest, items, didYouMean: instead };
    await sendJson({ request, response, query }, body, whenComplete(results, shared));
  });
  app.get('/search/suggest.json', async (request, response) => {
    limit?.(request, response);
    const principal = principalOf(request);
    const { query } = splitTarget(request.url);
    const asked = readQuery(query);
    const choose = (all: readonly Found[]) => ({ items: all.slice(0, asked.text === '' ? 0 : suggested), next: null });
    const results = await search.find(principal, asked, choose);
    const visibility = principal.kind === 'anonymous' ? 'public' : 'private';
    const shared = sharing(registry.config, visibility, 'latest', { by: 'reader' });
    const pages = asked.inDocs ? (await docs.search()).suggest(asked.text) : [];
    const items = [...pages, ...suggestionsOf(site, results.items, suggested - pages.length)];
    const body = { query: asked.text, items, complete: results.complete, didYouMean: results.instead };
    await sendJson({ request, response, query }, body, whenComplete(results, shared));
  });
  app.get(/^\/search\/(.+\.json)$/, async (request, response) => {
    limit?.(request, response);
    const { shards, pages } = await publicIndex();
    const path = request.params[0] as unknown as string;
    const page = pages.get(path) ?? bytesOf(path === 'docs.json' ? await docsIndex() : orAbsent(shards.find(path)));
    pages.set(path, page);
    const headers = sharing(registry.config, 'public', 'latest', { keys: [everywhereKey] });
    await sendPage({ request, response }, registry, page, { mediaType: 'application/json', headers });
  });
  app.all(['/search', /^\/search\/.+\.json$/], onlyGet);
}

/** No cache keeps a response while the index is still being built. */
function whenComplete({ complete }: { complete: boolean }, headers: Fields): Fields {
  return complete ? headers : { ...headers, 'Cache-Control': 'no-store' };
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const result = await within(indexPatience, work);
  if (result !== null) return result;
  throw unavailable('The search index is not ready yet. Retry later.', { retryAfter: 10 });
}

interface Asked extends Required<SearchRequest> {
  hasFormat: boolean;
  /** Whether the documentation comes first. */
  inDocs: boolean;
}

function readQuery(query: string): Asked {
  const parameters = new URLSearchParams(query);
  const one = (name: string): string | null => {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0) throw malformed(`The parameter ${name} may be given only once.`);
    return value === undefined || value === '' ? null : value;
  };
  const text = (one('q') ?? '').trim();
  if (text.length > longestQuery) throw malformed(`The parameter q may have at most ${longestQuery} characters.`);
  const type = one('type');
  if (type !== null && type !== 'sites' && !isResourceType(type))
    throw malformed('The parameter type must be apis, schemas, rulesets or sites.');
  const org = one('org');
  if (org !== null && !isSlug(org)) throw malformed('The parameter org must be an organization name.');
  const place = one('in');
  if (place !== null && place !== 'docs') throw malformed('The parameter in must be docs.');
  const inDocs = place === 'docs';
  const named = (name: 'uses' | 'usedBy'): Coordinate | null => {
    const value = one(name);
    const parsed = value === null ? null : parseCoordinate(value);
    if (value !== null && parsed?.selector.kind !== 'latest')
      throw malformed(`The parameter ${name} must be a coordinate such as @acme/schemas/money.`);
    return parsed && parsed.coordinate;
  };
  return { text, type, org, uses: named('uses'), usedBy: named('usedBy'), hasFormat: parameters.has('format'), inDocs };
}
