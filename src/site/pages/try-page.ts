import { coordinateOf } from '../../model/resource.ts';
import { outlineOf } from '../../registry/derived.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { organizationTitle } from './crumbs.ts';
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

/**
 * The origins of a server's URL as a `Content-Security-Policy` names them (CSP 3, host-source);
 * empty if that is not safe. A variable as scheme means http and https; as port, any port; at the
 * start of the host, any subdomain of at least two labels: `https://{region}.api.example.com` gives
 * `https://*.api.example.com`, and `https://{anything}.com` gives none.
 */
export function serverOrigins(url: string): string[] {
  const parts = /^(https?|\{[^{}]*\}):\/\/([^/?#:@\\]+)(?::([^/?#:@\\]*))?(?:[/?#]|$)/i.exec(url);
  if (!parts) return [];
  const [, scheme, name, port] = parts;
  const host = hostSource(name!.toLowerCase());
  const place = port === undefined ? '' : /^\d{1,5}$/.test(port) ? `:${port}` : /^\{[^{}]*\}$/.test(port) ? ':*' : null;
  if (host === null || place === null) return [];
  const schemes = scheme!.startsWith('{') ? ['https', 'http'] : [scheme!.toLowerCase()];
  return schemes.map((each) => `${each}://${host}${place}`);
}

function hostSource(name: string): string | null {
  // A variable may contain dots, so it is replaced before parsing the host.
  const labels = name.replace(/\{[^{}]*\}/g, '*').split('.');
  const variable = labels.findLastIndex((label) => label.includes('*'));
  const rest = labels.slice(variable + 1);
  if (!rest.every((label) => /^[a-z0-9-]+$/.test(label))) return null;
  // Rejects a literal `*` in the document, which is neither a variable nor a host.
  if (variable < 0) return rest.join('.');
  return name.includes('*') || rest.length < 2 ? null : `*.${rest.join('.')}`;
}
