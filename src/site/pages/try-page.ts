import { coordinateOf } from '../../model/resource.ts';
import { outlineOf } from '../../registry/derived.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { organizationTitle } from './organization-title.ts';
import { serverOrigins } from './server-origins.ts';
import type { Site } from '../site.ts';

/** The most servers that a page may reach. More would make the header too long for proxies. */
const maxServers = 20;

/** The page for trying requests of an API, and the origins that it needs to reach. */
export async function tryPage(site: Site, granted: GrantedVersion): Promise<{ html: string; servers: string[] }> {
  const { links } = site;
  const { resource, version } = granted;
  const coordinate = coordinateOf(resource);
  const outline = await outlineOf(site.registry, granted);
  const servers = [...new Set((outline?.servers ?? []).flatMap(serverOrigins))].slice(0, maxServers);
  const back = links.to(coordinate, { label: version.label });
  const html = site.page('try', {
    org: resource.org,
    title: `Try ${resource.name} ${version.label}`,
    crumbs: [
      { text: organizationTitle(site, resource.org), href: links.path(`/@${resource.org}`) },
      { text: `${resource.name} ${version.label}`, href: back },
      { text: 'Try it' },
    ],
    hidden: true,
    resource: { name: resource.name },
    version: { label: version.label },
    back,
    servers,
    document: links.to(coordinate, { label: version.label, format: 'json' }),
    styles: ['try.css'],
    scripts: ['reference.js', 'try.js'],
  });
  return { html, servers };
}
