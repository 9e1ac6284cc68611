import { type Address, parseAddress } from '../../model/address.ts';
import { siteKey } from '../../model/cache-key.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { pageAt, routeOf } from '../model/page-path.ts';
import { findFile, findPage, grantSite, openFile, type GrantedSite } from '../registry/read-site.ts';
import { otherAddress, placeInRegistry, type Placed } from '../pages/placed.ts';
import { siteList, siteLists } from '../pages/site-navigation.ts';
import { absentPage, resultsPage, siteMarkdown, sitePage, type SitePage } from '../pages/site-page.ts';
import { siteIndex } from '../../search/site-index.ts';
import { themeCss } from '../pages/site-theme.ts';
import { digestOf } from '../../model/digest.ts';
import { flattenFields, securityHeaders, type Fields } from '../../server/headers.ts';
import { answerMethod } from '../../server/methods.ts';
import { nothingHere } from '../../server/error-answers.ts';
import { bytesOf, pageSharing, sendPage } from '../../server/send-page.ts';
import { prefersPage, type ReadRequest } from '../../server/read/read-request.ts';
import { sharing } from '../../server/read/caching.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../model/access.ts';
import { siteAddress } from '../model/documentation-site.ts';
import { openSitePreview } from '../registry/site-preview.ts';
import { dayOf } from '../../site/pages/describe-version.ts';
import type { Site } from '../../site/site.ts';
import type { ServerContext } from '../../server/server-context.ts';

type SiteAddress = Extract<Address, { kind: 'site' }>;

const publicLists: ReadonlySet<string> = new Set(['sitemap.xml', 'robots.txt', 'feed.atom']);

/** Answers a request for something of a documentation site. Access comes first, as for resources. */
export async function sendSite(read: ReadRequest, { org, slug, path }: SiteAddress): Promise<void> {
  const { context, principal, request, response } = read;
  const granted = await grantSite(context.registry, principal, { org, slug });
  if (granted === null) throw new RegistryError('not_found', nothingHere);
  if (answerMethod({ request, response }, granted.site.visibility)) return;
  const placed = placeInRegistry(context.site, { org, slug });
  await orAbsentPage(read, granted, placed, () => sendOf(read, granted, placed, path));
}

/** Sends what is at a path of a site. `path` null: the site's address lacks its last slash. */
export async function sendOf(
  read: ReadRequest,
  granted: GrantedSite,
  placed: Placed,
  path: string | null,
): Promise<void> {
  const { context, principal } = read;
  const { contents } = granted;
  // Previews must not be found, so no list links to their pages.
  if (placed.expires && path !== null && publicLists.has(path)) throw new RegistryError('not_found', nothingHere);
  if (path === null) return redirect(read, granted, placed, placed.base);
  if (path === 'theme.css') return sendText(read, granted, placed, themeCss(contents), 'text/css; charset=utf-8');
  if (path === 'search.json')
    return sendText(read, granted, placed, await siteIndex(context.registry, granted), 'application/json');
  const list = siteLists.find((name) => name === path);
  if (list !== undefined) {
    const { text, mediaType } = siteList(granted, placed, list);
    return sendText(read, granted, placed, text, mediaType);
  }
  const twin = path.endsWith('.md') ? findPage(granted, path) : null;
  if (twin !== null)
    return sendMade(
      read,
      granted,
      placed,
      await siteMarkdown(context.site, granted, placed, principal, twin),
      'text/markdown; charset=utf-8',
    );
  const file = findFile(granted, path);
  if (file !== null) return sendFile(read, granted, placed, file);
  const asked = path === '' ? new URLSearchParams(read.query) : null;
  const query = (asked?.get('q') ?? '').slice(0, 200).trim();
  if (query !== '') {
    const folder = asked?.get('in') ?? '';
    return sendOwnPage(read, placed, 200, await resultsPage(context.site, granted, placed, { query, folder }));
  }
  const page = pageAt(path);
  const deployed = findPage(granted, page);
  if (deployed !== null && routeOf(page) === path) {
    const html = await sitePage(context.site, granted, placed, principal, page, deployed);
    return sendMade(read, granted, placed, html, 'text/html; charset=utf-8');
  }
  const target = otherAddress(granted, path);
  if (target === null) throw new RegistryError('not_found', nothingHere);
  redirect(read, granted, placed, placed.base + target);
}

/** Does the work. Where it finds nothing, people get the page of the site that says so; `granted` null: there is no site. */
export async function orAbsentPage(
  read: Omit<ReadRequest, 'principal'>,
  granted: GrantedSite | null,
  placed: Placed,
  work: () => Promise<void>,
): Promise<void> {
  await work().catch(async (error: unknown) => {
    const isPage = isRegistryError(error, 'not_found') && prefersPage(read.request.headers.accept);
    if (granted === null || !isPage) throw error;
    await sendOwnPage(read, placed, 404, await absentPage(read.context.site, granted, placed));
  });
}

/** Sends a page that no deployment has, and that no cache keeps. */
async function sendOwnPage(
  { context, request, response }: Omit<ReadRequest, 'principal'>,
  placed: Placed,
  status: number,
  text: string,
): Promise<void> {
  const headers = {
    ...pageSharing(context.registry.config, { isPublic: false }),
    'Cache-Control': 'no-store',
    ...previewHeaders(placed),
  };
  await sendPage({ request, response }, context.registry, bytesOf(text), { status, headers });
}

/** Only to a path of this site. */
function redirect(read: ReadRequest, { site }: GrantedSite, placed: Placed, location: string): void {
  const visibility = placed.expires ? 'private' : site.visibility;
  const shared = {
    ...sharing(read.context.registry.config, visibility, 'latest', { keys: [siteKey(site)] }),
    ...previewHeaders(placed),
  };
  read.response.writeHead(301, flattenFields({ Location: location, 'Content-Length': '0', ...shared })).end();
}

function sendText(
  read: ReadRequest,
  granted: GrantedSite,
  placed: Placed,
  text: string,
  mediaType: string,
): Promise<void> {
  const { site } = granted;
  const page = { text, isPublic: site.visibility === 'public', keys: [siteKey(site)] };
  return sendMade(read, granted, placed, page, mediaType);
}

/** Sends a generated text. If it embeds what only some readers may see, no shared cache may keep it. */
async function sendMade(
  { context, request, response }: ReadRequest,
  { site }: GrantedSite,
  placed: Placed,
  { text, isPublic, keys }: SitePage,
  mediaType: string,
): Promise<void> {
  const { config } = context.registry;
  const isShared = isPublic && placed.expires === undefined;
  const headers = {
    ...pageSharing(config, { isPublic: isShared, by: site.visibility === 'public' ? 'reader' : 'everyone', keys }),
    ...previewHeaders(placed),
  };
  await sendPage({ request, response }, context.registry, bytesOf(text), { mediaType, headers });
}

/** Types that a browser may show by themselves: whatever is in them, they run and load nothing. */
async function sendFile(
  read: ReadRequest,
  granted: GrantedSite,
  placed: Placed,
  file: NonNullable<ReturnType<typeof findFile>>,
): Promise<void> {
  const { context, request, response } = read;
  const { config } = context.registry;
  const isPublic = granted.site.visibility === 'public' && placed.expires === undefined;
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";
  const headers: Fields = {
    ...sharing(config, isPublic ? 'public' : 'private', 'latest', { keys: [siteKey(granted.site)] }),
    ...(file.mediaType === 'image/svg+xml' && { ...securityHeaders, 'Content-Security-Policy': policy }),
    ...previewHeaders(placed),
  };
  const bytes = await openFile(context.registry, granted, file);
  await sendPage(
    { request, response },
    context.registry,
    { digest: digestOf(bytes), size: file.size, open: async () => bytes },
    { mediaType: file.mediaType, headers },
  );
}

/** The address of a preview is a secret: it is not listed, and no referrer reveals it. */
function previewHeaders({ expires }: Placed): Fields {
  return expires === undefined ? {} : { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' };
}

/**
 * Answers a request for something of a site's preview. `rest`: the raw path after the token, with
 * its slash; empty: there is none. False if there is no such preview for this reader.
 */
export async function sendSitePreview(
  context: ServerContext & { site: Site },
  { request, response, principal }: { request: IncomingMessage; response: ServerResponse; principal: Principal },
  token: string,
  rest: string,
  query: string,
): Promise<boolean> {
  const opened = await openSitePreview(context.registry, principal, token);
  if (opened === null) return false;
  const { registry, granted, expiresAt } = opened;
  const site: Site = { ...context.site, registry };
  const base = site.links.path(`/previews/${token}/`);
  const placed: Placed = { base, url: site.links.whole(base), isElsewhere: false, expires: dayOf(expiresAt) };
  const view = { ...context, registry, site };
  const read = { context: view, links: site.links, request, response, principal, query };
  const address = parseAddress(siteAddress(granted.site) + rest);
  if (address?.kind !== 'site') return false;
  await orAbsentPage(read, granted, placed, () => sendOf(read, granted, placed, address.path));
  return true;
}
