import { oneLine } from '../../model/escape.ts';
import { listOut } from '../../model/states.ts';
import { countText } from '../../model/problem.ts';
import { changesOf } from '../../model/compared-with.ts';
import { types } from '../../model/kinds.ts';
import { type Principal, anonymous } from '../../model/access.ts';
import { formatAddress, resourceTypes, type ResourceType, parseCoordinate } from '../../model/address.ts';
import { inTurns } from '../../scheduling/turns.ts';
import { teamsOf } from '../../config/organization-config.ts';
import { linksOf, teamOf, type Link, type Team, wholeOwnership } from '../../model/ownership.ts';
import { aboutOf, findVersion, nameOf, type Resource, type Version } from '../../model/resource.ts';
import { currentOf, formatSite, type DocumentationSite } from '../../sites/model/documentation-site.ts';
import { listReadableSites, findReadable, listReadable } from '../../registry/readable.ts';
import { dayOf, organizationTitle } from './describe-version.ts';
import { verdictTags } from './diff-page.ts';
import { placeInRegistry } from '../../sites/pages/placed.ts';
import { docPath } from '../docs/docs.ts';
import { feedLink, newestInTurns } from '../feeds.ts';
import type { Site } from '../site.ts';
import { policyOf } from '../../registry/gate/policy.ts';
import { mayReadFindingsOf } from '../../registry/gate/show-report.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { listDependants } from '../../registry/graph/dependants.ts';

/**
 * The most resources listed per organization on the home page and per type on its page. Others are
 * only counted.
 */
const shown = { home: 5, listing: 2000, changes: 12 };

/** The most organizations whose rows are not folded on the home page: with more it has over two screens. */
const maxUnfolded = 3;

/** The home page: the organizations, with the resources and sites that the reader may see. Others have their turn meanwhile. `signedIn`: null for a reader without an account. */
export async function homePage(
  site: Site,
  all: readonly Resource[],
  sites: readonly DocumentationSite[],
  signedIn: { mayPublish: boolean } | null = null,
): Promise<string> {
  const byOrganization = Map.groupBy(all, ({ org }) => org);
  const sitesOf = Map.groupBy(sites, ({ org }) => org);
  for (const org of sitesOf.keys()) if (!byOrganization.has(org)) byOrganization.set(org, []);
  const organizations = [...byOrganization].map(([org, resources]) => ({
    name: organizationTitle(site, org),
    org,
    logo: site.logo(org),
    kinds: resources.length > 0 ? kindsIn(resources) : countText(sitesOf.get(org)!.length, 'site'),
    href: site.links.path(formatAddress({ kind: 'organization', org })),
    count: resources.length,
    resources: resources.slice(0, shown.home).map((resource) => rowOf(site, resource)),
    isOpen: byOrganization.size <= maxUnfolded,
  }));
  const feed = feedLink(site, { kind: 'registry' });
  return site.page('home', {
    title: 'Contracts',
    description: 'APIs, schemas and rulesets, each version at an address of its own.',
    canonical: `${site.url}/`,
    alternates: [feed],
    isHome: true,
    structured: {
      '@type': 'WebSite',
      name: 'Stele',
      url: `${site.url}/`,
      potentialAction: {
        '@type': 'SearchAction',
        target: `${site.url}/search?q={query}`,
        'query-input': 'required name=query',
      },
    },
    signedIn,
    organizations,
    scripts: ['list.js'],
    ...siftOf(
      [...byOrganization.values()].flatMap((each) => each.slice(0, shown.home)),
      'organization',
    ),
    sites: siteRows(site, sites),
    changes: await newestOf(site, all),
    example: await exampleOf(site, all),
    feed: feed.href,
    docs: {
      first: site.links.path(docPath('first-steps')),
      consumers: site.links.path(docPath('start-consumers')),
      subscribe: site.links.path(docPath('events')),
    },
    summary: all.length === 0 ? null : `${countText(byOrganization.size, 'organization')}: ${kindsIn(all)}`,
  });
}

/** `12 APIs, 3 schemas and 1 ruleset`. */
function kindsIn(resources: readonly Resource[]): string {
  const counts = resourceTypes.flatMap((type) => {
    const count = resources.filter((resource) => resource.type === type).length;
    const { one, many } = types[type];
    const name = (word: string) => (type === 'apis' ? word : word.toLowerCase());
    return count === 0 ? [] : [`${count} ${name(count === 1 ? one : many)}`];
  });
  return listOut(counts);
}

/** The page of an organization, or of one type in it. `resources`: those that the reader may see. Others have their turn meanwhile. */
export async function organizationPage(
  site: Site,
  org: string,
  type: ResourceType | null,
  { resources, sites }: { resources: readonly Resource[]; sites: readonly DocumentationSite[] },
): Promise<string> {
  const path = formatAddress(type === null ? { kind: 'organization', org } : { kind: 'type', org, type });
  const name = organizationTitle(site, org);
  const ofOrganization = { text: name, href: site.links.path(formatAddress({ kind: 'organization', org })) };
  const wanted = new Set(resources.flatMap(usedWithin));
  const used = new Set(resources.map(nameOf).filter((each) => wanted.has(each)));
  const makeGroup = async (each: ResourceType) => {
    const all = resources.filter((resource) => resource.type === each);
    return {
      type: each,
      title: types[each].many,
      href: site.links.path(formatAddress({ kind: 'type', org, type: each })),
      count: all.length,
      rows: await rowsOf(site, all.slice(0, shown.listing), used),
      more: Math.max(0, all.length - shown.listing),
    };
  };
  const groups = await Promise.all((type === null ? resourceTypes : [type]).map(makeGroup));
  return site.page('organization', {
    title: type === null ? name : `${types[type].many} of ${name}`,
    canonical: site.links.whole(site.links.path(path)),
    alternates: resources.some(({ visibility }) => visibility === 'public')
      ? [feedLink(site, { kind: 'organization', org })]
      : [],
    crumbs: type === null ? [{ text: name }] : [ofOrganization, { text: types[type].many }],
    org,
    name,
    type,
    logo: site.logo(org),
    about: kindsIn(resources),
    ...siftOf(resources, 'type', [...used].sort()),
    scripts: ['list.js'],
    changes: await newestOf(site, resources),
    feed: feedLink(site, { kind: 'organization', org }).href,
    events: site.links.path(docPath('events')),
    isOpen: resources.some(({ visibility }) => visibility === 'public'),
    graph: resources.length === 0 ? null : site.links.path(formatAddress({ kind: 'graph', org })),
    sites: siteRows(site, sites),
    groups: groups.filter(({ count }) => count > 0 || type !== null),
  });
}

/** The HTML of these rows, a hundred in one turn of the event loop. */
async function rowsOf(site: Site, resources: readonly Resource[], used: ReadonlySet<string>): Promise<string> {
  let html = '';
  for await (const some of inTurns(resources, 100))
    for (const resource of some) html += site.part('row', rowOf(site, resource, used));
  return html;
}

/** What a list can be filtered and grouped by. `grouping`: how it is grouped without a script; `used`: what some of it use. */
function siftOf(resources: readonly Resource[], grouping: string, used: readonly string[] = []): object {
  return {
    grouping,
    hasOwners: resources.some(({ owner }) => owner),
    systems: [...new Set(resources.flatMap(({ system }) => system ?? []))].sort(),
    topics: [...new Set(resources.flatMap(({ topics = [] }) => topics))].sort(),
    used,
  };
}

/** What its latest version uses of its own organization. Others may become private without a change here. */
function usedWithin({ org, latest, versions }: Resource): string[] {
  const { dependencies = [] } = versions.find(({ label }) => label === latest) ?? {};
  return dependencies.map(({ coordinate }) => coordinate).filter((name) => name.startsWith(`@${org}/`));
}

/** The documentation sites that have a deployment and that the reader may read (of one organization). */
export async function publishedSites(
  { registry }: Pick<Site, 'registry'>,
  principal: Principal,
  org?: string,
): Promise<DocumentationSite[]> {
  const sites = await listReadableSites(registry, principal, org);
  return sites.map(({ value }) => value).filter((each) => currentOf(each) !== null);
}

function siteRows(site: Site, sites: readonly DocumentationSite[]): object[] {
  return sites.map((each) => {
    const { base, url } = placeInRegistry(site, each);
    return {
      title: each.title,
      name: formatSite(each),
      href: url === site.links.whole(base) ? base : url,
      description: excerpt(each.description),
      isPrivate: each.visibility === 'private',
    };
  });
}

async function newestOf({ links }: Site, resources: readonly Resource[]): Promise<object[]> {
  return (await newestInTurns(resources, shown.changes)).map(({ resource, version }) => ({
    name: resource.name,
    coordinate: nameOf(resource),
    label: version.label,
    href: links.to(resource, { label: version.label }),
    date: dayOf(version.publishedAt),
    change: changeTag(resource, version),
    author: version.commit?.author ?? null,
    isPrivate: resource.visibility === 'private',
  }));
}

/** What a version changed, as a tag. Null for the first one, and if nothing changed. */
function changeTag(resource: Resource, version: Version): object | null {
  const changes = changesOf(resource, version);
  return changes === null || changes.verdict === 'none' ? null : verdictTags[changes.verdict];
}

/** A document to try the registry with: its URLs, of the newest publication. */
async function exampleOf({ links }: Site, resources: readonly Resource[]): Promise<object | null> {
  const [newest] = await newestInTurns(
    resources.filter(({ type, visibility, latest }) => type === 'apis' && visibility === 'public' && latest !== null),
    1,
  );
  if (newest === undefined) return null;
  const { resource, version } = newest;
  return {
    slug: resource.slug,
    pinned: links.url(resource, { label: version.label, format: 'yaml' }),
    latest: links.url(resource, { format: 'json' }),
  };
}

/** What a page says of a resource's ownership: `labels.eta`. */
export function labelsOf({ links, registry }: Pick<Site, 'links' | 'registry'>, resource: Resource): object {
  const { owner, ...stated } = wholeOwnership(resource);
  const team = teamOf(teamsOf(registry.config, resource.org), owner);
  return {
    ...stated,
    owner: team ? { name: team.title ?? owner, href: null } : owner ? ownerOf(owner) : null,
    contacts: contactsOf(team),
    links: linksOf(resource),
    search: links.path('/search'),
  };
}

function contactsOf(team: Team | null): Link[] {
  const { mail, chat, onCall } = team ?? {};
  return [
    ...(mail ? [{ title: mail, url: `mailto:${mail}` }] : []),
    ...(chat ? [{ title: 'chat', url: chat }] : []),
    ...(onCall ? [{ title: 'on call', url: onCall }] : []),
  ];
}

/** Whom to ask, with an address if the text has one: `Ana <ana@acme.example>`, `Payments https://chat.example/pay`. */
function ownerOf(owner: string): { name: string; href: string | null } {
  const [mail] = /[^\s<>()@]+@[^\s<>()@]+/.exec(owner) ?? [];
  const [page] = /https?:\/\/[^\s<>]+/.exec(owner) ?? [];
  const address = page ?? mail;
  if (address === undefined) return { name: owner, href: null };
  const name = owner
    .replace(address, '')
    .replace(/[<>()]/g, '')
    .trim();
  return { name: name || address, href: page ?? `mailto:${mail}` };
}

/** The data of one line in a list of resources. `used`: what may be named of what it uses. */
function rowOf(site: Site, resource: Resource, used: ReadonlySet<string> = new Set()): object {
  const latest = resource.latest === null ? null : findVersion(resource, resource.latest);
  const newest = resource.versions.findLast(({ status }) => status.state !== 'withdrawn') ?? null;
  return {
    name: resource.name,
    coordinate: nameOf(resource),
    type: resource.type,
    slug: resource.slug,
    href: site.links.to(resource),
    description: excerpt(aboutOf(resource)),
    ...labelsOf(site, resource),
    latest: latest?.label ?? null,
    isDeprecated: latest?.status.state === 'deprecated',
    change: latest && changeTag(resource, latest),
    problems: latest?.problems ?? null,
    reportHref: latest && site.links.to(resource, { label: latest.label, view: 'report' }),
    updated: newest && dayOf(newest.publishedAt),
    versions: resource.versions.filter(({ status }) => status.state !== 'withdrawn').length,
    uses: used.size === 0 ? [] : usedWithin(resource).filter((name) => used.has(name)),
    isPrivate: resource.visibility === 'private',
  };
}

/** The beginning of a description. */
export function excerpt(text: string): string {
  return oneLine(text, 160);
}

/** Other resources on the page of a resource. Contains only those that the reader may see. */
export interface Related {
  /** The ruleset of the resource. Null if it has none or the reader may not see it. */
  ruleset: { text: string; href: string } | null;
  /** Whether the reader may read what the ruleset found: only who may read the ruleset. */
  areFindingsShown: boolean;
  /** The resources that are checked by this ruleset. Null if the resource is not a ruleset. */
  users: object[] | null;
}

/**
 * Public pages are cached for everyone, so they list only public resources. The page of a ruleset
 * is not cached and depends on its reader.
 */
export async function relatedTo(site: Site, granted: GrantedVersion, reader: Principal): Promise<Related> {
  const { resource } = granted;
  const isForAll = isSameForAll(resource);
  return {
    ...(await relatedResources(site, resource, reader)),
    areFindingsShown: await mayReadFindingsOf(site.registry, isForAll ? anonymous : reader, granted),
  };
}

function isSameForAll({ visibility, type }: Resource): boolean {
  return visibility === 'public' && type !== 'rulesets';
}

/** The part that does not depend on the version. */
export async function relatedResources(
  site: Site,
  resource: Resource,
  reader: Principal,
): Promise<Pick<Related, 'ruleset' | 'users'>> {
  const isForAll = isSameForAll(resource);
  return {
    ruleset: await rulesetLink(site, resource, isForAll ? anonymous : reader),
    users: resource.type === 'rulesets' ? await rulesetUsers(site, resource, reader) : null,
  };
}

async function rulesetLink({ registry, links }: Site, resource: Resource, reader: Principal) {
  const { ruleset: name } = await policyOf(registry, resource);
  const parsed = name === null ? null : parseCoordinate(name);
  if (parsed === null) return null;
  if ((await findReadable(registry, reader, parsed.coordinate)) === null) return null;
  const path = formatAddress({ kind: 'resource', ...parsed, view: 'document', format: null });
  return { text: name!, href: links.path(path) };
}

/** The resources that are checked by any version of a ruleset, and those that extend it, that the reader may see. */
async function rulesetUsers(site: Site, ruleset: Resource, reader: Principal): Promise<object[]> {
  const own = nameOf(ruleset);
  const all = await listReadable(site.registry, reader);
  const users = new Map<string, Resource>();
  for (const resource of all) {
    const { ruleset: name } = await policyOf(site.registry, resource);
    const parsed = name === null ? null : parseCoordinate(name);
    if (parsed !== null && nameOf(parsed.coordinate) === own) users.set(nameOf(resource), resource);
  }
  for (const { resource } of await listDependants(site.registry, reader, ruleset))
    users.set(nameOf(resource), resource);
  return [...users.values()].map((resource) => rowOf(site, resource));
}
