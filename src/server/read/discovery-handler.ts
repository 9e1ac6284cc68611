import { everywhereKey } from '../../model/cache-key.ts';
import { Router } from 'express';
import { anonymous } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { listReadable } from '../../registry/readable.ts';
import { discoveryDocument, discoveryPattern } from '../../site/discovery.ts';
import { catalogPath } from '../../site/catalog.ts';
import type { Site } from '../../site/site.ts';
import { shareWalk } from '../../scheduling/shared-walk.ts';
import { sharing } from './lifetime.ts';
import { onlyGet } from '../methods.ts';
import { nothingHere } from '../nothing-here.ts';
import type { ReadLimit } from '../rate/read-limit.ts';
import { nameRoute } from '../route-name.ts';
import { bytesOf, sendPage } from '../send-page.ts';

/**
 * Milliseconds for which one walk over the registry answers everyone. With the age of a cached record,
 * an answer is at most a second old.
 */
const sharedFor = 400;

/**
 * `llms.txt`, sitemap, feeds and the API catalog. They list only public resources, whoever reads
 * them.
 */
export function createDiscovery(
  { registry, url, links, docs }: Pick<Site, 'registry' | 'url' | 'links' | 'docs'>,
  { hasManagement, limit }: { hasManagement: boolean; limit: ReadLimit | null },
): Router {
  const place = { url, links, docs, hasManagement };
  const publicResources = shareWalk(
    sharedFor,
    () => registry.monotonic(),
    () => listReadable(registry, anonymous),
  );

  const router = Router({ caseSensitive: true, strict: true });
  router.get(discoveryPattern, async (request, response) => {
    const { path } = request;
    nameRoute(request, patternOf(path));
    limit?.(request, response);
    const document = discoveryDocument(place, await publicResources(), path);
    if (document === null) throw new RegistryError('not_found', nothingHere);
    const headers = {
      ...sharing(registry.config, 'public', 'latest', { keys: [everywhereKey] }),
      ...(path === catalogPath && { Link: `<${place.links.path(catalogPath)}>; rel="api-catalog"` }),
    };
    await sendPage({ request, response }, registry, bytesOf(document.text), { mediaType: document.mediaType, headers });
  });
  router.all(discoveryPattern, onlyGet);
  return router;
}

/** Route pattern of a path for metrics. Their number is finite, whatever clients request. */
function patternOf(path: string): string {
  if (path.startsWith('/feed')) return '/feeds/{scope}';
  return path.startsWith('/sitemap') ? '/sitemap.xml' : path;
}
