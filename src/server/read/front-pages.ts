import { everywhereKey } from '../../model/cache-key.ts';
import type { IRouter, Request, Response } from 'express';
import {
  anonymous,
  grantsIn,
  mayCreateOrganization,
  organizationsOf,
  mayPublishIn,
  type Grant,
  type Principal,
} from '../../model/access.ts';
import { shareWalk } from '../../scheduling/turns.ts';
import { homePage, publishedSites } from '../../site/pages/listings.ts';
import { unsubscribe } from '../../events/try-mail.ts';
import { accountPage, messagePage, type AccountView, type Message } from '../../site/pages/message-pages.ts';
import { organizationsFor } from '../../registry/maintenance/organizations.ts';
import { listReadable, mayReadOrganization } from '../../registry/readable.ts';
import type { Site } from '../../site/site.ts';
import { principalOf, sessionOf } from '../authenticate.ts';
import { isOnThisMachine } from '../login/same-site.ts';
import { onlyGet } from '../methods.ts';
import { absent, orAbsent } from '../error-answers.ts';
import type { Login } from '../server-context.ts';
import { bytesOf, pageSharing, sendPage, sizeOf, type PageBytes } from '../send-page.ts';
import type { Docs } from '../../site/docs/docs-page.ts';
import { chooseType } from './read-request.ts';
import { listAffected, type AffectedConsumer } from '../../registry/graph/affected.ts';
import { allConsumers, type PinningConsumer } from '../../registry/graph/dependants.ts';
import {
  discoveryDocument,
  discoveryPattern,
  parseCatalogPath,
  parseConsumersPath,
  catalogPath,
} from '../../site/discovery.ts';
import { sharing } from './caching.ts';
import type { ReadLimit } from '../rate-limit.ts';
import { nameRoute } from '../request.ts';

/**
 * Milliseconds for which one walk over the registry answers all anonymous readers. With the age of
 * a cached ref, an answer is at most a second old.
 */
const sharedFor = 400;

/** The home page and the page for signing in and out. */
export function addFrontPages(app: IRouter, site: Site, login?: Login): void {
  const { registry } = site;
  const publicHome = shareWalk(sharedFor, registry.monotonic, () =>
    site.answers.answer('home', () => homeFor(anonymous), sizeOf),
  );

  async function homeFor(principal: Principal): Promise<PageBytes> {
    const resources = await listReadable(registry, principal);
    const sites = await publishedSites(site, principal);
    const mayPublish = principal.kind === 'anonymous' ? null : { mayPublish: mayPublishAnywhere(principal) };
    return bytesOf(await homePage(site, resources, sites, mayPublish));
  }

  async function sendHome(request: Request, response: Response): Promise<void> {
    const principal = principalOf(request);
    const headers = pageSharing(registry.config, {
      isPublic: principal.kind === 'anonymous',
      by: 'reader',
      keys: [everywhereKey],
    });
    await sendPage(
      { request, response },
      registry,
      await (principal.kind === 'anonymous' ? publicHome() : homeFor(principal)),
      { headers },
    );
  }

  /** `link`: the token of a link that signs in the operator. Whatever opens the link gets a button, which uses it. */
  async function sendAccount(request: Request, response: Response, link: string | null = null): Promise<void> {
    if (!site.hasLogin) throw absent();
    const session = sessionOf(request);
    const { returnTo, failed } = request.query;
    const html = accountPage(site, {
      who: session?.name ?? null,
      organizations: session === null ? [] : await rightsFor(session.principal),
      mayPublish: session !== null && mayPublishAnywhere(session.principal),
      takesKeys: login?.takesKeys ?? false,
      hasKeys: session?.principal.kind === 'user',
      mayCreate: session !== null && mayCreateOrganization(session.principal),
      providers: login?.providers ?? [],
      link,
      hasLink: login?.signInLink !== undefined && isOnThisMachine(site.url),
      hasFailed: failed === 'key',
      returnTo: typeof returnTo === 'string' ? returnTo : site.links.path('/account'),
    });
    await sendPrivate(request, response, html);
  }

  /** Where the person has rights. An operator has them wherever there is something. */
  async function rightsFor(principal: Principal): Promise<AccountView['organizations']> {
    return (await organizationsFor(registry, principal)).map((org) => ({
      org,
      rights: grantsIn(principal, org).map(inWords).join('; '),
      publishes: mayPublishIn(principal, org),
    }));
  }

  async function sendMessage(request: Request, response: Response, message: Message): Promise<void> {
    await sendPrivate(request, response, messagePage(site, message));
  }

  async function sendPrivate(request: Request, response: Response, html: string): Promise<void> {
    const headers = pageSharing(registry.config, { isPublic: false });
    await sendPage({ request, response }, registry, bytesOf(html), { headers });
  }

  app.get('/', (request, response) => sendHome(request, response));
  app.get('/account', (request, response) => sendAccount(request, response));
  if (login?.signInLink !== undefined)
    app.get('/login/link', (request, response) => {
      const { token } = request.query;
      return sendAccount(request, response, typeof token === 'string' ? token : '');
    });
  app.get('/unsubscribe', (request, response) => {
    const action = site.links.path(request.originalUrl);
    const form = { text: 'Unsubscribe', action };
    return sendMessage(request, response, { title: 'Unsubscribe', text: 'You get no more mail for this watch.', form });
  });
  // A mail program posts here as well (RFC 8058), without a session: the token is what counts.
  app.post('/unsubscribe', async (request, response) => {
    const { token } = request.query;
    await unsubscribe(registry, typeof token === 'string' ? token : '', request.ip ?? null);
    await sendMessage(request, response, {
      title: 'You are unsubscribed',
      text: 'No more mail is sent for this watch.',
    });
  });
  app.all(['/', '/account'], onlyGet);
}

function mayPublishAnywhere(principal: Principal): boolean {
  return principal.kind === 'operator' || organizationsOf(principal).some((org) => mayPublishIn(principal, org));
}

/** What a grant allows, for people: `publish, on apis/pay-*`. */
function inWords({ scopes, resources }: Grant): string {
  return resources === null ? scopes.join(', ') : `${scopes.join(', ')}, on ${resources.join(', ')}`;
}

type Form = 'text/html' | 'text/markdown';

/**
 * Stele's documentation: `/docs/` and `/docs/{page}` as HTML unless the client prefers Markdown,
 * and `…/index.md` as Markdown.
 */
export function addDocs(app: IRouter, site: Site, docs: Docs): void {
  const { config } = site.registry;
  const headers = pageSharing(config, { isPublic: true });

  async function send(name: string, request: Request, response: Response, form: Form): Promise<void> {
    const text = orAbsent(form === 'text/markdown' ? docs.markdown(name) : docs.html(name));
    await sendPage({ request, response }, site.registry, bytesOf(text), {
      mediaType: `${form}; charset=utf-8`,
      headers,
    });
  }

  const pages = ['/docs', '/docs/', '/docs/:page', '/docs/:page/'];
  const sources = ['/docs/index.md', '/docs/:page/index.md'];
  app.get(sources, (request, response) => send(nameOf(request), request, response, 'text/markdown'));
  app.get(pages, (request, response) => send(nameOf(request), request, response, formOf(request)));
  app.all([...pages, ...sources], onlyGet);
}

const forms = ['text/html', 'text/markdown'];

function formOf(request: Request): Form {
  const { accept } = request.headers;
  return accept !== undefined && chooseType(accept, forms) === 'text/markdown' ? 'text/markdown' : 'text/html';
}

/** Name of the page in the path. The first page has only the URL `/docs/`. */
function nameOf({ params }: Request): string {
  const page = params['page'];
  if (page === undefined) return 'index';
  if (page === 'index') throw absent();
  return String(page);
}

/**
 * `llms.txt`, sitemap, feeds and the catalogs of APIs and schemas. They list what their reader may
 * read: without a credential, what is public.
 */
export function addDiscovery(
  app: IRouter,
  { registry, url, links, docs }: Pick<Site, 'registry' | 'url' | 'links' | 'docs'>,
  { hasManagement, limit }: { hasManagement: boolean; limit: ReadLimit | null },
): void {
  const place = { url, links, docs, config: registry.config, hasManagement };
  const publicResources = shareWalk(sharedFor, registry.monotonic, () => listReadable(registry, anonymous));

  /** What the path says of the consumers of an organization, where the reader may know them. */
  async function consumersFor(
    principal: Principal,
    path: string,
  ): Promise<{ consumers?: PinningConsumer[]; affected?: AffectedConsumer[] }> {
    const catalog = parseCatalogPath(path);
    const org = parseConsumersPath(path) ?? (catalog?.file === 'catalog-info.yaml' ? catalog.org : null);
    if (org === null || !mayReadOrganization(principal, org)) return {};
    return catalog === null
      ? { affected: await listAffected(registry, org) }
      : { consumers: await allConsumers(registry, org) };
  }

  app.get(discoveryPattern, async (request, response) => {
    const { path } = request;
    nameRoute(request, patternOf(path));
    limit?.(request, response);
    const principal = principalOf(request);
    const isPublic = principal.kind === 'anonymous';
    const resources = isPublic ? await publicResources() : await listReadable(registry, principal);
    const document = orAbsent(discoveryDocument(place, resources, path, await consumersFor(principal, path)));
    const headers = {
      ...sharing(registry.config, isPublic ? 'public' : 'private', 'latest', { keys: [everywhereKey], by: 'reader' }),
      ...(path === catalogPath && { Link: `<${place.links.path(catalogPath)}>; rel="api-catalog"` }),
    };
    await sendPage({ request, response }, registry, bytesOf(document.text), { mediaType: document.mediaType, headers });
  });
  app.all(discoveryPattern, onlyGet);
}

/** Route pattern of a path for metrics. Their number is finite, whatever clients request. */
function patternOf(path: string): string {
  if (path.startsWith('/feed')) return '/feeds/{scope}';
  if (path.startsWith('/@')) return path.replace(/^\/@[^/]+/, '/@{org}');
  return path.startsWith('/sitemap') ? '/sitemap.xml' : path;
}
