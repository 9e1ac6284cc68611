import { teamsOf } from '../../config/organization-config.ts';
import { anonymous } from '../../model/access.ts';
import { resourceTypes, type ResourceType } from '../../model/address.ts';
import { digestOf } from '../../model/digest.ts';
import { isPublished, nameOf, type Resource } from '../../model/resource.ts';
import type { PublicSnapshot } from '../../registry/public-snapshot.ts';
import {
  discoveryItem,
  docItems,
  frontItems,
  goneItems,
  latestBases,
  listingItems,
  logItems,
  resourceItems,
  stillItems,
  type Item,
  type Unit,
} from './build-items.ts';
import { usesAround, usesWithin, listUses, userName, type Use } from '../../registry/graph/dependants.ts';
import { planSites } from './build-sites.ts';
import { discoveryPaths } from '../discovery.ts';
import { feedPath, type FeedScope } from '../feeds.ts';
import { organizationTitle } from '../pages/organization-title.ts';
import { relatedResources } from '../pages/related.ts';
import { imageHosts } from '../pages/show-images.ts';
import type { Checkpoint } from '../../model/transparency/checkpoint.ts';
import { formatNote } from '../../model/transparency/note.ts';
import { publicLogOf } from '../../registry/transparency/public-log.ts';
import type { Site } from '../site.ts';

/**
 * Plans everything public, in units. `basis`: the inputs of every file besides its unit (program,
 * templates, configuration). `problems`: the codes of all kinds of problems.
 */
export async function planBuild(
  site: Site,
  { resources, deleted, sites }: PublicSnapshot,
  { basis, problems }: { basis: string; problems: readonly string[] },
): Promise<Unit[]> {
  const ground = digestOf(basis);
  const inputs = (...values: unknown[]) => digestOf(JSON.stringify([ground, ...values]));
  const units: Unit[] = [];
  // A page shows what a ruleset found only while the ruleset is public.
  const rulesets = resources.filter(({ type }) => type === 'rulesets').map(nameOf);
  const checkpoint = await logOf(site);
  for (const resource of resources) {
    const related = await relatedResources(site, resource, anonymous);
    const users = await listUses(site.registry, anonymous, [resource]);
    const feeds = isPublished(resource) ? feedItems({ kind: 'resource', coordinate: resource }) : [];
    const items = [...resourceItems(resource, checkpoint !== null), ...feeds];
    units.push({
      name: nameOf(resource),
      inputs: inputs(
        resource,
        organizationTitle(site, resource.org),
        teamsOf(site.registry.config, resource.org),
        related,
        toldUses(await usesAround(site.registry, anonymous, resource, users)),
        rulesets,
        imageHosts(site.registry, resource.org),
        checkpoint?.note.signatures[0]!.id,
      ),
      items,
      again: latestBases(resource),
    });
  }
  for (const coordinate of deleted) {
    const name = nameOf(coordinate);
    units.push({ name, inputs: inputs('deleted'), items: goneItems(`/${name}`), again: null });
  }
  units.push(...(await planSites(site, { resources, sites }, inputs)));
  const listed = resources.filter(isPublished);
  for (const [org, types] of organizationsIn(listed, sites)) {
    const ofOrganization = listed.filter((resource) => resource.org === org);
    const graphs = types.length === 0 ? [] : [`/@${org}/graph`];
    const pages = [`/@${org}`, ...types.map((type) => `/@${org}/${type}`), ...graphs].flatMap(listingItems);
    const feeds = types.length === 0 ? [] : feedItems({ kind: 'organization', org });
    units.push({
      name: `@${org}`,
      inputs: inputs(
        ofOrganization,
        toldUses(await usesWithin(site.registry, anonymous, ofOrganization)),
        organizationTitle(site, org),
        teamsOf(site.registry.config, org),
        namesOf(sites.filter((each) => each.org === org)),
      ),
      items: [...pages, ...feeds],
      again: null,
    });
  }
  const place = {
    url: site.url,
    links: site.links,
    docs: site.docs,
    config: site.registry.config,
    hasManagement: false,
  };
  const discovery = discoveryPaths(place, listed).filter((path) => !path.startsWith('/feeds/'));
  const titles = listed.map(({ org }) => [organizationTitle(site, org), teamsOf(site.registry.config, org)]);
  const front = [...frontItems(), ...discovery.map(discoveryItem)];
  units.push({ name: 'front', inputs: inputs(listed, titles, namesOf(sites)), items: front, again: null });
  units.push({ name: 'docs', inputs: inputs(site.docs), items: docItems(site), again: null });
  if (checkpoint !== null)
    units.push({ name: 'log', inputs: inputs(formatNote(checkpoint.note)), items: logItems(checkpoint), again: null });
  units.push({ name: 'still', inputs: inputs(), items: stillItems(site, problems), again: null });
  return units;
}

/** The head of the public log. Null for a registry without one at the build's address. */
async function logOf({ registry, url }: Site): Promise<Checkpoint | null> {
  const log = registry.config.url === url ? await publicLogOf(registry) : null;
  return log && log.checkpoint();
}

/** What pages show of uses. All of them are by resources. */
function toldUses(uses: readonly Use[]): object[] {
  return uses.map(({ used, user }) => [
    nameOf(used),
    userName(user),
    'version' in user && user.version.label,
    user.uses,
    user.behind,
  ]);
}

/** What lists show of documentation sites. */
function namesOf(sites: PublicSnapshot['sites']): object[] {
  return sites.map(({ org, slug, title, description }) => ({ org, slug, title, description }));
}

function feedItems(scope: FeedScope): Item[] {
  return (['atom', 'json'] as const).map((format) => discoveryItem(feedPath(scope, format)));
}

/** The organizations that have resources or sites, each with the types of its resources. */
function organizationsIn(resources: readonly Resource[], sites: PublicSnapshot['sites']): Map<string, ResourceType[]> {
  const typesByOrganization = new Map<string, Set<ResourceType>>(sites.map(({ org }) => [org, new Set()]));
  for (const { org, type } of resources)
    typesByOrganization.set(org, (typesByOrganization.get(org) ?? new Set()).add(type));
  return new Map(
    [...typesByOrganization].map(([org, types]) => [org, resourceTypes.filter((type) => types.has(type))]),
  );
}
