import { formatAddress } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';
import { coordinateOf, nameOf, type Resource } from '../../model/resource.ts';
import type { Crumb, Site } from '../site.ts';
import { organizationIn } from '../../config/organization-config.ts';

/** The breadcrumbs of a resource, from its organization. */
export function crumbsOf(site: Site, { org, type, name }: Resource): Crumb[] {
  const path = (address: Parameters<typeof formatAddress>[0]) => site.links.path(formatAddress(address));
  return [
    { text: organizationTitle(site, org), href: path({ kind: 'organization', org }) },
    { text: types[type].many, href: path({ kind: 'type', org, type }) },
    { text: name },
  ];
}

/** The breadcrumbs of a page below that of a resource, or of one of its versions. */
export function crumbsWithin(site: Site, resource: Resource, title: string, label?: string): Crumb[] {
  const [org, type, own] = crumbsOf(site, resource);
  const at = { href: site.links.to(coordinateOf(resource), label === undefined ? {} : { label }) };
  const text = label === undefined ? own!.text : `${own!.text} ${label}`;
  return [org!, type!, { text, ...at }, { text: title }];
}

/** What a page below that of a resource, or of one of its versions, says of it. */
export function pageWithin(site: Site, resource: Resource, title: string, label?: string) {
  const href = site.links.to(coordinateOf(resource), label === undefined ? {} : { label });
  return {
    org: resource.org,
    crumbs: crumbsWithin(site, resource, title, label),
    hidden: true,
    resource: { name: resource.name, coordinate: nameOf(resource), href },
    ...(label !== undefined && { label }),
  };
}

/** The display name of an organization: from the configuration, or its name in URLs. */
export function organizationTitle(site: Site, org: string): string {
  return organizationIn(site.registry.config, org)?.name ?? org;
}
