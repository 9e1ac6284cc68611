import { type Address, parseAddress } from '../../model/address.ts';
import { isRegistryError } from '../../model/errors.ts';
import { own } from '../../model/json.ts';
import { pageAt, routeOf } from '../model/page-path.ts';
import { findFile, findPage, grantSite, openFile } from '../registry/read-site.ts';
import { otherAddress, placeInRegistry, type Placed, type SiteView, placeAtHost } from '../pages/placed.ts';
import { siteLists } from '../pages/site-navigation.ts';
import { absentPage, resultsPage, siteMarkdown, sitePage, type SitePage } from '../pages/site-page.ts';
import { siteIndex } from '../../search/site-index.ts';
import { themeCss } from '../pages/site-theme.ts';
import { digestOf } from '../../model/digest.ts';
import { flattenFields, type Fields } from '../../server/headers.ts';
import { answerMethod } from '../../server/methods.ts';
import { absent, orAbsent, sendProblem } from '../../server/error-answers.ts';
import { bytesOf, pageSharing, sendPage, sendAsset } from '../../server/send-page.ts';
import { prefersPage, type ReadRequest, splitTarget } from '../../server/read/read-request.ts';
import { sharing } from '../../server/read/caching.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Principal, anonymous } from '../../model/access.ts';
import { formatSite, siteAddress, type DeployedFile, type SiteName } from '../model/documentation-site.ts';
import { openSitePreview } from '../registry/site-preview.ts';
import { dayOf } from '../../site/pages/describe-version.ts';
import type { Site } from '../../site/site.ts';
import { type ServerContext, basePathOf } from '../../server/server-context.ts';
import type { Authenticate } from '../../server/authenticate.ts';
import type { Face } from '../../server/door.ts';
import type { ReadLimit } from '../../server/rate-limit.ts';

type SiteAddress = Extract<Address, { kind: 'site' }>;

/** A request for something of a site that its reader may read. */
type SiteRead = ReadRequest & { view: SiteView };

/** Answers a request for something of a documentation site. Access comes first, as for resources. */
export async function sendSite(read: ReadRequest, { org, slug, path }: SiteAddress): Promise<void> {
  const { context, principal, request, response } = read;
  const granted = orAbsent(await grantSite(context.registry, principal, { org, slug }));
  if (answerMethod({ request, response }, granted.site.visibility)) return;
  const { site } = context;
  const view = { site, granted, placed: placeInRegistry(site, { org, slug }), reader: principal };
  await orAbsentPage(read, view, () => sendOf({ ...read, view }, path));
}

/** Sends what is at a path of a site. `path` null: the site's address lacks its last slash. */
async function sendOf(read: SiteRead, path: string | null): Promise<void> {
  const { context, view } = read;
  const { granted, placed } = view;
  if (path === null) return redirect(read, placed.base);
  if (path === 'theme.css') return sendMade(read, themeCss(granted.contents), 'text/css; charset=utf-8');
  if (path === 'search.json') return sendMade(read, await siteIndex(context.registry, granted), 'application/json');
  const list = own(siteLists, path);
  if (list !== undefined) {
    // Previews must not be found, so no list links to their pages.
    if (placed.expires && list.isPublic) throw absent();
    return sendMade(read, list.make(granted, placed), list.mediaType);
  }
  const twin = path.endsWith('.md') ? findPage(granted, path) : null;
  if (twin !== null) {
    const text = await siteMarkdown(view, twin);
    return sendMade(read, text, 'text/markdown; charset=utf-8');
  }
  const file = findFile(granted, path);
  if (file !== null) return sendFile(read, file);
  const asked = path === '' ? new URLSearchParams(read.query) : null;
  const query = (asked?.get('q') ?? '').slice(0, 200).trim();
  if (query !== '') {
    const folder = asked?.get('in') ?? '';
    return sendOwnPage(read, view, 200, await resultsPage(view, { query, folder }));
  }
  const page = pageAt(path);
  const deployed = findPage(granted, page);
  if (deployed !== null && routeOf(page) === path) {
    return sendMade(read, await sitePage(view, page, deployed), 'text/html; charset=utf-8');
  }
  const target = orAbsent(otherAddress(granted, path));
  redirect(read, placed.base + target);
}

/** Runs the work. Where it finds nothing, browsers get the site's own page for that. `view` null: there is no site. */
async function orAbsentPage(
  read: Omit<ReadRequest, 'principal'>,
  view: SiteView | null,
  work: () => Promise<void>,
): Promise<void> {
  await work().catch(async (error: unknown) => {
    const isPage = isRegistryError(error, 'not_found') && prefersPage(read.request.headers.accept);
    if (view === null || !isPage) throw error;
    await sendOwnPage(read, view, 404, absentPage(view));
  });
}

/** Sends a page that no deployment has, and that no cache keeps. */
async function sendOwnPage(
  { context, request, response }: Omit<ReadRequest, 'principal'>,
  { placed }: SiteView,
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
function redirect(read: SiteRead, location: string): void {
  read.response.writeHead(301, flattenFields({ Location: location, 'Content-Length': '0', ...sharingOf(read) })).end();
}

/** How an answer that is the same for all who may read the site is kept. No cache keeps one of a preview. */
function sharingOf({ context, view: { granted, placed } }: SiteRead): Fields {
  const visibility = placed.expires ? 'private' : granted.site.visibility;
  const keys = [formatSite(granted.site)];
  return { ...sharing(context.registry.config, visibility, 'latest', { keys }), ...previewHeaders(placed) };
}

/** Sends a generated text. If it embeds what only some readers may see, no shared cache may keep it. */
async function sendMade(
  { context, request, response, view: { granted, placed } }: SiteRead,
  made: SitePage | string,
  mediaType: string,
): Promise<void> {
  const { site } = granted;
  const isPublic = site.visibility === 'public';
  const page = typeof made === 'string' ? { text: made, isPublic, keys: [formatSite(site)] } : made;
  const by = isPublic ? 'reader' : 'everyone';
  const isShared = page.isPublic && placed.expires === undefined;
  const headers = {
    ...pageSharing(context.registry.config, { isPublic: isShared, by, keys: page.keys }),
    ...previewHeaders(placed),
  };
  await sendPage({ request, response }, context.registry, bytesOf(page.text), { mediaType, headers });
}

/** Types that a browser may show by themselves: whatever is in them, they run and load nothing. */
async function sendFile(read: SiteRead, file: DeployedFile): Promise<void> {
  const { context, request, response, view } = read;
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";
  const headers: Fields = {
    ...sharingOf(read),
    ...(file.mediaType === 'image/svg+xml' && { 'Content-Security-Policy': policy }),
  };
  const bytes = await openFile(context.registry, view.granted, file);
  const page = { digest: digestOf(bytes), size: file.size, open: async () => bytes };
  await sendPage({ request, response }, context.registry, page, { mediaType: file.mediaType, headers });
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
  const view = { site, granted, placed, reader: principal };
  const read = {
    context: { ...context, registry, site },
    links: site.links,
    request,
    response,
    principal,
    query,
    view,
  };
  const address = parseAddress(siteAddress(granted.site) + rest);
  if (address?.kind !== 'site') return false;
  await orAbsentPage(read, view, () => sendOf(read, address.path));
  return true;
}

/**
 * Serves documentation sites at host names of their own, with the stylesheets and scripts of their
 * pages, and nothing else of the registry. Sessions belong to the registry's host and do not count
 * here; keys do.
 */
export function createOwnHost(
  context: ServerContext & { site: Site },
  authenticate: Authenticate,
  limit: ReadLimit | null,
): (name: SiteName) => Face {
  const base = basePathOf(context.url);
  // The registry's own pages lead to addresses that these hosts do not have.
  const { site: _, ...withoutPages } = context;

  async function answer(request: IncomingMessage, response: ServerResponse, name: SiteName): Promise<void> {
    const { path, query } = splitTarget(request.url!);
    const { site } = context;
    const common = { context, links: site.links, request, response, query };
    limit?.(request, response);
    const principal = request.headers.authorization === undefined ? anonymous : await authenticate(request);
    const granted = await grantSite(context.registry, principal, name);
    const view = granted && { site, granted, placed: placeAtHost(site, name), reader: principal };
    await orAbsentPage(common, view, async () => {
      const isAsset = path.startsWith(`${base}/assets/`);
      if (isAsset && (granted === null || findFile(granted, path.slice(1)) === null)) {
        if (!answerMethod(common, 'public')) await sendAsset(site, common, path.slice(base.length));
        return;
      }
      const address = parseAddress(siteAddress(name) + path);
      if (view === null || address?.kind !== 'site') throw absent();
      if (answerMethod(common, view.granted.site.visibility)) return;
      await sendOf({ ...common, principal, view }, address.path);
    });
  }

  return (name) => ({
    answer: (request, response) => answer(request, response, name),
    refuse: (request, response, error) => sendProblem(withoutPages, request, response, error),
    routeOf: () => '/sites/{org}/{site}',
  });
}
