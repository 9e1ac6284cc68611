import { formatSite, siteCoordinate, type DeployedPage, type DeploymentContents } from '../model/documentation-site.ts';
import { anonymous } from '../../model/access.ts';
import { everywhereKey } from '../../model/cache-key.ts';
import { commitLinks, dayOf } from '../../site/pages/describe-version.ts';
import { excerpt } from '../../site/pages/listings.ts';
import type { PageContent } from '../model/source-page.ts';
import { routeOf } from '../model/page-path.ts';
import { findReadable } from '../../registry/readable.ts';
import { openPage, type GrantedSite } from '../registry/read-site.ts';
import { showEmbed, type Embedded } from './embedded.ts';
import { placeInRegistry, registryLink, type SiteView } from './placed.ts';
import { neighboursOf, shownNavigation, trailTo, versionFolder } from './site-navigation.ts';
import { openPages, type FoundPage, type SiteIndex } from '../../search/ranking/pages.js';
import { siteIndex } from '../../search/site-index.ts';
import type { Registry } from '../../registry/registry.ts';

/** A page's text, and whether everybody who may read the site gets the same. */
export interface SitePage {
  text: string;
  isPublic: boolean;
  /** Keys that purge it from shared caches. */
  keys: readonly string[];
}

const styles = ['docs.css', 'documentation.css'];

/** A page with its frame: header, navigation, contents, neighbours. */
export async function sitePage(view: SiteView, path: string, page: DeployedPage): Promise<SitePage> {
  const { site, granted, placed } = view;
  const { contents } = granted;
  const { settings } = contents;
  const { facts } = page;
  const { base, url } = placed;
  const frame = frameOf(view, path);
  const content = await openPage(site.registry, granted, page);
  const embeds = await showAll(view, page);
  const hasReference = embeds.some(({ shown }) => shown !== null);
  const { previous, next } = neighboursOf(contents, path);
  const neighbour = (other: string | null) =>
    other === null ? null : { title: contents.pages[other]!.facts.title, href: base + routeOf(other) };
  const isHidden = placed.expires !== undefined || granted.site.visibility === 'private' || facts.hidden;
  const trail = trailTo(contents, path).slice(0, -1);
  const text = site.page('documentation', {
    ...frame,
    title: path === 'index.md' ? settings.title : `${facts.title} · ${settings.title}`,
    description: facts.description || (path === 'index.md' && settings.description) || beginningOf(content),
    heading: facts.title,
    lead: facts.description,
    ...(placed.expires === undefined && { canonical: `${url}${routeOf(path)}` }),
    hidden: isHidden,
    alternates: placed.expires
      ? []
      : [
          { href: `${url}${path}`, type: 'text/markdown', title: 'Markdown' },
          ...(isHidden ? [] : [{ href: `${url}feed.atom`, type: 'application/atom+xml', title: settings.title }]),
        ],
    trail: trail.map((entry) => ({ text: entry.title, href: entry.page === null ? null : base + routeOf(entry.page) })),
    headings: facts.headings.filter(({ level }) => level <= 3),
    // Each part but the first stands below an embed.
    parts: content.html.map((html, index) => {
      const embed = embeds[index - 1];
      return { html, embed: embed?.shown ?? null, isMissing: embed?.shown === null };
    }),
    references: embeds.flatMap(({ shown }) => (shown && shown.navigation !== '' ? [shown.navigation] : [])),
    languages: hasReference,
    versions: await versionsOf(view, path),
    previous: neighbour(previous),
    next: neighbour(next),
    edit: editLink(granted, path),
    lastChange: page.lastChange ? { ...page.lastChange, day: dayOf(page.lastChange.at) } : null,
    scripts: hasReference ? ['reference.js'] : [],
  });
  const hasOthers = settings.versions.some((version) => version.site !== undefined);
  return { text, ...sharingOf(granted, embeds, hasOthers ? [everywhereKey] : []) };
}

/** The first words of a page, for whoever links to it. */
function beginningOf({ sections }: PageContent): string {
  const [first] = sections;
  return first?.id === '' ? excerpt(first.text) : '';
}

/** The file of a page at its git host, on the branch that the site follows. Null: it was sent, or the host is not known. */
function editLink({ site, deployment: { origin } }: GrantedSite, path: string): object | null {
  if (origin === null) return null;
  const links = commitLinks(origin.repository, origin.commit);
  const file = origin.folder === '' ? path : `${origin.folder}/${path}`;
  return links && { href: links.latest(file, site.connection?.branch ?? 'HEAD'), host: new URL(links.repository).host };
}

/** The "not found" page of a site. It names no embed, and is the same for every reader. */
export function absentPage(view: SiteView): string {
  return barePage(view, {
    heading: 'Page not found',
    html: '<p>Nothing is at this address. The page may have moved, or the link may be wrong.</p>',
  });
}

/** The pages that fit a query. Like the index, it shows nothing of what they embed. */
export async function resultsPage(
  view: SiteView,
  { query, folder }: { query: string; folder: string },
): Promise<string> {
  const { site, granted, placed } = view;
  const inFolder = versionFolder(granted.contents, folder);
  const answer = await searchSite(site.registry, granted, query, inFolder);
  const results = answer.map(({ route, id, title, heading }) => ({
    href: `${placed.base}${route}${id === '' ? '' : `#${encodeURIComponent(id)}`}`,
    title,
    heading,
  }));
  const html = answer.length === 0 ? '<p class="empty">No page of this site has these words.</p>' : '';
  return barePage(view, { heading: 'Search', html, query, results, folder: inFolder });
}

/** What all pages of a site have: its header, and the navigation as it is for one page or folder. */
function frameOf({ site, granted, placed }: SiteView, path: string) {
  const { base, expires = null } = placed;
  return {
    base,
    home: registryLink(site, placed, site.links.path('/')),
    name: granted.contents.settings.title,
    theme: themeOf(granted, base),
    navigation: shownNavigation(granted.contents, path, base),
    within: withinOf(granted, path),
    expires,
    styles,
  };
}

/** A page of the site's frame that is none of its own. `html`: safe. */
function barePage(
  view: SiteView,
  {
    heading,
    html,
    folder = '',
    ...more
  }: { heading: string; html: string; query?: string; results?: object[]; folder?: string },
): string {
  const frame = frameOf(view, folder);
  return view.site.page('documentation', {
    ...frame,
    title: `${heading} · ${frame.name}`,
    heading,
    lead: '',
    hidden: true,
    trail: [],
    headings: [],
    parts: [{ html, embed: null, isMissing: false }],
    references: [],
    versions: [],
    previous: null,
    next: null,
    edit: null,
    lastChange: null,
    ...more,
  });
}

/** A page in Markdown, with what its reader may see of the references in it. */
export async function siteMarkdown(view: SiteView, page: DeployedPage): Promise<SitePage> {
  const { site, granted } = view;
  const content = await openPage(site.registry, granted, page);
  const embeds = await showAll(view, page);
  const parts = content.markdown.flatMap((text, index) => [
    text,
    ...(embeds[index]?.shown ? [embeds[index].shown.markdown] : []),
  ]);
  const body = parts
    .join('\n\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  const heading = /^(?:#[ \t]|[^\n]+\n=+[ \t]*(?:\n|$))/.test(body) ? '' : `# ${page.facts.title}\n\n`;
  return { text: `${heading}${body}\n`, ...sharingOf(granted, embeds) };
}

/** The scope of a search: the version of the page, and the folders of all versions. */
function withinOf({ contents }: GrantedSite, path: string): { folder: string; folders: string } | null {
  const folders = contents.settings.versions.flatMap(({ folder }) => folder ?? []);
  return folders.length === 0 ? null : { folder: versionFolder(contents, path), folders: JSON.stringify(folders) };
}

function sharingOf(
  { site }: GrantedSite,
  embeds: readonly Embedded[],
  more: readonly string[] = [],
): Pick<SitePage, 'isPublic' | 'keys'> {
  const isPublic = site.visibility === 'public' && embeds.every((embed) => embed.isPublic);
  return { isPublic, keys: [...new Set([formatSite(site), ...embeds.map(({ key }) => key), ...more])] };
}

function showAll(view: SiteView, { facts }: DeployedPage): Promise<Embedded[]> {
  return Promise.all(facts.embeds.map((embed) => showEmbed(view, embed)));
}

/** Files of the theme that the header shows. Those that the site does not have are left out. */
function themeOf({ contents }: GrantedSite, base: string): object {
  const { theme } = contents.settings;
  const has = (path: string | undefined): string | null =>
    path !== undefined && Object.hasOwn(contents.files, path) ? base + path : null;
  const logo = has(theme.logo);
  return { logo, logoDark: has(theme.logoDark) ?? logo, icon: has(theme.icon) };
}

/**
 * The states of the documentation that readers switch between; the same page of each, where there is
 * one. Another site is among them for those who may read it: on a public page, which caches share,
 * only if everybody may.
 */
async function versionsOf({ site: registrySite, granted, placed, reader }: SiteView, path: string): Promise<object[]> {
  const { contents, site } = granted;
  const { versions } = contents.settings;
  const seenBy = site.visibility === 'public' ? anonymous : reader;
  const { base } = placed;
  const otherSite = (slug: string) => {
    const other = placeInRegistry(registrySite, { org: site.org, slug });
    return placed.isElsewhere ? other.url : other.base;
  };
  const readable = new Set<string>();
  for (const { site: slug } of versions) {
    if (slug === undefined) continue;
    const documentation = await findReadable(registrySite.registry, seenBy, siteCoordinate({ org: site.org, slug }));
    if (documentation !== null && documentation.value.current !== null) readable.add(slug);
  }
  const current = versions.find(({ folder }) => folder !== undefined && path.startsWith(folder));
  const rest = current?.folder === undefined ? null : path.slice(current.folder.length);
  return versions.flatMap((version) => {
    const { title, folder, site: other } = version;
    if (other === site.slug) return [{ title, href: base, isCurrent: true }];
    if (other !== undefined) return readable.has(other) ? [{ title, href: otherSite(other), isCurrent: false }] : [];
    const same = rest === null ? null : `${folder}${rest}`;
    const target = same !== null && Object.hasOwn(contents.pages, same) ? same : `${folder}index.md`;
    return Object.hasOwn(contents.pages, target)
      ? [{ title, href: base + routeOf(target), isCurrent: version === current }]
      : [];
  });
}

const opened = new WeakMap<DeploymentContents, ReturnType<typeof openPages>>();
const maxResults = 30;

/** The pages that fit a query, best first: those of the version in `folder`, or those of no version. */
async function searchSite(
  registry: Registry,
  granted: GrantedSite,
  query: string,
  folder: string,
): Promise<FoundPage[]> {
  let search = opened.get(granted.contents);
  if (search === undefined) {
    search = openPages(JSON.parse(await siteIndex(registry, granted)) as SiteIndex);
    opened.set(granted.contents, search);
  }
  return search(query, maxResults, (route) => versionFolder(granted.contents, route) === folder);
}
