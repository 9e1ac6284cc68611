import { Router } from 'express';
import { RegistryError } from '../model/errors.ts';
import { homePage } from '../site/listings.ts';
import { accountPage } from '../site/messages.ts';
import type { Site } from '../site/site.ts';
import { principalOf } from './authenticate.ts';
import { onlyGet } from './methods.ts';
import { nothingHere } from './nothing-here.ts';
import { bytesOf, pageSharing, sendPage } from './send-page.ts';

/** Milliseconds for which one walk over the registry answers everybody who is nobody. With the age of a ref it keeps within a second. */
const sharedFor = 400;

/** The pages that belong to no resource: the first one, and the one that signs people in and out. */
export function createFrontPages(site: Site): Router {
  const { registry } = site;
  let walk: { startedAt: number; html: Promise<string> } | null = null;

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', async (request, response) => {
    const principal = principalOf(request);
    const isAnonymous = principal.kind === 'anonymous';
    let html: Promise<string>;
    if (isAnonymous) {
      const time = registry.now().getTime();
      if (walk === null || time - walk.startedAt >= sharedFor)
        walk = { startedAt: time, html: homePage(site, principal) };
      html = walk.html;
    } else html = homePage(site, principal);
    const headers = pageSharing(registry.config, { isPublic: isAnonymous, by: 'reader' });
    await sendPage({ request, response }, registry.cache, bytesOf(await html), { headers });
  });
  router.get('/account', async (request, response) => {
    if (!site.hasLogin) throw new RegistryError('not_found', nothingHere);
    const html = accountPage(site, { isSignedIn: principalOf(request).kind === 'user' });
    const headers = pageSharing(registry.config, { isPublic: false });
    await sendPage({ request, response }, registry.cache, bytesOf(html), { headers });
  });
  router.all(['/', '/account'], onlyGet);
  return router;
}
