import { organizationKey, everywhereKey } from '../../model/cache-key.ts';
import type { ResourceType } from '../../model/address.ts';
import { ownershipOf } from '../../model/ownership.ts';
import { aboutOf, nameOf, type Resource } from '../../model/resource.ts';
import { listReadable, mayReadOrganization } from '../../registry/readable.ts';
import { sharing } from './caching.ts';
import type { Links } from '../../site/links.ts';
import { organizationPage, publishedSites } from '../../site/pages/listings.ts';
import { answerMethod } from '../methods.ts';
import type { ReadRequest } from './read-request.ts';
import { pageOf, sendJson, wantsPage } from './views.ts';
import { bytesOf, pageSharing, sendPage, sizeOf, type PageOptions } from '../send-page.ts';
import { absent } from '../error-answers.ts';
import { usesAround, usesWithin, listUses, type Use } from '../../registry/graph/dependants.ts';
import { dependantsPage, organizationGraphPage } from '../../site/pages/uses-pages.ts';
import { dependantRecord, placeOfUse } from '../v1/dependant-routes.ts';

/** Sends what the reader may see of an organization, or of one type in it; 404 if that is nothing. */
export async function sendListing(read: ReadRequest, org: string, type: ResourceType | null): Promise<void> {
  const { context, principal } = read;
  const { registry, site } = context;
  const listed = async () => ({
    resources: await listReadable(registry, principal, { org, ...(type !== null && { type }) }),
    sites: type === null ? await publishedSites(site, principal, org) : [],
  });
  const { resources, sites } = await listed();
  const isEmpty = resources.length === 0 && sites.length === 0;
  if (isEmpty && !mayReadOrganization(principal, org)) throw absent();
  const visibility = principal.kind === 'anonymous' ? 'public' : 'private';
  if (answerMethod(read, visibility)) return;
  const keep: PageOptions['keep'] = (sent, bytes) => read.keep?.(null, sent, bytes);
  if (wantsPage(read)) {
    const isPublic = visibility === 'public';
    const headers = pageSharing(registry.config, { isPublic, by: 'reader', keys: [organizationKey(org)] });
    const make = async () => bytesOf(await organizationPage(site, org, type, await listed()));
    const page = isPublic ? await site.answers.answer(`list ${org} ${type}`, make, sizeOf) : await make();
    return sendPage(read, registry, page, { headers, keep });
  }
  const { items, next } = pageOf(resources, read.query, nameOf);
  const shared = sharing(registry.config, visibility, 'latest', { keys: [organizationKey(org)], by: 'reader' });
  await sendJson(read, { items: items.map((resource) => listedRecord(read.links, resource)), next }, shared, {}, keep);
}

function listedRecord(links: Links, resource: Resource): object {
  const { type, slug, name, visibility, latest } = resource;
  const url = links.url(resource);
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

/** Sends who uses a resource, as far as the reader may read them: to people as a page, with what is around it. */
export async function sendDependants(read: ReadRequest, resource: Resource): Promise<void> {
  const { principal, context } = read;
  const { registry, site } = context;
  const users = () => listUses(registry, principal, [resource]);
  await sendUses(read, {
    name: nameOf(resource),
    page: async () => dependantsPage(site, resource, await usesAround(registry, principal, resource, await users())),
    uses: users,
    describe: ({ user }) => dependantRecord(user),
  });
}

/** Sends what an organization's resources use, and who uses them, as far as the reader may read it; 404 if that is nothing. */
export async function sendGraph(read: ReadRequest, org: string): Promise<void> {
  const { principal, context } = read;
  const { registry, site } = context;
  const resources = await listReadable(registry, principal, { org });
  if (resources.length === 0 && !mayReadOrganization(principal, org)) throw absent();
  if (answerMethod(read, principal.kind === 'anonymous' ? 'public' : 'private')) return;
  const uses = async () => usesWithin(registry, principal, await listReadable(registry, principal, { org }));
  await sendUses(read, {
    name: `@${org}`,
    page: async () => organizationGraphPage(site, org, await uses()),
    uses,
    describe: ({ used, user }) => ({ contract: nameOf(used), ...dependantRecord(user) }),
  });
}

/** Who uses something, as a page and as a list of records. */
interface Answer {
  name: string;
  page: () => Promise<string>;
  uses: () => Promise<readonly Use[]>;
  describe: (use: Use) => object;
}

/** Sends what is the same for all anonymous readers, but depends on everybody's records. */
async function sendUses(read: ReadRequest, { name, page, uses, describe }: Answer): Promise<void> {
  const { registry, site } = read.context;
  const isPublic = read.principal.kind === 'anonymous';
  const shared = { by: 'reader', keys: [everywhereKey] } as const;
  if (wantsPage(read)) {
    const make = async () => bytesOf(await page());
    const bytes = isPublic ? await site.answers.answer(`uses ${name}`, make, sizeOf) : await make();
    return sendPage(read, registry, bytes, { headers: pageSharing(registry.config, { isPublic, ...shared }) });
  }
  const { items, next } = pageOf(await uses(), read.query, ({ used, user }) => `${nameOf(used)} ${placeOfUse(user)}`);
  const headers = sharing(registry.config, isPublic ? 'public' : 'private', 'latest', shared);
  await sendJson(read, { items: items.map(describe), next }, headers);
}
