import { resourceKey } from '../../model/cache-key.ts';
import { malformed, unavailable } from '../../model/errors.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { nameOf } from '../../model/resource.ts';
import type { AddressView } from '../../model/address.ts';
import type { Granted, GrantedVersion } from '../../registry/read.ts';
import { isShortVersion } from '../../registry/derived.ts';
import { within } from '../../scheduling/waiting.ts';
import { statusHeaders, versionLinks } from '../../site/links.ts';
import { messagePage } from '../../site/pages/message-pages.ts';
import { relatedTo, type Related } from '../../site/pages/listings.ts';
import { partPage, resourceMarkdown, tryPage, embedPage, isTheme } from '../../site/pages/reference-pages.ts';
import { resourcePage, type ResourcePage, embedOrigins, unpublishedPage } from '../../site/pages/resource-page.ts';
import type { Site } from '../../site/site.ts';
import { imageHosts } from '../../site/pages/show-images.ts';
import type { Sent } from '../fast-path.ts';
import { keptPage, worthKeeping, bytesOf, pageSharing, sendPage, type PageBytes } from '../send-page.ts';
import type { ReadRequest } from './read-request.ts';

/** Milliseconds until an incomplete page is rendered again. */
const unfinishedFor = 60_000;

/** What a page shows besides its version. `part`: of the view `part`. */
interface About {
  related: Related | null;
  part?: string | undefined;
}

/**
 * A rendered page, in memory or in the cache. `isWhole`: nothing is missing that a later attempt may add. `until`: when
 * to render it again, by the monotonic clock.
 */
interface Page extends PageBytes {
  isWhole: boolean;
  until: number;
}

/**
 * Creates the sender of a version's pages: HTML, Markdown, or the page for trying the API. A rendered page depends on the resource's record, and on what it shows
 * of other resources. `patience`: milliseconds until a reader gets an answer that the page of a long document is being
 * made. That of a short one is there sooner than somebody has read that.
 */
export function createSendResourcePage(site: Site, patience = Infinity) {
  const { registry, answers } = site;

  async function pageOf(granted: GrantedVersion, view: AddressView, { related, part }: About): Promise<Page> {
    const { resource, version, generation } = granted;
    const of = `${nameOf(resource)} ${generation} ${version.label}`;
    const name = `page ${of} ${view} ${part} ${digestOf(JSON.stringify(related))}`;
    const make = async (): Promise<ResourcePage> => {
      if (part !== undefined) return partPage(site, granted, part);
      return related === null ? resourceMarkdown(site, granted) : resourcePage(site, granted, related);
    };
    const render = async (): Promise<Page> => {
      const { text, isWhole } = await make();
      const until = isWhole ? Infinity : registry.monotonic() + unfinishedFor;
      return { ...(await keepLarge(bytesOf(text), make, () => answers.forget(name))), isWhole, until };
    };
    const bytesIn = ({ size }: Page) => (size < worthKeeping ? size : 0);
    const page = await answers.answer(name, render, bytesIn);
    if (registry.monotonic() < page.until) return page;
    answers.forget(name);
    return answers.answer(name, render, bytesIn);
  }

  /**
   * Small pages stay in memory. Large ones stay in the cache; if they vanish from it, the page is
   * rendered again and must have the same bytes.
   */
  async function keepLarge(
    first: PageBytes,
    make: () => Promise<ResourcePage>,
    forget: () => void,
  ): Promise<PageBytes> {
    if (first.size < worthKeeping) return first;
    const pageBytes = (digest: Digest, open: () => Promise<Uint8Array>) => keptPage(registry, digest, open);
    await pageBytes(first.digest, first.open);
    const { digest, size } = first;
    const again = async () => {
      const bytes = Buffer.from((await make()).text);
      if (digestOf(bytes) === digest) return bytes;
      forget();
      throw unavailable('The page has just changed. Retry.', { retryAfter: 1 });
    };
    return { digest, size, open: () => pageBytes(digest, again) };
  }

  return async (
    read: ReadRequest,
    granted: GrantedVersion,
    view: 'page' | 'markdown' | 'try' | 'part' | 'embed',
    part?: string,
  ): Promise<void> => {
    const { resource, version } = granted;
    const isPublic = resource.visibility === 'public';
    const about = { Link: versionLinks(site.links, resource, version), ...statusHeaders(version) };
    if (view === 'try') {
      const { html, servers } = await tryPage(site, granted);
      const headers = {
        ...about,
        ...pageSharing(registry.config, {
          isPublic,
          connect: servers,
          framedBy: ["'self'"],
          keys: [resourceKey(resource)],
        }),
      };
      return sendPage(read, registry, bytesOf(html), { headers });
    }
    const longest = (await isShortVersion(registry, version)) ? Infinity : patience;
    if (view === 'embed') return sendEmbed(read, site, granted, longest);
    const isReaders = view === 'page' && resource.type === 'rulesets';
    const isForAll = isPublic && (!isReaders || read.principal.kind === 'anonymous');
    const related = view === 'page' ? await relatedTo(site, granted, read.principal) : null;
    const page = await within(longest, pageOf(granted, view, { related, part }));
    if (page === null) return sendWaiting(read, site, view);
    const where = site.links.to(resource, { label: version.label, view, ...(part !== undefined && { part }) });
    const sharing = pageSharing(registry.config, {
      isPublic: isForAll,
      by: isReaders ? 'reader' : 'everyone',
      images: view === 'markdown' ? [] : imageHosts(registry, resource.org),
      keys: [resourceKey(resource)],
    });
    const mediaType = view === 'markdown' ? { mediaType: 'text/markdown; charset=utf-8' } : {};
    const headers = { 'Content-Location': where, ...about, ...sharing };
    const isKept = isForAll && read.principal.kind === 'anonymous' && page.isWhole && page.size < worthKeeping;
    const keep = (sent: Sent, bytes: Uint8Array): void => {
      if (isKept) read.keep?.(resource, sent, bytes);
    };
    return sendPage(read, registry, page, { headers, ...mediaType, keep });
  };
}

/** Says that the page is being made: in a page that reloads itself, or as an error to programs. */
async function sendWaiting(read: ReadRequest, site: Site, view: AddressView): Promise<void> {
  if (view !== 'page' && view !== 'part') throw unavailable(beingMade, { retryAfter });
  const html = messagePage(site, { title: 'One moment', text: beingMade, reload: retryAfter });
  const headers = { 'Retry-After': String(retryAfter), ...pageSharing(site.registry.config, { isPublic: false }) };
  await sendPage(read, site.registry, bytesOf(html), { status: 503, headers });
}

/** Sends the page of a resource without a latest version. Its members read the reason there. */
export async function sendUnpublished(read: ReadRequest, granted: Pick<Granted, 'resource'>): Promise<void> {
  const { principal, links } = read;
  const { site, registry } = read.context;
  const { resource } = granted;
  const isForAll = resource.visibility === 'public' && principal.kind === 'anonymous';
  const where = links.to(resource, { view: 'page' });
  const headers = {
    'Content-Location': where,
    ...pageSharing(registry.config, { isPublic: isForAll, by: 'reader', keys: [resourceKey(resource)] }),
  };
  await sendPage(read, registry, bytesOf(await unpublishedPage(site, granted, principal)), { headers });
}

/**
 * Sends the reference of a version, or of one operation, for frames of other sites: the same to all
 * who may read it. Throws `not_found` if there is no such operation.
 */
async function sendEmbed(read: ReadRequest, site: Site, granted: GrantedVersion, patience: number): Promise<void> {
  const { resource, version } = granted;
  const { config } = site.registry;
  const asked = new URLSearchParams(read.query);
  const theme = asked.get('theme');
  const operation = asked.get('operation');
  if (theme !== null && !isTheme(theme)) throw malformed('theme must be light or dark.');
  const html = await within(patience, embedPage(site, granted, { theme, operation }));
  if (html === null) throw unavailable(beingMade, { retryAfter });
  const headers = {
    ...statusHeaders(version),
    ...pageSharing(config, {
      isPublic: resource.visibility === 'public',
      framedBy: ["'self'", ...embedOrigins(config, resource.org)],
      keys: [resourceKey(resource)],
    }),
    'Referrer-Policy': 'no-referrer',
  };
  await sendPage(read, site.registry, bytesOf(html), { headers });
}

/** Seconds after which a reader should ask again for a page that is being made. */
const retryAfter = 3;

const beingMade = 'This page is being made for the first time. It takes up to a minute for a long document.';
