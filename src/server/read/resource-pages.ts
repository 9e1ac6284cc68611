import { LRUCache } from 'lru-cache';
import { resourceKey } from '../../model/cache-key.ts';
import { RegistryError } from '../../model/errors.ts';
import { digestOf } from '../../model/digest.ts';
import { coordinateOf, nameOf, type Resource } from '../../model/resource.ts';
import type { View } from '../../model/address.ts';
import type { Granted, GrantedVersion } from '../../registry/read.ts';
import { statusHeaders, versionLinks } from '../../site/links.ts';
import { messagePage } from '../../site/pages/message-pages.ts';
import { relatedAtHand, relatedTo, type Related } from '../../site/pages/related.ts';
import { partPage } from '../../site/pages/part-page.ts';
import { resourceMarkdown } from '../../site/pages/resource-markdown.ts';
import { resourcePage, type Made } from '../../site/pages/resource-page.ts';
import type { Site } from '../../site/site.ts';
import { imageHosts } from '../../site/pages/show-images.ts';
import { tryPage } from '../../site/pages/try-page.ts';
import { unpublishedPage } from '../../site/pages/unpublished-page.ts';
import type { Sent } from '../hits/hits.ts';
import { keptPage, worthKeeping } from '../page-bytes.ts';
import { sendEmbed } from './embed.ts';
import { beingMade, inTime, retryAfter } from './in-time.ts';
import type { ReadRequest } from './read-request.ts';
import { bytesOf, pageSharing, sendPage, type PageBytes } from '../send-page.ts';

/** Sends a page of a version: HTML, Markdown, or the page for trying the API. */
export type SendResourcePage = (
  read: ReadRequest,
  granted: GrantedVersion,
  view: 'page' | 'markdown' | 'try' | 'part' | 'embed',
  part?: string,
) => Promise<void>;

/** Number of pages whose digests are cached. */
const pagesKept = 500;

/** Milliseconds until an incomplete page is rendered again. */
const unfinishedFor = 60_000;

/** What a page shows besides its version. `part`: of the view `part`. */
interface About {
  related: Related | null;
  part?: string | undefined;
}

/** `isWhole`: nothing is missing that a later try may find. */
interface Page extends PageBytes {
  isWhole: boolean;
}

interface Kept {
  resource: Resource;
  page: Promise<Page>;
  /** When to render it again, by the monotonic clock. */
  until: number;
}

/**
 * Creates the sender of pages. A rendered page is valid while the resource object is the same (a
 * change creates a new one): it depends only on the version's bytes and on what it shows of other
 * resources. `patience`: milliseconds until a reader gets an answer that the page is being made.
 */
export function createSendResourcePage(site: Site, patience = Infinity): SendResourcePage {
  const { cache, config } = site.registry;
  const kept = new LRUCache<string, Kept>({ max: pagesKept });

  function pageOf(granted: GrantedVersion, view: View, { related, part }: About): Promise<Page> {
    const { resource, version } = granted;
    const name = `${nameOf(resource)}@${version.label} ${view} ${part} ${digestOf(JSON.stringify(related))}`;
    const now = site.registry.monotonic();
    const known = kept.get(name);
    if (known?.resource === resource && now < known.until) return known.page;
    const make = async (): Promise<Made> => {
      if (part !== undefined) return partPage(site, granted, part);
      return related === null ? resourceMarkdown(site, granted) : resourcePage(site, granted, related);
    };
    const forget = () => void (kept.get(name) === entry && kept.delete(name));
    const page = make().then(async ({ text, isWhole }) => {
      if (!isWhole) entry.until = site.registry.monotonic() + unfinishedFor;
      return { ...(await keepLarge(bytesOf(text), make, forget)), isWhole };
    });
    const entry: Kept = { resource, page, until: Infinity };
    kept.set(name, entry);
    page.catch(forget);
    return page;
  }

  /**
   * Small pages stay in memory. Large ones stay in the cache; if they vanish from it, the page is
   * rendered again and must have the same bytes.
   */
  async function keepLarge(first: PageBytes, make: () => Promise<Made>, forget: () => void): Promise<PageBytes> {
    if (first.size < worthKeeping) return first;
    await keptPage(cache, first.digest, first.open);
    const { digest, size } = first;
    const again = async () => {
      const bytes = Buffer.from((await make()).text);
      if (digestOf(bytes) === digest) return bytes;
      forget();
      throw new RegistryError('unavailable', 'The page has just changed. Retry.', { retryAfter: 1 });
    };
    return { digest, size, open: () => keptPage(cache, digest, again) };
  }

  return async (read, granted, view, part) => {
    const { resource, version } = granted;
    const isPublic = resource.visibility === 'public';
    const coordinate = coordinateOf(resource);
    const about = { Link: versionLinks(site.links, resource, version), ...statusHeaders(version) };
    if (view === 'try') {
      const { html, servers } = await tryPage(site, granted);
      const headers = {
        ...about,
        ...pageSharing(config, { isPublic, connect: servers, framedBy: ["'self'"], keys: [resourceKey(resource)] }),
      };
      return sendPage(read, cache, bytesOf(html), { headers });
    }
    if (view === 'embed') return sendEmbed(read, site, granted, patience);
    const isReaders = view === 'page' && resource.type === 'rulesets';
    const isForAll = isPublic && (!isReaders || read.principal.kind === 'anonymous');
    const isCurrent = view === 'page' ? relatedAtHand(site, granted) : () => true;
    const related = view === 'page' ? await relatedTo(site, granted, read.principal) : null;
    const page = await inTime(pageOf(granted, view, { related, part }), patience);
    if (page === null) return sendWaiting(read, site, view);
    const where = site.links.to(coordinate, { label: version.label, view, ...(part !== undefined && { part }) });
    const sharing = pageSharing(config, {
      isPublic: isForAll,
      by: isReaders ? 'reader' : 'everyone',
      images: view === 'markdown' ? [] : imageHosts(site.registry, resource.org),
      keys: [resourceKey(resource)],
    });
    const mediaType = view === 'markdown' ? { mediaType: 'text/markdown; charset=utf-8' } : {};
    const headers = { 'Content-Location': where, ...about, ...sharing };
    // Large ones are in the cache.
    const isKept = isForAll && read.principal.kind === 'anonymous' && page.isWhole && page.size < worthKeeping;
    const keep = (sent: Sent, bytes: Uint8Array): void => {
      if (isKept && isCurrent !== null) read.keep?.({ granted, isCurrent }, sent, bytes);
    };
    return sendPage(read, cache, page, { headers, ...mediaType, keep });
  };
}

/** Says that the page is being made: in a page that reloads itself, or as an error to programs. */
async function sendWaiting(read: ReadRequest, site: Site, view: View): Promise<void> {
  if (view !== 'page' && view !== 'part') throw new RegistryError('unavailable', beingMade, { retryAfter });
  const html = messagePage(site, { title: 'One moment', text: beingMade, reload: retryAfter });
  const headers = { 'Retry-After': String(retryAfter), ...pageSharing(site.registry.config, { isPublic: false }) };
  await sendPage(read, site.registry.cache, bytesOf(html), { status: 503, headers });
}

/** Sends the page of a resource without a latest version. Its members read the reason there. */
export async function sendUnpublished(read: ReadRequest, granted: Granted): Promise<void> {
  const { principal, links } = read;
  const { site, registry } = read.context;
  const { resource } = granted;
  const isForAll = resource.visibility === 'public' && principal.kind === 'anonymous';
  const where = links.to(coordinateOf(resource), { view: 'page' });
  const headers = {
    'Content-Location': where,
    ...pageSharing(registry.config, { isPublic: isForAll, by: 'reader', keys: [resourceKey(resource)] }),
  };
  await sendPage(read, registry.cache, bytesOf(await unpublishedPage(site, granted, principal)), { headers });
}
