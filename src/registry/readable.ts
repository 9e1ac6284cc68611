import { isAllowed, type Principal, type Visibility } from '../model/access.ts';
import { resourceTypes, type ResourceType } from '../model/address.ts';
import { isPublished, resourceRef, type Resource } from '../model/resource.ts';
import { inTurns } from '../scheduling/turns.ts';
import { siteCoordinate, siteRef, type DocumentationSite } from '../sites/model/documentation-site.ts';
import type { Generation } from '../store/records.ts';
import { recordRef, type Name, type RecordOf } from './lives.ts';
import type { Registry } from './registry.ts';

// Every read of a resource on behalf of a principal goes through this file. No other file asks the
// policy whether a resource may be read; `test/boundaries.test.ts` checks it.

/** Whether the principal may read the resource or site. */
export function mayRead(
  principal: Principal,
  { org, type, slug, visibility }: Name & { visibility: Visibility },
): boolean {
  return isAllowed(principal, 'read', { org, resource: { type, slug, visibility } });
}

/** Whether the principal may read an organization's private resources. */
export function mayReadOrganization(principal: Principal, org: string): boolean {
  return isAllowed(principal, 'read', { org });
}

/**
 * The newest generation of a resource or site, even if it was deleted, if the principal may read it.
 * Null if it does not exist or is hidden.
 */
export async function readReadable<N extends Name>(
  registry: Pick<Registry, 'refs'>,
  principal: Principal,
  of: N,
): Promise<Generation<RecordOf<N>> | null> {
  const generation = await registry.refs.read<RecordOf<N>>(recordRef(of));
  // The policy is asked for what is absent too, so that time does not tell it from what is private.
  const isReadable = mayRead(principal, { ...(of as Name), visibility: generation?.value.visibility ?? 'private' });
  return isReadable ? generation : null;
}

/** As `readReadable`, but null for what was deleted. */
export async function findReadable<N extends Name>(
  registry: Pick<Registry, 'refs'>,
  principal: Principal,
  of: N,
): Promise<Generation<RecordOf<N>> | null> {
  const generation = await readReadable(registry, principal, of);
  return generation?.value.deletedAt === null ? generation : null;
}

/**
 * The resources of one type that the principal may read, in the order of the store, starting after
 * the slug `after`: those that are deleted, or those that are not.
 */
export async function* readableResources(
  { refs }: Pick<Registry, 'refs'>,
  principal: Principal,
  org: string,
  type: ResourceType,
  after: string | null,
  isDeleted = false,
): AsyncGenerator<Generation<Resource>> {
  const start = after === null ? undefined : resourceRef({ org, type, slug: after });
  for await (const name of refs.list(`resources/${org}/${type}/`, start)) {
    const generation = await refs.read<Resource>(name);
    if (generation === null || (generation.value.deletedAt !== null) !== isDeleted) continue;
    if (mayRead(principal, generation.value)) yield generation;
  }
}

/**
 * Whether lists show the resource to the principal. Anonymous readers see only resources with a
 * readable version; the others have nothing but a page that says so.
 */
function isListed(principal: Principal, resource: Resource): boolean {
  return mayRead(principal, resource) && (principal.kind !== 'anonymous' || isPublished(resource));
}

/**
 * Every resource that lists show to the principal (of one organization, of one type), by
 * organization, type and slug. Do not change the array.
 */
export async function listReadable(
  registry: Pick<Registry, 'refs' | 'log' | 'answers'>,
  principal: Principal,
  { org, type }: { org?: string; type?: ResourceType } = {},
): Promise<readonly Resource[]> {
  const prefix = ['resources', ...(org === undefined ? [] : [org, ...(type === undefined ? [] : [type])]), ''].join(
    '/',
  );
  const list = (key: string, make: () => Promise<readonly Resource[]>) =>
    registry.answers.answer(`${key} ${prefix}`, make, ({ length }) => length * 16);
  const living = () =>
    list('living', async () => {
      const all = await registry.refs.all<Resource>(prefix);
      return all.flatMap(({ value }) => (value.deletedAt === null ? [value] : [])).sort(inOrder);
    });
  const listed = async () => {
    const found: Resource[] = [];
    for await (const some of inTurns(await living(), 1000))
      found.push(...some.filter((resource) => isListed(principal, resource)));
    return found;
  };
  return principal.kind === 'anonymous' ? list('public', listed) : listed();
}

function inOrder(a: Resource, b: Resource): number {
  if (a.org !== b.org) return a.org < b.org ? -1 : 1;
  return resourceTypes.indexOf(a.type) - resourceTypes.indexOf(b.type) || (a.slug < b.slug ? -1 : 1);
}

/** The documentation sites that the principal may read (of one organization), by name: those that are deleted, or those that are not. */
export async function listReadableSites(
  registry: Pick<Registry, 'refs'>,
  principal: Principal,
  org?: string,
  isDeleted = false,
): Promise<Generation<DocumentationSite>[]> {
  const all = await registry.refs.all<DocumentationSite>(org === undefined ? 'sites/' : `sites/${org}/`);
  const readable = all.filter(
    ({ value }) =>
      (value.deletedAt !== null) === isDeleted &&
      mayRead(principal, { ...siteCoordinate(value), visibility: value.visibility }),
  );
  return readable.sort((a, b) => (siteRef(a.value) < siteRef(b.value) ? -1 : 1));
}
