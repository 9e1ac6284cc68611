import { everywhereKey } from '../../model/cache-key.ts';
import { Router } from 'express';
import { anonymous, type Principal } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { listAffected, type AffectedConsumer } from '../../registry/graph/affected.ts';
import { allConsumers, type PinningConsumer } from '../../registry/graph/consumers.ts';
import { listReadable, mayReadOrganization } from '../../registry/readable.ts';
import { discoveryDocument, discoveryPattern, parseCatalogPath, parseConsumersPath } from '../../site/discovery.ts';
import { catalogPath } from '../../site/catalog.ts';
import type { Site } from '../../site/site.ts';
import { shareWalk } from '../../scheduling/turns.ts';
import { sharing } from './lifetime.ts';
import { principalOf } from '../authenticate.ts';
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
 * `llms.txt`, sitemap, feeds and the catalogs of APIs and schemas. They list what their reader may
 * read: without a credential, what is public.
 */
export function createDiscovery(
  { registry, url, links, docs }: Pick<Site, 'registry' | 'url' | 'links' | 'docs'>,
  { hasManagement, limit }: { hasManagement: boolean; limit: ReadLimit | null },
): Router {
  const place = { url, links, docs, config: registry.config, hasManagement };
  const publicResources = shareWalk(
    sharedFor,
    () => registry.monotonic(),
    () => listReadable(registry, anonymous),
  );

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

  const router = Router({ caseSensitive: true, strict: true });
  router.get(discoveryPattern, async (request, response) => {
    const { path } = request;
    nameRoute(request, patternOf(path));
    limit?.(request, response);
    const principal = principalOf(request);
    const isPublic = principal.kind === 'anonymous';
    const resources = isPublic ? await publicResources() : await listReadable(registry, principal);
    const document = discoveryDocument(place, resources, path, await consumersFor(principal, path));
    if (document === null) throw new RegistryError('not_found', nothingHere);
    const headers = {
      ...sharing(registry.config, isPublic ? 'public' : 'private', 'latest', { keys: [everywhereKey], by: 'reader' }),
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
  if (path.startsWith('/@')) return path.replace(/^\/@[^/]+/, '/@{org}');
  return path.startsWith('/sitemap') ? '/sitemap.xml' : path;
}
