import { aboutOf, coordinateOf, nameOf, type Resource } from '../model/resource.ts';
import type { Config } from '../config.ts';
import { teamsOf } from '../config/organization-config.ts';
import { linksOf, teamOf, type Team } from '../model/catalogue/ownership.ts';
import { lastChange } from './publications.ts';
import type { Site } from './site.ts';

export const apisJsonPath = '/apis.json';

/**
 * The APIs as an APIs.json index (apisjson.org, version 0.19). Without `baseURL`: where an API
 * answers is in its document.
 */
export function apisJson(
  { url, links, config }: Pick<Site, 'url' | 'links'> & { config: Pick<Config, 'organizations'> },
  resources: readonly Resource[],
): string {
  const { host } = new URL(url);
  const apis = resources
    .filter(({ type, latest }) => type === 'apis' && latest !== null)
    .map((api) => {
      const to = (options: Parameters<typeof links.to>[1]) => links.whole(links.to(coordinateOf(api), options));
      return {
        aid: `${host}:${nameOf(api)}`,
        name: api.name,
        description: aboutOf(api) || `The API ${api.name}.`,
        created: api.createdAt.slice(0, 10),
        modified: (lastChange(api) ?? api.createdAt).slice(0, 10),
        humanURL: to({ view: 'page' }),
        tags: api.topics ?? [],
        properties: [
          { type: 'OpenAPI', url: to({ format: 'json' }), mediaType: 'application/openapi+json' },
          { type: 'OpenAPI', url: to({ format: 'yaml' }), mediaType: 'application/openapi+yaml' },
          { type: 'Documentation', url: to({ view: 'markdown' }), mediaType: 'text/markdown' },
          { type: 'ChangeLog', url: to({ view: 'versions' }), mediaType: 'application/json' },
          ...linksOf(api).map((link) => ({ type: 'Link', name: link.title, url: link.url })),
        ],
        ...(api.owner && { contact: [contactOf(api.owner, teamOf(teamsOf(config, api.org), api.owner))] }),
      };
    });
  const index = {
    aid: host,
    name: `APIs at ${host}`.slice(0, 50),
    description: 'OpenAPI documents. Every version has its own URL, and its bytes never change.',
    type: 'Index',
    url: `${url}${apisJsonPath}`,
    specificationVersion: '0.19',
    tags: [],
    apis,
    maintainers: [{ FN: host }],
  };
  return `${JSON.stringify(index, null, 2)}\n`;
}

/** Whom to ask, as in a vCard. */
function contactOf(owner: string, team: Team | null): object {
  return { FN: team?.title ?? owner, ...(team?.mail && { email: team.mail }), ...(team?.chat && { url: team.chat }) };
}
