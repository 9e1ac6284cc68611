import type { Scope } from './access.ts';

/** Rights in an organization that administrators gave to a group or to one person. */
export interface GivenRights {
  id: string;
  /** The identity provider whose group or person it is. */
  issuer: string;
  /** A value of the provider's claim; `*`: everybody who signs in there. Null: a person has the rights. */
  group: string | null;
  /** The person's subject at the provider. Null: a group has the rights. */
  subject: string | null;
  scopes: Scope[];
  /** Globs of `type/slug`. Null: the whole organization. */
  resources: string[] | null;
}

/**
 * An organization, and who has which rights in it beside those that the configuration gives: the value
 * of one record. All are in the registry's log, since each request of a person asks for all.
 */
export interface OrganizationRights {
  rights: GivenRights[];
}

/** The name of the record of an organization's rights. */
export function rightsRef(org: string): string {
  return `rights/${org}`;
}

/** Whom the rights are given to, in words: `the group payments`. */
export function holderInWords({ group, subject }: Pick<GivenRights, 'group' | 'subject'>): string {
  if (subject !== null) return `the person ${subject}`;
  return group === everybody ? 'everybody who signs in' : `the group ${group}`;
}

/** The group of everybody who signs in. */
export const everybody = '*';
