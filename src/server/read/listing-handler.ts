import { organizationKey } from '../../model/cache-key.ts';
import type { ResourceType } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { ownershipOf } from '../../model/ownership.ts';
import { aboutOf, coordinateOf, nameOf, type Resource } from '../../model/resource.ts';
import { listReadable, mayReadOrganization } from '../../registry/readable.ts';
import { logsOf } from '../../registry/answer-cache.ts';
import { sharing } from './lifetime.ts';
import type { Links } from '../../site/links.ts';
import { organizationPage, publishedSites } from '../../site/pages/listings.ts';
import { answerMethod } from '../methods.ts';
import { prefersPage } from './negotiate.ts';
import { pageOf } from './paging.ts';
import type { ReadRequest } from './read-request.ts';
import { bytesOf, pageSharing, sendPage, sizeOf, type PageOptions } from '../send-page.ts';
import { sendJson } from './views.ts';
import { nothingHere } from '../nothing-here.ts';

/**
 * Sends what the reader may see of an organization, or of one type in it; 404 if that is nothing.
 */
export type SendListing = (read: ReadRequest, org: string, type: ResourceType | null) => Promise<void>;

export const sendListing: SendListing = async (read, org, type) => {
  const { context, principal, request } = read;
  const { registry, site } = context;
  const resources = await listReadable(registry, principal, { org, ...(type !== null && { type }) });
  const sites = type === null ? await publishedSites(site, principal, org) : [];
  const isEmpty = resources.length === 0 && sites.length === 0;
  if (isEmpty && !mayReadOrganization(principal, org)) throw new RegistryError('not_found', nothingHere);
  const visibility = principal.kind === 'anonymous' ? 'public' : 'private';
  if (answerMethod(read, visibility)) return;
  const keep: PageOptions['keep'] = (sent, bytes) => read.keep?.(null, sent, bytes);
  if (!new URLSearchParams(read.query).has('format') && prefersPage(request.headers.accept)) {
    const isPublic = visibility === 'public';
    const headers = pageSharing(registry.config, { isPublic, by: 'reader', keys: [organizationKey(org)] });
    const make = async () => bytesOf(await organizationPage(site, org, type, resources, sites));
    const page = isPublic ? await site.answers.answer(`list ${org} ${type}`, logsOf(org), make, sizeOf) : await make();
    return sendPage(read, registry, page, { headers, keep });
  }
  const { items, next } = pageOf(resources, read.query, nameOf);
  const shared = sharing(registry.config, visibility, 'latest', { keys: [organizationKey(org)], by: 'reader' });
  await sendJson(read, { items: items.map((resource) => describe(read.links, resource)), next }, shared, {}, keep);
};

function describe(links: Links, resource: Resource): object {
  const { type, slug, name, visibility, latest } = resource;
  const url = links.whole(links.to(coordinateOf(resource)));
  return {
    coordinate: nameOf(resource),
    type,
    slug,
    name,
    description: aboutOf(resource),
    ...ownershipOf(resource),
    visibility,
    latest,
    url,
  };
}
