import type { AnswerCache } from '../registry/answer-cache.ts';
import type { Registry } from '../registry/registry.ts';
import { createAssets, type Assets } from './assets.ts';
import { readDocs, type DocPage } from './docs/docs.ts';
import { readBranding } from './branding.ts';
import { createLinks, type Links } from './links.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';

/**
 * The context of all pages. A page depends only on the contents of the registry and on its reader,
 * not on the request or the time, so that the server and the static build produce the same bytes.
 */
export interface Site {
  registry: Registry;
  /** Answers that were made with these links and templates. */
  answers: AnswerCache;
  /** Public base URL without a trailing slash. */
  url: string;
  links: Links;
  assets: Assets;
  /** Stele's own documentation, in order. */
  docs: readonly DocPage[];
  /** Path of an organization's logo. Null: it has none. */
  logo(org: string): string | null;
  /** Whether people can sign in. Pages then link to `/account`. */
  hasLogin: boolean;
  /** Whether its pages are files on a host: no frames for other sites, no pages that depend on their reader or on parameters. */
  isStatic: boolean;
  /** Renders a template within the layout. */
  page(template: string, data: PageData): string;
  /** Renders a template by itself: a part of a page. */
  part(template: string, data: object): string;
}

/** The data of every page. Templates add their own. */
export interface PageData {
  title: string;
  /** One sentence for search engines. Empty: none. */
  description?: string;
  /** Breadcrumbs from the top. The last is the page itself and needs no `href`. */
  crumbs?: Crumb[];
  /** The canonical URL of the page. */
  canonical?: string;
  /** The same content in other formats. */
  alternates?: { href: string; type: string; title: string }[];
  /** The organization whose logo and colors the page has. */
  org?: string | null;
  /** Whether search engines should skip the page. */
  hidden?: boolean;
  /** What the page is about, in terms of schema.org. */
  structured?: object;
  /** Names of additional scripts (assets), all of them modules. */
  scripts?: string[];
  /** Names of additional stylesheets. */
  styles?: string[];
  [more: string]: unknown;
}

export interface Crumb {
  text: string;
  href?: string;
}

/** Creates the site of a registry under this public URL. */
export function createSite(registry: Registry, url: string, { hasLogin = false, isStatic = false } = {}): Site {
  const links = createLinks(url);
  const branding = readBranding(registry.config);
  const assets = createAssets(registry.config.templates, branding.assets);
  const templates = createTemplates(registry.config.templates);
  const base = url.replace(/\/$/, '');
  function brandOf(org: string | null | undefined): { style: string | null; logo: string | null } {
    const { style = null, logo = null } = (org ? branding.brands.get(org) : null) ?? {};
    return { style, logo: logo && links.path(assets.path(logo)) };
  }
  return {
    registry,
    answers: registry.answers.scope(),
    url: base,
    links,
    assets,
    docs: readDocs(),
    logo: (org) => brandOf(org).logo,
    hasLogin,
    isStatic,
    part: (template, data) => templates.render(template, data),
    page(template, data) {
      const asset = (name: string) => links.path(assets.path(name));
      const site = {
        name: 'Stele',
        home: links.path('/'),
        search: links.path('/search'),
        shards: asset('ranking/shards.js'),
        suggest: asset('search.js'),
        account: hasLogin ? links.path('/account') : null,
        start: links.path('/console/new'),
        console: hasLogin ? links.path('/console') : null,
        feed: links.path('/feed.atom'),
        docs: links.path('/docs/'),
      };
      const brand = brandOf(data.org);
      const structuredText = data.structured === undefined ? null : structuredData(data.structured);
      const common = { crumbs: [], scripts: [], styles: [], alternates: [], reload: null };
      return templates.render(template, { ...common, ...data, structuredText, site, brand, asset });
    },
  };
}

/** JSON-LD for a `script` element: no text in it can end the element. */
function structuredData(value: object): string {
  return JSON.stringify({ '@context': 'https://schema.org', ...value }).replaceAll('<', '\\u003c');
}

/** The HTML templates: the files of `templates/`, by name. */
interface Templates {
  /** Renders a template. `<%= %>` escapes its value; `<%~ %>` prints HTML that is already safe. */
  render(name: string, data: object): string;
}

const ours = fileURLToPath(new URL('../../templates/', import.meta.url));

/**
 * Opens the templates. The operator's folder overrides them by name (content/docs/templates.md).
 */
function createTemplates(folder: string | null): Templates {
  const eta = new Eta({ views: ours, autoEscape: true, cache: true });
  const files = new Map<string, string>();
  const fileOf = (name: string): string => {
    const file = `${name.replace(/^\.?\//, '')}.eta`;
    const custom = folder === null ? null : join(folder, file);
    return custom !== null && existsSync(custom) ? custom : join(ours, file);
  };
  eta.resolvePath = (name) => files.getOrInsertComputed(name, fileOf);
  return { render: (name, data) => eta.render(name, data) };
}
