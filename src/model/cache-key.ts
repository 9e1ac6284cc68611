import { formatCoordinate, type Coordinate } from './address.ts';

/** The key of what shows everything that anybody may read: the first page, feeds, the sitemap. */
export const everywhereKey = 'registry';

/** The key of the lists of an organization. */
export function organizationKey(org: string): string {
  return `@${org}`;
}

/** The key of everything under a resource's address, which says no more than the address. */
export function resourceKey({ org, type, slug }: Coordinate): string {
  return formatCoordinate({ org, type, slug });
}
