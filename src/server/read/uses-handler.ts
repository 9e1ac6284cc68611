import { everywhereKey } from '../../model/cache-key.ts';
import { RegistryError } from '../../model/errors.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import { usesAround, usesWithin } from '../../registry/graph/uses.ts';
import { listUses, type Use } from '../../registry/graph/users.ts';
import { listReadable, mayReadOrganization } from '../../registry/readable.ts';
import { dependantsPage, organizationGraphPage } from '../../site/graph/uses-pages.ts';
import { answerMethod } from '../methods.ts';
import { nothingHere } from '../nothing-here.ts';
import { bytesOf, pageSharing, sendPage, sizeOf } from '../send-page.ts';
import { dependantRecord, placeOf } from '../v1/graph/dependant-routes.ts';
import { sharing } from './lifetime.ts';
import { pageOf } from './paging.ts';
import type { ReadRequest } from './read-request.ts';
import { sendJson, wantsPage } from './views.ts';

/** Sends who uses a resource, as far as the reader may read them: to people as a page, with what is around it. */
export async function sendDependants(read: ReadRequest, resource: Resource): Promise<void> {
  const { principal, context } = read;
  const { registry, site } = context;
  const users = await listUses(registry, principal, [resource]);
  await sendUses(read, {
    name: nameOf(resource),
    page: async () => dependantsPage(site, resource, await usesAround(registry, principal, resource, users)),
    uses: users,
    describe: ({ user }) => dependantRecord(user),
  });
}

/** Sends what an organization's resources use, and who uses them, as far as the reader may read it; 404 if that is nothing. */
export async function sendGraph(read: ReadRequest, org: string): Promise<void> {
  const { principal, context } = read;
  const { registry, site } = context;
  const resources = await listReadable(registry, principal, { org });
  if (resources.length === 0 && !mayReadOrganization(principal, org)) throw new RegistryError('not_found', nothingHere);
  if (answerMethod(read, principal.kind === 'anonymous' ? 'public' : 'private')) return;
  const uses = await usesWithin(registry, principal, resources);
  await sendUses(read, {
    name: `@${org}`,
    page: () => organizationGraphPage(site, org, uses),
    uses,
    describe: ({ used, user }) => ({ contract: nameOf(used), ...dependantRecord(user) }),
  });
}

/** Who uses something, as a page and as a list of records. */
interface Answer {
  /** What the answer is about. */
  name: string;
  page: () => Promise<string>;
  uses: readonly Use[];
  describe: (use: Use) => object;
}

/** Sends what is the same for all anonymous readers, but depends on everybody's records. */
async function sendUses(read: ReadRequest, { name, page, uses, describe }: Answer): Promise<void> {
  const { registry, site } = read.context;
  const isPublic = read.principal.kind === 'anonymous';
  const shared = { by: 'reader', keys: [everywhereKey] } as const;
  if (wantsPage(read)) {
    const make = async () => bytesOf(await page());
    const bytes = isPublic ? await site.answers.answer(`uses ${name}`, 'all', make, sizeOf) : await make();
    return sendPage(read, registry, bytes, { headers: pageSharing(registry.config, { isPublic, ...shared }) });
  }
  const { items, next } = pageOf(uses, read.query, ({ used, user }) => `${nameOf(used)} ${placeOf(user)}`);
  const headers = sharing(registry.config, isPublic ? 'public' : 'private', 'latest', shared);
  await sendJson(read, { items: items.map(describe), next }, headers);
}
