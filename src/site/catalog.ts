import { coordinateOf, type Resource } from '../model/resource.ts';
import type { Site } from './site.ts';

export const catalogPath = '/.well-known/api-catalog';
export const catalogType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

interface Entry {
  anchor: string;
  [relation: string]: unknown;
}

/**
 * The catalog of public APIs (RFC 9727): the URL and description of each. `hasManagement`: whether
 * to include the management API.
 */
export function apiCatalog(
  { url, links, hasManagement }: Pick<Site, 'url' | 'links'> & { hasManagement: boolean },
  resources: readonly Resource[],
): string {
  const apis = resources.filter(({ type, latest }) => type === 'apis' && latest !== null);
  const entries = apis.map((api) => describe(links, api));
  if (hasManagement) entries.unshift(describeOwn(url));
  const item = entries.map(({ anchor }) => ({ href: anchor }));
  return JSON.stringify({ linkset: [{ anchor: `${url}${catalogPath}`, item }, ...entries] });
}

function describe(links: Site['links'], api: Resource): Entry {
  const to = (options?: Parameters<typeof links.to>[1]) => links.whole(links.to(coordinateOf(api), options));
  const documents = [
    { href: to({ format: 'json' }), type: 'application/openapi+json' },
    { href: to({ format: 'yaml' }), type: 'application/openapi+yaml' },
  ];
  const pages = [
    { href: to({ view: 'page' }), type: 'text/html' },
    { href: to({ view: 'markdown' }), type: 'text/markdown' },
  ];
  const history = [{ href: to({ view: 'versions' }), type: 'application/json' }];
  return { anchor: to(), 'service-desc': documents, 'service-doc': pages, 'version-history': history };
}

function describeOwn(url: string): Entry {
  return {
    anchor: `${url}/v1`,
    'service-desc': [{ href: `${url}/v1/openapi.json`, type: 'application/openapi+json' }],
  };
}
