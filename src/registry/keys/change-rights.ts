import { isDeepStrictEqual } from 'node:util';
import { providersOf } from '../../config/login-config.ts';
import {
  isResourceGlob,
  type Scope,
  holderInWords,
  rightsRef,
  type GivenRights,
  type OrganizationRights,
} from '../../model/access.ts';
import { isSlug } from '../../model/address.ts';
import { invalidMember, malformed, conflict, notFound } from '../../model/errors.ts';
import { assertAdministered } from './keys.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import { newId, type Author, type Registry } from '../registry.ts';

/** Rights to give to a group, or to one person. */
export interface NewRights {
  /** Default: the identity provider, where there is one. */
  issuer?: string;
  group?: string;
  /** As members are listed: `{issuer}#{subject}`. */
  person?: string;
  scopes: Scope[];
  resources?: string[] | null;
}

/** What Stele itself uses: its documentation, what `stele serve` publishes, a page of the console. The configuration may name them. */
const ownNames = ['stele', 'local', 'new'];

const maxRights = 500;

/**
 * Creates an organization, whose owner administers it. Throws `malformed` for a name that is not to be had, and `conflict` if there is one of that name:
 * in the configuration, by a record, or because it has a resource.
 */
export async function createOrganization(
  registry: Registry,
  org: string,
  owner: string | null,
  author: Author,
): Promise<void> {
  if (!isSlug(org) || ownNames.includes(org))
    throw malformed(`${JSON.stringify(org)} cannot be the name of an organization. Choose another one.`);
  const rights = owner === null ? [] : [rightsFrom(registry, { person: owner, scopes: ['admin'] })];
  const taken = () => conflict(`There is already an organization ${org}.`);
  if ((await listOrganizations(registry)).includes(org)) throw taken();
  await registry.refs.update<OrganizationRights>(rightsRef(org), (current) => {
    if (current !== null) throw taken();
    return { value: { rights }, change: { ...author, action: 'create organization' } };
  });
}

/** Gives rights in an organization, at once and on every node. Giving the same again changes nothing. */
export async function giveRights(
  registry: Registry,
  org: string,
  given: NewRights,
  author: Author,
): Promise<GivenRights> {
  const made = rightsFrom(registry, given);
  let result = made;
  await registry.refs.update<OrganizationRights>(rightsRef(org), (current) => {
    const rights = current?.value.rights ?? [];
    const same = rights.find((each) => isDeepStrictEqual({ ...each, id: '' }, { ...made, id: '' }));
    result = same ?? made;
    if (same) return null;
    if (rights.length >= maxRights)
      throw conflict(`An organization gives at most ${maxRights} rights. Take some back first.`);
    const action = `give ${made.scopes.join(', ')} to ${holderInWords(made)}`;
    return { value: { rights: [...rights, made] }, change: { ...author, action } };
  });
  return result;
}

/**
 * Takes rights back. Throws `not_found` for an unknown id: those of the configuration have none; and `conflict` for
 * those of the last administrator, unless `last` says that this is meant.
 */
export async function takeRights(
  registry: Registry,
  org: string,
  id: string,
  author: Author,
  { last = false }: { last?: boolean } = {},
): Promise<void> {
  await registry.refs.update<OrganizationRights>(
    rightsRef(org),
    async (current) => {
      const rights = current?.value.rights ?? [];
      const taken = rights.find((each) => each.id === id);
      if (!taken) throw notFound('There are no such rights.');
      if (!last) await assertAdministered(registry, { ...taken, org });
      const action = `take ${taken.scopes.join(', ')} from ${holderInWords(taken)}`;
      return { value: { rights: rights.filter((each) => each !== taken) }, change: { ...author, action } };
    },
    { readsOthers: true },
  );
}

function rightsFrom(registry: Registry, { issuer, group, person, scopes, resources = null }: NewRights): GivenRights {
  const providers = providersOf(registry.config.login);
  const named = providers.map((each) => each.issuer);
  if (named.length === 0) throw conflict('This registry has no identity provider, so nobody signs in. Make a key.');
  if ((group === undefined) === (person === undefined))
    throw invalidMember('/group', 'or person is needed, and not both');
  if (resources?.some((glob) => !isResourceGlob(glob)))
    throw invalidMember('/resources', 'has a pattern that is not valid');
  const basis = { id: newId(registry), scopes, resources };
  if (person !== undefined) {
    const of = named.find((each) => person.startsWith(`${each}#`));
    if (of === undefined) throw invalidMember('/person', `must begin with an issuer and #, such as ${named[0]!}#ada`);
    return { ...basis, issuer: of, group: null, subject: person.slice(of.length + 1) };
  }
  const of = issuer ?? (named.length === 1 ? named[0] : undefined);
  if (of === undefined || !named.includes(of)) throw invalidMember('/issuer', `must be one of ${named.join(', ')}`);
  return { ...basis, issuer: of, group: group!, subject: null };
}
