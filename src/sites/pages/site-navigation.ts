import {
  type DeploymentContents,
  type NavigationItem,
  deploymentsOf,
  listedPages,
} from '../model/documentation-site.ts';
import { routeOf, wordsOf } from '../model/page-path.ts';
import type { GrantedSite } from '../registry/read-site.ts';
import { urlSet } from '../../site/discovery.ts';
import { atomText } from '../../site/feeds.ts';
import type { Placed } from './placed.ts';

/** An entry of a site's navigation, completed from the pages. */
export interface NavigationEntry {
  title: string;
  /** Path of its page. */
  page: string | null;
  /** An address elsewhere. */
  href: string | null;
  items: NavigationEntry[];
}

interface Navigation {
  entries: NavigationEntry[];
  /** The pages in order, each once. */
  order: string[];
  /** Where each page is in `order`. */
  places: Map<string, number>;
  /** The entries that lead to each page, from the top. */
  trails: Map<string, NavigationEntry[]>;
  /** Whether each page shows all entries. */
  isSmall: boolean;
}

/** Pages of which a site shows all entries everywhere. Of more, each page shows its own branch. */
const fewPages = 150;

const navigations = new WeakMap<DeploymentContents, Map<string, Navigation>>();

/** The folder of the version that a page belongs to. Empty: it belongs to no version. */
export function versionFolder({ settings }: DeploymentContents, path: string): string {
  return settings.versions.find(({ folder }) => folder !== undefined && path.startsWith(folder))?.folder ?? '';
}

/** The navigation of the pages of one version. Made once. */
function navigationOf(contents: DeploymentContents, folder: string): Navigation {
  const all = navigations.getOrInsertComputed(contents, () => new Map<string, Navigation>());
  return all.getOrInsertComputed(folder, () => makeNavigation(contents, folder));
}

/** As the site says, else the tree of its pages. */
function makeNavigation(contents: DeploymentContents, folder: string): Navigation {
  const { navigation, versions } = contents.settings;
  // A navigation that the site states may also link to pages outside all versions.
  const folders = navigation === null ? [folder] : [folder, ''];
  const pages =
    versions.length === 0
      ? contents.pages
      : Object.fromEntries(
          Object.entries(contents.pages).filter(([path]) => folders.includes(versionFolder(contents, path))),
        );
  const entries = navigation === null ? treeOf(pages, folder, folder) : stated(pages, navigation);
  const order = [...new Set(pagesIn(entries))];
  const trails = new Map<string, NavigationEntry[]>();
  for (const trail of trailsIn(entries, [])) {
    const { page } = trail.at(-1)!;
    if (page !== null && !trails.has(page)) trails.set(page, trail);
  }
  const places = new Map(order.map((page, index) => [page, index]));
  return { entries, order, places, trails, isSmall: Object.keys(pages).length <= fewPages };
}

function* trailsIn(entries: readonly NavigationEntry[], above: NavigationEntry[]): Generator<NavigationEntry[]> {
  for (const entry of entries) {
    const trail = [...above, entry];
    yield trail;
    yield* trailsIn(entry.items, trail);
  }
}

/** Entries whose page is missing are left out, with their title kept for what is below them. */
function stated(pages: DeploymentContents['pages'], items: readonly NavigationItem[]): NavigationEntry[] {
  return items.flatMap(({ title, page, href, items: inner = [] }) => {
    const current = page !== undefined && Object.hasOwn(pages, page) ? page : null;
    const below = stated(pages, inner);
    if (current === null && href === undefined && below.length === 0) return [];
    const name = title ?? (current === null ? '' : pages[current]!.facts.title);
    return [{ title: name, page: current, href: current === null ? (href ?? null) : null, items: below }];
  });
}

/** The pages of a folder and its folders: by `order`, then by title. A folder's `index.md` is its entry; that of `root` is its first page. */
function treeOf(pages: DeploymentContents['pages'], folder: string, root: string): NavigationEntry[] {
  const shown = Object.entries(pages).filter(([path, { facts }]) => path.startsWith(folder) && !facts.hidden);
  const folders = new Set<string>();
  const entries: { entry: NavigationEntry; order: number; isFirst: boolean }[] = [];
  for (const [path, { facts }] of shown) {
    const rest = path.slice(folder.length);
    const slash = rest.indexOf('/');
    if (slash >= 0) folders.add(rest.slice(0, slash));
    else if (rest !== 'index.md' || folder === root)
      entries.push({
        entry: { title: facts.title, page: path, href: null, items: [] },
        order: facts.order ?? Infinity,
        isFirst: rest === 'index.md',
      });
  }
  for (const name of folders) {
    const index = `${folder}${name}/index.md`;
    const page = Object.hasOwn(pages, index) && !pages[index]!.facts.hidden ? pages[index]! : null;
    const items = treeOf(pages, `${folder}${name}/`, root);
    // A page beside a folder of its name is the folder's entry too.
    const beside = entries.findIndex(({ entry }) => entry.page === `${folder}${name}.md`);
    if (page === null && beside >= 0) {
      entries[beside]!.entry.items = items;
      continue;
    }
    const entry = { title: page?.facts.title ?? wordsOf(name), page: page && index, href: null, items };
    entries.push({ entry, order: page?.facts.order ?? Infinity, isFirst: false });
  }
  entries.sort(
    (a, b) => Number(b.isFirst) - Number(a.isFirst) || a.order - b.order || (a.entry.title < b.entry.title ? -1 : 1),
  );
  return entries.map(({ entry }) => entry);
}

/** The pages in the order of navigation, each once: those of no version first, then version by version. */
export function readingOrder(contents: DeploymentContents): readonly string[] {
  const folders = contents.settings.versions.flatMap(({ folder }) => folder ?? []);
  return [...new Set(['', ...folders].flatMap((folder) => navigationOf(contents, folder).order))];
}

/** The pages before and after a page in the order of navigation. Null: there is none, or navigation does not name the page. */
export function neighboursOf(
  contents: DeploymentContents,
  page: string,
): { previous: string | null; next: string | null } {
  const { order, places } = navigationOf(contents, versionFolder(contents, page));
  const place = places.get(page);
  if (place === undefined) return { previous: null, next: null };
  return { previous: order[place - 1] ?? null, next: order[place + 1] ?? null };
}

function* pagesIn(entries: readonly NavigationEntry[]): Generator<string> {
  for (const { page, items } of entries) {
    if (page !== null) yield page;
    yield* pagesIn(items);
  }
}

/** The entries that lead to a page, from the top. Empty if navigation does not name it. */
export function trailTo(contents: DeploymentContents, page: string): readonly NavigationEntry[] {
  return navigationOf(contents, versionFolder(contents, page)).trails.get(page) ?? [];
}

/** What the navigation of a page shows: its own branch open, and of the others the first page. */
export interface ShownEntry {
  title: string;
  href: string | null;
  isOutside: boolean;
  isCurrent: boolean;
  items: ShownEntry[];
}

export function shownNavigation(contents: DeploymentContents, page: string, base: string): ShownEntry[] {
  const { entries, isSmall } = navigationOf(contents, versionFolder(contents, page));
  const trail = new Set(trailTo(contents, page));
  const show = (entry: NavigationEntry): ShownEntry => {
    const target = entry.page ?? (entry.href === null ? (pagesIn(entry.items).next().value ?? null) : null);
    const isOpen = isSmall || trail.has(entry);
    return {
      title: entry.title,
      href: target === null ? entry.href : base + routeOf(target),
      isOutside: entry.href !== null,
      isCurrent: entry.page === page,
      items: isOpen ? entry.items.map(show) : [],
    };
  };
  return entries.map(show);
}

/** A file that tells programs what a site has. It names pages and titles of the site, and nothing of what pages embed. */
interface SiteList {
  mediaType: string;
  make(granted: GrantedSite, placed: Placed): string;
  /** Whether it is there for those who look for sites. */
  isPublic: boolean;
}

/** Such files, by their paths below the site. */
export const siteLists: Readonly<Record<string, SiteList>> = {
  'llms.txt': { mediaType: 'text/plain; charset=utf-8', make: llms, isPublic: false },
  'sitemap.xml': { mediaType: 'application/xml; charset=utf-8', make: sitemap, isPublic: true },
  'robots.txt': { mediaType: 'text/plain; charset=utf-8', make: robots, isPublic: true },
  'feed.atom': { mediaType: 'application/atom+xml; charset=utf-8', make: feed, isPublic: true },
};

const deploymentsShown = 50;

function orderOf({ contents }: GrantedSite): string[] {
  const listed = new Set(listedPages(contents).map(([path]) => path));
  const first = readingOrder(contents).filter((path) => listed.delete(path));
  return [...first, ...listed];
}

/** As llmstxt.org says: the site in Markdown, with links to its pages in Markdown. */
function llms(granted: GrantedSite, { url }: Placed): string {
  const { settings, pages } = granted.contents;
  const lines = orderOf(granted).map((path) => {
    const { title, description } = pages[path]!.facts;
    return `- [${title.replaceAll(/[[\]\\]/g, '\\$&')}](${url}${path})${description === '' ? '' : `: ${description}`}`;
  });
  const lead = settings.description === '' ? [] : [`> ${settings.description.replaceAll(/\s+/g, ' ')}`, ''];
  return [`# ${settings.title}`, '', ...lead, '## Pages', '', ...lines, ''].join('\n');
}

function sitemap(granted: GrantedSite, { url }: Placed): string {
  return urlSet(orderOf(granted).map((path) => ({ url: url + routeOf(path), changedAt: null })));
}

function robots({ site }: GrantedSite, { url }: Placed): string {
  if (site.visibility === 'private') return 'User-agent: *\nDisallow: /\n';
  return `User-agent: *\nAllow: /\n\nSitemap: ${url}sitemap.xml\n`;
}

/**
 * The deployments of a site, newest first. Those that Stele made by itself are left out,
 * and not counted: they would reveal when an embedded API was published, which not every reader may
 * know.
 */
function feed({ site, contents }: GrantedSite, { url }: Placed): string {
  const { title } = contents.settings;
  const deployments = deploymentsOf(site).filter(({ followed }) => followed === undefined);
  const numbers = new Map(deployments.map(({ label }, index) => [label, index + 1]));
  const newest = deployments.toReversed().slice(0, deploymentsShown);
  const repeated = (label: string) =>
    numbers.has(label) ? `Deployment ${numbers.get(label)}` : 'An earlier deployment';
  const entries = newest.map(({ label, publishedAt, again }) => ({
    id: `${url}#deployment-${numbers.get(label)}`,
    url,
    title: `${title}: deployment ${numbers.get(label)}`,
    text: again === undefined ? '' : `${repeated(again)}, published again.`,
    at: publishedAt,
    org: site.org,
  }));
  return atomText({ id: url, self: `${url}feed.atom`, title, url }, entries);
}
