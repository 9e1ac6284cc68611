import { everywhereKey } from '../../model/cache-key.ts';
import { Router, type Request, type Response } from 'express';
import { anonymous } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { shareWalk } from '../../scheduling/shared-walk.ts';
import { homePage } from '../../site/pages/listings.ts';
import { accountPage } from '../../site/pages/message-pages.ts';
import type { Site } from '../../site/site.ts';
import { principalOf } from '../authenticate.ts';
import { onlyGet } from '../methods.ts';
import { nothingHere } from '../nothing-here.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';

/**
 * Milliseconds for which one walk over the registry answers all anonymous readers. With the age of
 * a cached ref, an answer is at most a second old.
 */
const sharedFor = 400;

/** The home page and the page for signing in and out. */
export function createFrontPages(site: Site): Router {
  const { registry } = site;
  const publicHome = shareWalk(
    sharedFor,
    () => registry.monotonic(),
    () => homePage(site, anonymous),
  );

  async function sendHome(request: Request, response: Response): Promise<void> {
    const principal = principalOf(request);
    const headers = pageSharing(registry.config, {
      isPublic: principal.kind === 'anonymous',
      by: 'reader',
      keys: [everywhereKey],
    });
    await sendPage(
      { request, response },
      registry.cache,
      bytesOf(await (principal.kind === 'anonymous' ? publicHome() : homePage(site, principal))),
      { headers },
    );
  }

  async function sendAccount(request: Request, response: Response): Promise<void> {
    if (!site.hasLogin) throw new RegistryError('not_found', nothingHere);
    const html = accountPage(site, { isSignedIn: principalOf(request).kind === 'user' });
    const headers = pageSharing(registry.config, { isPublic: false });
    await sendPage({ request, response }, registry.cache, bytesOf(html), { headers });
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', (request, response) => sendHome(request, response));
  router.get('/account', (request, response) => sendAccount(request, response));
  router.all(['/', '/account'], onlyGet);
  return router;
}
