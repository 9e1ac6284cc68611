import { organizationKey } from '../../model/cache-key.ts';
import type { ResourceType } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { aboutOf, coordinateOf, nameOf, type Resource } from '../../model/resource.ts';
import { listReadable, mayReadOrganization } from '../../registry/readable.ts';
import { sharing } from './lifetime.ts';
import type { Links } from '../../site/links.ts';
import { organizationPage, publishedSites } from '../../site/pages/listings.ts';
import { answerMethod } from '../methods.ts';
import { prefersPage } from './negotiate.ts';
import { pageOf } from './paging.ts';
import type { ReadRequest } from './read-request.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';
import { sendJson } from './views.ts';
import { nothingHere } from '../nothing-here.ts';

/**
 * Sends what the reader may see of an organization, or of one type in it; 404 if that is nothing.
 */
export async function sendListing(read: ReadRequest, org: string, type: ResourceType | null): Promise<void> {
  const { context, principal } = read;
  const { registry } = context;
  const resources = await listReadable(registry, principal, { org, ...(type !== null && { type }) });
  if (resources.length === 0 && !mayReadOrganization(principal, org)) throw new RegistryError('not_found', nothingHere);
  const visibility = principal.kind === 'anonymous' ? 'public' : 'private';
  if (answerMethod(read, visibility)) return;
  if (!new URLSearchParams(read.query).has('format') && prefersPage(read.request.headers.accept)) {
    const headers = pageSharing(registry.config, {
      isPublic: visibility === 'public',
      by: 'reader',
      keys: [organizationKey(org)],
    });
    const sites = type === null ? await publishedSites(context.site, principal, org) : [];
    const html = organizationPage(context.site, org, type, resources, sites);
    return sendPage(read, registry.cache, bytesOf(html), { headers });
  }
  const { items, next } = pageOf(resources, read.query, nameOf);
  const shared = sharing(registry.config, visibility, 'latest', { keys: [organizationKey(org)], by: 'reader' });
  await sendJson(read, { items: items.map((resource) => describe(read.links, resource)), next }, shared);
}

function describe(links: Links, resource: Resource): object {
  const { type, slug, name, owner, topics, visibility, latest } = resource;
  const about = { ...(owner && { owner }), ...(topics && { topics }) };
  const url = links.whole(links.to(coordinateOf(resource)));
  return {
    coordinate: nameOf(resource),
    type,
    slug,
    name,
    description: aboutOf(resource),
    ...about,
    visibility,
    latest,
    url,
  };
}
