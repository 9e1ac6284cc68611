import type { Principal } from '../../model/access.ts';
import type { DeployedPage } from '../../model/sites/deployment.ts';
import { routeOf } from '../../model/sites/page-path.ts';
import { openPage, type GrantedSite } from '../../registry/sites/read-site.ts';
import type { Site } from '../site.ts';
import { showEmbed, type Embedded } from './embedded.ts';
import { navigationOf, readingOrder, shownNavigation, trailTo } from './site-navigation.ts';

/** Where a site is served: its paths begin with `base`, and `url` is the whole address of that. */
export interface Placed {
  base: string;
  url: string;
  /** Set for a preview: when it expires. */
  expires?: { iso: string; text: string };
}

/** A page's text, and whether everybody who may read the site gets the same. */
export interface SitePage {
  text: string;
  isPublic: boolean;
}

/** The frame around what a page says: header, navigation, contents, neighbours. */
export async function sitePage(
  site: Site,
  granted: GrantedSite,
  placed: Placed,
  reader: Principal,
  path: string,
  page: DeployedPage,
): Promise<SitePage> {
  const { contents } = granted;
  const { settings } = contents;
  const { facts } = page;
  const { base, url } = placed;
  const content = await openPage(site.registry, granted, page);
  const embeds = await showAll(site, granted, reader, page);
  const order = readingOrder(navigationOf(contents));
  const at = order.indexOf(path);
  const neighbour = (index: number) => {
    const other = at < 0 ? undefined : order[index];
    return other === undefined ? null : { title: contents.pages[other]!.facts.title, href: base + routeOf(other) };
  };
  const isHidden = placed.expires !== undefined || granted.site.visibility === 'private' || facts.hidden;
  const trail = trailTo(navigationOf(contents), path).slice(0, -1);
  const text = site.page('documentation', {
    title: path === 'index.md' ? settings.title : `${facts.title} · ${settings.title}`,
    description: facts.description || (path === 'index.md' ? settings.description : ''),
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
    base,
    name: settings.title,
    theme: themeOf(granted, base),
    trail: trail.map((entry) => ({ text: entry.title, href: entry.page === null ? null : base + routeOf(entry.page) })),
    navigation: shownNavigation(contents, path, base),
    headings: facts.headings.filter(({ level }) => level <= 3),
    parts: content.html.map((html, index) => ({
      html,
      embed: index === 0 ? null : embeds[index - 1]!.shown,
      isMissing: index > 0 && embeds[index - 1]!.shown === null,
    })),
    references: embeds.flatMap(({ shown }) => (shown && shown.navigation !== '' ? [shown.navigation] : [])),
    languages: embeds.some(({ shown }) => shown !== null),
    versions: versionsOf(granted, placed, path),
    previous: neighbour(at - 1),
    next: neighbour(at + 1),
    expires: placed.expires ?? null,
    styles: ['docs.css', 'documentation.css'],
    scripts: embeds.some(({ shown }) => shown !== null) ? ['reference.js'] : [],
  });
  return { text, isPublic: granted.site.visibility === 'public' && embeds.every(({ isPublic }) => isPublic) };
}

/** A page in Markdown, with what its reader may see of the references in it. */
export async function siteMarkdown(
  site: Site,
  granted: GrantedSite,
  reader: Principal,
  page: DeployedPage,
): Promise<SitePage> {
  const content = await openPage(site.registry, granted, page);
  const embeds = await showAll(site, granted, reader, page);
  const parts = content.markdown.flatMap((text, index) => [
    text,
    ...(embeds[index]?.shown ? [embeds[index].shown.markdown] : []),
  ]);
  const body = parts
    .join('\n\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  const heading = body.startsWith('# ') ? '' : `# ${page.facts.title}\n\n`;
  return {
    text: `${heading}${body}\n`,
    isPublic: granted.site.visibility === 'public' && embeds.every(({ isPublic }) => isPublic),
  };
}

function showAll(site: Site, granted: GrantedSite, reader: Principal, { facts }: DeployedPage): Promise<Embedded[]> {
  return Promise.all(facts.embeds.map((embed) => showEmbed(site, granted, reader, embed)));
}

/** Files of the theme that the header shows. Those that the site does not have are left out. */
function themeOf({ contents }: GrantedSite, base: string): object {
  const { theme } = contents.settings;
  const has = (path: string | undefined): string | null =>
    path !== undefined && Object.hasOwn(contents.files, path) ? base + path : null;
  const logo = has(theme.logo);
  return { logo, logoDark: has(theme.logoDark) ?? logo, icon: has(theme.icon) };
}

/** The states of the documentation that readers switch between; the same page of each, where there is one. */
function versionsOf({ contents, site }: GrantedSite, { base }: Placed, path: string): object[] {
  const { versions } = contents.settings;
  const current = versions.find(({ folder }) => folder !== undefined && path.startsWith(folder));
  const rest = current?.folder === undefined ? null : path.slice(current.folder.length);
  return versions.flatMap((version) => {
    const { title, folder, site: other } = version;
    if (other !== undefined)
      return [{ title, href: other === site.slug ? base : `${base}../${other}/`, isCurrent: other === site.slug }];
    const same = rest === null ? null : `${folder}${rest}`;
    const target = same !== null && Object.hasOwn(contents.pages, same) ? same : `${folder}index.md`;
    return Object.hasOwn(contents.pages, target)
      ? [{ title, href: base + routeOf(target), isCurrent: version === current }]
      : [];
  });
}
