import { layout, Graph as Layout } from '@dagrejs/dagre';
import { digestOf } from '../../model/digest.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import { escapeHtml } from '../../model/escape.ts';
import type { AnswerCache } from '../../registry/answer-cache.ts';
import { userName, type Use } from '../../registry/graph/dependants.ts';
import type { Links } from '../links.ts';
import { formatAddress } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';
import { countText } from '../../model/problem.ts';
import { docPath } from '../docs/docs.ts';
import type { Site } from '../site.ts';
import { crumbsWithin, organizationTitle, dayOf } from './describe-version.ts';

const maxNodes = 60;

/** Pixels. A character of the font for code at 13 px has 7.8. */
const [characterWidth, nodeHeight, padding] = [7.9, 30, 12];

interface Node {
  /** `@acme/apis/orders`, or the name of a consumer. */
  name: string;
  kind: 'own' | 'resource' | 'consumer';
  href: string | null;
}

/** From a node that is used to its user, by their places. */
interface Edge {
  used: number;
  user: number;
  isBehind: boolean;
}

/**
 * Who uses what, as SVG: what is used on the left, its users on the right. Nodes are links, and their
 * classes are styled by `style.css`. `isOwn`: what the page is about. `isCut`: not all could be drawn.
 * A layout takes up to 0.2 s of CPU, so what was drawn is kept.
 */
export async function drawGraph(
  answers: Pick<AnswerCache, 'content'>,
  links: Links,
  uses: readonly Use[],
  isOwn: (name: string) => boolean,
): Promise<{ svg: string; isCut: boolean }> {
  const { nodes, edges, isCut } = nodesOf(links, uses, isOwn);
  const key = `graph ${digestOf(JSON.stringify([nodes, edges]))}`;
  return {
    svg: await answers.content(
      key,
      async () => draw(nodes, edges),
      ({ length }) => 2 * length,
    ),
    isCut,
  };
}

function nodesOf(links: Links, uses: readonly Use[], isOwn: (name: string) => boolean) {
  const places = new Map<string, number>();
  const nodes: Node[] = [];
  function placeOf(key: string, node: Node): number {
    const place = places.get(key) ?? nodes.length;
    if (place === nodes.length && place < maxNodes) nodes.push(node);
    if (place < maxNodes) places.set(key, place);
    return place;
  }
  function placeOfResource(resource: Resource): number {
    const name = nameOf(resource);
    return placeOf(name, { name, kind: isOwn(name) ? 'own' : 'resource', href: links.to(resource) });
  }
  const edges = new Map<string, Edge>();
  let isCut = false;
  for (const { used: resource, user: by } of uses) {
    const used = placeOfResource(resource);
    const name = userName(by);
    // Consumers of two organizations may have one name.
    const user =
      'resource' in by
        ? placeOfResource(by.resource)
        : placeOf(`${by.org} ${name}`, { name, kind: 'consumer', href: null });
    if (Math.max(used, user) >= maxNodes) isCut = true;
    else {
      const key = `${used} ${user}`;
      edges.set(key, { used, user, isBehind: by.behind > 0 || (edges.get(key)?.isBehind ?? false) });
    }
  }
  return { nodes, edges: [...edges.values()], isCut };
}

function draw(nodes: readonly Node[], edges: readonly Edge[]): string {
  const drawing = new Layout<{ width?: number; height?: number }, Point, { points: Point[] }>();
  // The default ranker takes twice the time, for lines that are a little shorter.
  drawing.setGraph({ rankdir: 'LR', ranker: 'tight-tree', nodesep: 12, ranksep: 64, marginx: 10, marginy: 14 });
  const width = Math.ceil(Math.max(...nodes.map(({ name }) => [...name].length)) * characterWidth) + 2 * padding;
  for (const place of nodes.keys()) drawing.setNode(String(place), { width, height: nodeHeight, x: 0, y: 0 });
  for (const { user, used } of edges) drawing.setEdge(String(used), String(user), { points: [] });
  layout(drawing);
  const { width: wide = 0, height = 0 } = drawing.graph();
  let [top, bottom] = [0, height];
  const lines = edges.map(({ user, used, isBehind }) => {
    const { points }: { points: Point[] } = drawing.edge(String(used), String(user));
    // Every other point is between two columns of boxes. The others are in columns that the line passes.
    const passed = points.slice(1, -1).filter((_, index) => index % 2 === 1);
    // The layout lets a line that passes a column leave the drawing.
    for (const { y } of passed) [top, bottom] = [Math.min(top, Math.floor(y) - 4), Math.max(bottom, y + 4)];
    const path = lineThrough([drawing.node(String(used)), ...passed, drawing.node(String(user))], width);
    return `<path class="edge${isBehind ? ' behind' : ''}" d="${path}"/>`;
  });
  const boxes = nodes.map((node, place) => boxOf(node, drawing.node(String(place)), width));
  const size = [Math.ceil(wide), Math.ceil(bottom - top)];
  return `<svg class="graph" width="${size[0]}" height="${size[1]}" viewBox="0 ${top} ${size.join(' ')}" role="group" aria-label="Who uses what">${lines.join('')}${boxes.join('')}</svg>`;
}

interface Point {
  x: number;
  y: number;
}

/** A curve from box to box, straight within the columns of boxes that it passes. */
function lineThrough(points: readonly Point[], width: number): string {
  const [first, ...others] = points;
  let from = { x: first!.x + width / 2, y: first!.y };
  const steps = others.map(({ x, y }, index) => {
    const to = { x: x - width / 2, y };
    const middle = round((from.x + to.x) / 2);
    const curve = `C${middle} ${round(from.y)} ${middle} ${round(y)} ${round(to.x)} ${round(y)}`;
    from = { x: x + width / 2, y };
    return index === others.length - 1 ? curve : `${curve}H${round(from.x)}`;
  });
  return `M${round(first!.x + width / 2)} ${round(first!.y)}${steps.join('')}`;
}

function boxOf({ name, kind, href }: Node, { x, y }: Point, width: number): string {
  const box = `<rect class="${kind}" x="${round(x - width / 2)}" y="${round(y - nodeHeight / 2)}" width="${width}" height="${nodeHeight}" rx="6"/><text x="${round(x)}" y="${round(y + 4.5)}" text-anchor="middle">${escapeHtml(name)}</text>`;
  return href === null ? `<g>${box}</g>` : `<a href="${escapeHtml(href)}">${box}</a>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The most users on the page. All of them are in the JSON. */
const shown = 1000;

/** The page of who uses a resource. `uses`: those around it that the reader may see. */
export async function dependantsPage(site: Site, resource: Resource, uses: readonly Use[]): Promise<string> {
  const name = nameOf(resource);
  const href = site.links.to(resource);
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
    href: isResource ? links.to(user.resource) : null,
    about: isResource ? `version ${user.version.label}` : `of @${user.org}`,
    how: hows[uses.how],
    used: isUsedNamed ? { text: nameOf(used), href: links.to(used) } : null,
    range: uses.range || 'latest',
    version: uses.version,
    behind: behind === 0 ? null : `${countText(behind, 'version')} behind`,
    reported: isResource || user.reportedAt === null ? null : dayOf(user.reportedAt),
  };
}
