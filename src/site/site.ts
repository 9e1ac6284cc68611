import type { Registry } from '../registry/registry.ts';
import { createAssets, type Assets } from './assets.ts';
import { readDocs, type DocPage } from './docs/docs.ts';
import { createLinks, type Links } from './links.ts';
import { createTemplates } from './templates.ts';

/**
 * What pages are made with. A page depends on what the registry holds and on who may see it, and on nothing else: neither on the request nor
 * on the time, so that the server and the static build make the same bytes.
 */
export interface Site {
  registry: Registry;
  /** Public base URL, without a slash at its end. */
  url: string;
  links: Links;
  assets: Assets;
  /** Stele's own documentation, in order. */
  docs: readonly DocPage[];
  /** Whether people can sign in here: pages then lead to `/account`. */
  hasLogin: boolean;
  /** The page that a template makes of this, within the layout. */
  page(template: string, data: PageData): string;
}

/** What every page is made of. A template's own data comes beside it. */
export interface PageData {
  title: string;
  /** One sentence for search engines; none where it is empty. */
  description?: string;
  /** The way here, from the top; the last is the page itself and needs no `href`. */
  crumbs?: Crumb[];
  /** The whole URL that this page is known by. */
  canonical?: string;
  /** The same content in another form. */
  alternates?: { href: string; type: string; title: string }[];
  /** Whether search engines are asked to pass it over. */
  hidden?: boolean;
  /** Names of more scripts (assets) that the page needs, all of them modules. */
  scripts?: string[];
  /** Names of more stylesheets. */
  styles?: string[];
  [more: string]: unknown;
}

export interface Crumb {
  text: string;
  href?: string;
}

/** The site of a registry that is reached under this URL. */
export function createSite(registry: Registry, url: string, { hasLogin = false } = {}): Site {
  const links = createLinks(url);
  const assets = createAssets(registry.config.templates);
  const templates = createTemplates(registry.config.templates);
  const base = url.replace(/\/$/, '');
  return {
    registry,
    url: base,
    links,
    assets,
    docs: readDocs(),
    hasLogin,
    page(template, data) {
      const asset = (name: string) => links.path(assets.path(name));
      const site = {
        name: 'Stele',
        home: links.path('/'),
        search: links.path('/search'),
        account: hasLogin ? links.path('/account') : null,
        feed: links.path('/feed.atom'),
        docs: links.path('/docs/'),
      };
      return templates.render(template, { crumbs: [], scripts: [], styles: [], alternates: [], ...data, site, asset });
    },
  };
}
