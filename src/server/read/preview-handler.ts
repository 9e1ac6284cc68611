import { Router } from 'express';
import { RegistryError } from '../../model/errors.ts';
import { openPreview } from '../../pulls/preview.ts';
import { dayOf } from '../../site/pages/dates.ts';
import { relatedTo } from '../../site/pages/related.ts';
import { resourcePage } from '../../site/pages/resource-page.ts';
import { imageHosts } from '../../site/pages/show-images.ts';
import type { Site } from '../../site/site.ts';
import { principalOf } from '../authenticate.ts';
import { onlyGet } from '../methods.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';
import type { ReadLimit } from '../rate/read-limit.ts';

/**
 * `/previews/{token}`: the page of a document as a pull request would publish it. No cache keeps it,
 * no search engine lists it, and no link on it tells where its reader came from.
 */
export function createPreviewRoutes(site: Site, limit: ReadLimit | null): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/previews/:token', async (request, response) => {
    limit?.(request, response);
    const principal = principalOf(request);
    const opened = await openPreview(site.registry, principal, request.params.token);
    if (opened === null) {
      throw new RegistryError('not_found', 'There is no such preview, or it has expired. Run the check again.');
    }
    const { registry, granted, expiresAt } = opened;
    const related = await relatedTo({ ...site, registry }, granted, principal);
    const { text } = await resourcePage({ ...site, registry }, granted, related, { expires: dayOf(expiresAt) });
    const headers = {
      ...pageSharing(registry.config, { isPublic: false, images: imageHosts(registry, granted.resource.org) }),
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
    };
    await sendPage({ request, response }, registry.cache, bytesOf(text), { headers });
  });
  router.all('/previews/:token', onlyGet);
  return router;
}
