import { formatAddress } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';
import { coordinateOf, nameOf, type Resource } from '../../model/resource.ts';
import { countText } from '../../model/problem.ts';
import { userName, type Use } from '../../registry/graph/dependants.ts';
import { docPath } from '../docs/docs.ts';
import type { Site } from '../site.ts';
import { crumbsWithin } from '../pages/crumbs.ts';
import { dayOf } from '../pages/dates.ts';
import { organizationTitle } from '../pages/organization-title.ts';
import { drawGraph } from './draw-graph.ts';

/** The most users on the page. All of them are in the JSON. */
const shown = 1000;

/** The page of who uses a resource. `uses`: those around it that the reader may see. */
export async function dependantsPage(site: Site, resource: Resource, uses: readonly Use[]): Promise<string> {
  const name = nameOf(resource);
  const href = site.links.to(coordinateOf(resource));
  return usesPage(site, {
    org: resource.org,
    title: `Who uses ${resource.name}`,
    crumbs: crumbsWithin(site, resource, 'Used by'),
    eyebrow: name,
    heading: { text: 'Who uses', link: { text: resource.name, href } },
    isEmpty: 'Nothing that you may see uses it.',
    graph: await drawn(site, uses, (node) => node === name),
    rows: uses.filter(({ used }) => nameOf(used) === name).map((use) => rowOf(site, use, false)),
    json: `${href}/dependants?format=json`,
    // Only a server searches among them.
    search: site.hasLogin ? `${site.links.path('/search')}?uses=${name}` : null,
  });
}

/** The page of what the resources of an organization use, and who uses them, as far as the reader may see it. */
export async function organizationGraphPage(site: Site, org: string, uses: readonly Use[]): Promise<string> {
  const { links } = site;
  const [text, href] = [organizationTitle(site, org), links.path(formatAddress({ kind: 'organization', org }))];
  const byUser = uses.toSorted((a, b) => (userName(a.user) < userName(b.user) ? -1 : 1));
  return usesPage(site, {
    org,
    title: `Who uses what in ${text}`,
    crumbs: [{ text, href }, { text: 'Graph' }],
    eyebrow: `@${org}`,
    heading: { text: 'Who uses what in', link: { text, href } },
    isEmpty: 'No contract here uses another one, as far as you may see.',
    graph: await drawn(site, uses, (node) => node.startsWith(`@${org}/`)),
    rows: byUser.map((use) => rowOf(site, use, true)),
    json: `${links.path(formatAddress({ kind: 'graph', org }))}?format=json`,
    search: null,
  });
}

interface UsesPage {
  org: string;
  title: string;
  crumbs: { text: string; href?: string }[];
  eyebrow: string;
  heading: object;
  /** What the page says if it has no rows. */
  isEmpty: string;
  graph: { svg: string; isCut: boolean } | null;
  rows: ReturnType<typeof rowOf>[];
  json: string;
  search: string | null;
}

function usesPage(site: Site, { rows, ...page }: UsesPage): string {
  const groups = Map.groupBy(rows.slice(0, shown), ({ group }) => group);
  const titles = [...Object.values(types).map(({ many }) => many), 'Consumers'];
  return site.page('dependants', {
    ...page,
    hidden: true,
    scripts: page.graph === null ? [] : ['graph.js'],
    groups: titles.flatMap((title) =>
      groups.has(title) ? [{ title, rows: groups.get(title)!, count: countOf(groups.get(title)!) }] : [],
    ),
    more: Math.max(0, rows.length - shown),
    help: site.links.path(docPath('references')),
  });
}

/** Of users, not of what they use: one may use several. */
function countOf(rows: ReturnType<typeof rowOf>[]): number {
  return new Set(rows.map(({ name, about }) => `${name} ${about}`)).size;
}

async function drawn({ links, registry }: Site, uses: readonly Use[], isOwn: (name: string) => boolean) {
  return uses.length === 0 ? null : drawGraph(registry.answers, links, uses, isOwn);
}

const hows = { url: 'includes', extends: 'extends', lock: 'has a copy of' } as const;

function rowOf({ links }: Site, { used, user }: Use, isUsedNamed: boolean) {
  const { uses, behind } = user;
  const isResource = 'resource' in user;
  return {
    group: isResource ? types[user.resource.type].many : 'Consumers',
    name: userName(user),
    href: isResource ? links.to(coordinateOf(user.resource)) : null,
    about: isResource ? `version ${user.version.label}` : `of @${user.org}`,
    how: hows[uses.how],
    used: isUsedNamed ? { text: nameOf(used), href: links.to(coordinateOf(used)) } : null,
    range: uses.range || 'latest',
    version: uses.version,
    behind: behind === 0 ? null : `${countText(behind, 'version')} behind`,
    reported: isResource || user.reportedAt === null ? null : dayOf(user.reportedAt),
  };
}
