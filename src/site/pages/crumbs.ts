import { formatAddress } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';
import type { Resource } from '../../model/resource.ts';
import { organizationTitle } from './listings.ts';
import type { Site } from '../site.ts';

/** The breadcrumbs of a resource, from its organization. */
export function crumbsOf(site: Site, { org, type, name }: Resource): { text: string; href?: string }[] {
  const path = (address: Parameters<typeof formatAddress>[0]) => site.links.path(formatAddress(address));
  return [
    { text: organizationTitle(site, org), href: path({ kind: 'organization', org }) },
    { text: types[type].many, href: path({ kind: 'type', org, type }) },
    { text: name },
  ];
}
