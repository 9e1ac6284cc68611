import { organizationKey } from '../../model/cache-key.ts';
import type { ResourceType } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { aboutOf, coordinateOf, nameOf, type Resource } from '../../model/resource.ts';
import { listReadable, mayReadOrganization } from '../../registry/readable.ts';
import type { Registry } from '../../registry/registry.ts';
import { sharing } from './lifetime.ts';
import type { Links } from '../../site/links.ts';
import { organizationPage, publishedSites } from '../../site/pages/listings.ts';
import { answerMethod } from '../methods.ts';
import { createKeptPages } from './kept-pages.ts';
import { prefersPage } from './negotiate.ts';
import { pageOf } from './paging.ts';
import type { ReadRequest } from './read-request.ts';
import { bytesOf, pageSharing, sendPage, type PageOptions } from '../send-page.ts';
import { sendJson } from './views.ts';
import { nothingHere } from '../nothing-here.ts';

/**
 * Sends what the reader may see of an organization, or of one type in it; 404 if that is nothing.
 */
export type SendListing = (read: ReadRequest, org: string, type: ResourceType | null) => Promise<void>;

/** Creates the sender of lists. Pages for everybody are kept with the list that they show. */
export function createSendListing(): SendListing {
  const kept = createKeptPages();

  return async (read, org, type) => {
    const { context, principal, request } = read;
    const { registry } = context;
    const isCurrent = unchangedOf(registry, org);
    const resources = await listReadable(registry, principal, { org, ...(type !== null && { type }) });
    const sites = type === null ? await publishedSites(context.site, principal, org) : [];
    const isEmpty = resources.length === 0 && sites.length === 0;
    if (isEmpty && !mayReadOrganization(principal, org)) throw new RegistryError('not_found', nothingHere);
    const visibility = principal.kind === 'anonymous' ? 'public' : 'private';
    if (answerMethod(read, visibility)) return;
    const keep: PageOptions['keep'] = (sent, bytes) => {
      if (isCurrent !== null) read.keep?.({ granted: null, isCurrent }, sent, bytes);
    };
    if (!new URLSearchParams(read.query).has('format') && prefersPage(request.headers.accept)) {
      const headers = pageSharing(registry.config, {
        isPublic: visibility === 'public',
        by: 'reader',
        keys: [organizationKey(org)],
      });
      const make = () => bytesOf(organizationPage(context.site, org, type, resources, sites));
      const page = kept(principal, resources, sites, make);
      return sendPage(read, registry.cache, page, { headers, keep });
    }
    const { items, next } = pageOf(resources, read.query, nameOf);
    const shared = sharing(registry.config, visibility, 'latest', { keys: [organizationKey(org)], by: 'reader' });
    await sendJson(read, { items: items.map((resource) => describe(read.links, resource)), next }, shared, {}, keep);
  };
}

/** Tells whether an organization's resources and sites are still those of now. Null: those are not at hand. */
function unchangedOf({ refs }: Registry, org: string): (() => boolean) | null {
  const [resources, sites] = [`resources/${org}/`, `sites/${org}/`];
  const [known, knownSites] = [refs.allAtHand(resources), refs.allAtHand(sites)];
  if (known === undefined || knownSites === undefined) return null;
  return () => refs.allAtHand(resources) === known && refs.allAtHand(sites) === knownSites;
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
