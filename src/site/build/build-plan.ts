import { teamsOf } from '../../config/organization-config.ts';
import { anonymous } from '../../model/access.ts';
import { resourceTypes, type ResourceType, parseCoordinate } from '../../model/address.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { isPublished, nameOf, type Resource } from '../../model/resource.ts';
import type { PublicSnapshot } from '../../registry/public-snapshot.ts';
import {
  coded,
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
  type FileKind,
} from './build-items.ts';
import { usesAround, usesWithin, listUses, userName, type Use } from '../../registry/graph/dependants.ts';
import { discoveryPaths } from '../discovery.ts';
import { feedPath, type FeedScope } from '../feeds.ts';
import { organizationTitle } from '../pages/describe-version.ts';
import { relatedResources } from '../pages/listings.ts';
import { imageHosts } from '../pages/show-images.ts';
import type { Checkpoint } from '../../model/transparency/checkpoint.ts';
import { formatNote } from '../../model/transparency/note.ts';
import { publicLogOf } from '../../registry/transparency/public-log.ts';
import type { Site } from '../site.ts';
import {
  type DeployedPage,
  deploymentsOf,
  siteAddress,
  type DocumentationSite,
} from '../../sites/model/documentation-site.ts';
import { ownFiles, routeOf } from '../../sites/model/page-path.ts';
import { grantSite, type GrantedSite } from '../../sites/registry/read-site.ts';
import { otherAddresses, placeInRegistry } from '../../sites/pages/placed.ts';
import { siteMarkdown, sitePage, type SitePage } from '../../sites/pages/site-page.ts';

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
    units.push({ name, inputs: inputs('deleted'), items: goneItems(`/${name}`) });
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
  units.push({ name: 'front', inputs: inputs(listed, titles, namesOf(sites)), items: front });
  units.push({ name: 'docs', inputs: inputs(site.docs()), items: docItems(site) });
  if (checkpoint !== null)
    units.push({ name: 'log', inputs: inputs(formatNote(checkpoint.note)), items: logItems(checkpoint) });
  units.push({ name: 'still', inputs: inputs(), items: stillItems(site, problems) });
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

function namesOf(sites: PublicSnapshot['sites']): object[] {
  return sites.map(({ org, slug, title, description }) => ({ org, slug, title, description }));
}

function feedItems(scope: FeedScope): Item[] {
  return (['atom', 'json'] as const).map((format) => discoveryItem(feedPath(scope, format)));
}

function organizationsIn(resources: readonly Resource[], sites: PublicSnapshot['sites']): Map<string, ResourceType[]> {
  const typesByOrganization = new Map<string, Set<ResourceType>>(sites.map(({ org }) => [org, new Set()]));
  for (const { org, type } of resources) typesByOrganization.getOrInsert(org, new Set()).add(type);
  return new Map(
    [...typesByOrganization].map(([org, types]) => [org, resourceTypes.filter((type) => types.has(type))]),
  );
}

/** The site as everybody may read it. The snapshot has only such sites. */
async function granted({ registry }: Pick<Site, 'registry'>, site: DocumentationSite): Promise<GrantedSite> {
  return (await grantSite(registry, anonymous, site))!;
}

/**
 * Plans the documentation sites: a unit for each page, so that a changed page is one that is built
 * again, and one for everything else of the site. `inputs` makes the digest of what files depend on.
 */
async function planSites(
  site: Site,
  { resources, sites }: Pick<PublicSnapshot, 'resources' | 'sites'>,
  inputs: (...values: unknown[]) => Digest,
): Promise<Unit[]> {
  const byName = new Map(resources.map((resource) => [nameOf(resource), resource]));
  const embedded = ({ facts }: DeployedPage) =>
    facts.embeds.map(({ coordinate }) => byName.get(nameOf(parseCoordinate(coordinate)!.coordinate)) ?? null);
  const units: Unit[] = [];
  for (const record of sites) {
    const open = await granted(site, record);
    const { contents, deployment } = open;
    const view = { site, granted: open, placed: placeInRegistry(site, record), reader: anonymous };
    const { settings, pages, files, embeds, renderer } = contents;
    const address = siteAddress(record);
    const named = Object.entries(pages).map(([path, { facts }]) => [path, facts.title, facts.order, facts.hidden]);
    const others = settings.versions.flatMap((version) => sites.filter(({ slug }) => slug === version.site));
    const frame = inputs(settings, named, Object.keys(files), renderer, others.map(siteAddress));
    const item = (path: string, kind: FileKind, file = path) => coded(`${address}/${path}`, kind, `${address}/${file}`);
    for (const [path, page] of Object.entries(pages)) {
      const versions = page.facts.embeds.map(({ coordinate }) => embeds[coordinate] ?? null);
      units.push({
        name: `${address.slice(1)}/${path}`,
        inputs: inputs(frame, page.source, page.facts, versions, embedded(page)),
        items: [
          {
            ...item(routeOf(path), 'site-page', path.replace(/md$/, 'html')),
            make: () => bytesOf(sitePage(view, path, page)),
          },
          { ...item(path, 'site-markdown'), make: () => bytesOf(siteMarkdown(view, page)) },
        ],
      });
    }
    const items = [
      ...ownFiles.map((path) => item(path, 'site-list')),
      ...Object.keys(files).map((path) =>
        item(path, path.toLowerCase().endsWith('.svg') ? 'site-drawing' : 'site-file'),
      ),
    ];
    const all = inputs(deploymentsOf(record), deployment, contents);
    units.push({ name: address.slice(1), inputs: all, items });
  }
  return units;
}

async function bytesOf(page: Promise<SitePage>): Promise<Uint8Array> {
  return Buffer.from((await page).text);
}

/** Paths of sites that lead elsewhere, each with where. */
export async function movedPaths(
  site: Pick<Site, 'registry'>,
  { sites }: Pick<PublicSnapshot, 'sites'>,
): Promise<[from: string, to: string][]> {
  const moved: [string, string][] = [];
  for (const record of sites) {
    const address = siteAddress(record);
    moved.push([address, `${address}/`]);
    for (const [from, to] of otherAddresses(await granted(site, record)))
      moved.push([`${address}/${from}`, `${address}/${to}`]);
  }
  return moved;
}
