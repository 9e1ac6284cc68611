import { everywhereKey } from '../../model/cache-key.ts';
import { Router, type Request, type Response } from 'express';
import {
  anonymous,
  grantsIn,
  mayCreateOrganization,
  organizationsOf,
  partOf,
  type Grant,
  type Principal,
} from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { shareWalk } from '../../scheduling/turns.ts';
import { homePage, publishedSites } from '../../site/pages/listings.ts';
import { unsubscribe } from '../../events/unsubscribe.ts';
import { accountPage, messagePage, type AccountView, type Message } from '../../site/pages/message-pages.ts';
import { listOrganizations } from '../../registry/maintenance/organizations.ts';
import { listReadable } from '../../registry/readable.ts';
import type { Site } from '../../site/site.ts';
import { principalOf, sessionOf } from '../authenticate.ts';
import { isOnThisMachine } from '../login/secure-url.ts';
import { onlyGet } from '../methods.ts';
import { nothingHere } from '../nothing-here.ts';
import type { Login } from '../server-context.ts';
import { bytesOf, pageSharing, sendPage, sizeOf, type PageBytes } from '../send-page.ts';

/**
 * Milliseconds for which one walk over the registry answers all anonymous readers. With the age of
 * a cached ref, an answer is at most a second old.
 */
const sharedFor = 400;

/** The home page and the page for signing in and out. */
export function createFrontPages(site: Site, login?: Login): Router {
  const { registry } = site;
  const publicHome = shareWalk(
    sharedFor,
    () => registry.monotonic(),
    () => site.answers.answer('home', 'all', () => homeFor(anonymous), sizeOf),
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
    if (!site.hasLogin) throw new RegistryError('not_found', nothingHere);
    const session = sessionOf(request);
    const { returnTo, failed } = request.query;
    const html = accountPage(site, {
      who: session?.name ?? null,
      organizations: session === null ? [] : await organizationsFor(session.principal),
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
    const headers = pageSharing(registry.config, { isPublic: false });
    await sendPage({ request, response }, registry, bytesOf(html), { headers });
  }

  /** Where the person has rights. An operator has them wherever there is something. */
  async function organizationsFor(principal: Principal): Promise<AccountView['organizations']> {
    const organizations =
      principal.kind === 'operator' ? await listOrganizations(registry) : organizationsOf(principal);
    return organizations.map((org) => ({
      org,
      rights: grantsIn(principal, org).map(inWords).join('; '),
      publishes: mayPublishIn(principal, org),
    }));
  }

  async function sendMessage(request: Request, response: Response, message: Message): Promise<void> {
    const headers = pageSharing(registry.config, { isPublic: false });
    await sendPage({ request, response }, registry, bytesOf(messagePage(site, message)), { headers });
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', (request, response) => sendHome(request, response));
  router.get('/account', (request, response) => sendAccount(request, response));
  if (login?.signInLink !== undefined)
    router.get('/login/link', (request, response) => {
      const { token } = request.query;
      return sendAccount(request, response, typeof token === 'string' ? token : '');
    });
  router.get('/unsubscribe', (request, response) => {
    const action = site.links.path(request.originalUrl);
    const form = { text: 'Unsubscribe', action };
    return sendMessage(request, response, { title: 'Unsubscribe', text: 'You get no more mail for this watch.', form });
  });
  // A mail program posts here as well (RFC 8058), without a session: the token is what counts.
  router.post('/unsubscribe', async (request, response) => {
    const { token } = request.query;
    await unsubscribe(registry, typeof token === 'string' ? token : '', request.ip ?? null);
    await sendMessage(request, response, {
      title: 'You are unsubscribed',
      text: 'No more mail is sent for this watch.',
    });
  });
  router.all(['/', '/account'], onlyGet);
  return router;
}

function mayPublishAnywhere(principal: Principal): boolean {
  return principal.kind === 'operator' || organizationsOf(principal).some((org) => mayPublishIn(principal, org));
}

function mayPublishIn(principal: Principal, org: string): boolean {
  return partOf(principal, org, 'publish')?.length !== 0;
}

/** What a grant allows, for people: `publish, on apis/pay-*`. */
function inWords({ scopes, resources }: Grant): string {
  return resources === null ? scopes.join(', ') : `${scopes.join(', ')}, on ${resources.join(', ')}`;
}
