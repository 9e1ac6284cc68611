import { readFileSync, existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Config } from '../config.ts';
import type { OrganizationConfig } from '../config/organization-config.ts';
import { malformed } from '../model/errors.ts';
import { contrastOf, inkOn, leastContrast, mixed } from '../sites/model/theme.ts';
import type { AnswerCache } from '../registry/answer-cache.ts';
import type { Registry } from '../registry/registry.ts';
import { createAssets, type Assets } from './assets.ts';
import { readDocs, type DocPage } from './docs/docs.ts';
import { createLinks, type Links } from './links.ts';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { Coding } from '../model/artifact.ts';

/** What an organization's pages look like: names of assets, or null for Stele's own. */
export interface Brand {
  style: string | null;
  logo: string | null;
}

/** The background colors of pages and of raised boxes, as in `style.css`. */
const grounds = { light: ['#fbfaf7', '#f3f1eb'], dark: ['#151613', '#272a25'] } as const;

/** How much of the ground is in the background of a tag in the accent. */
const wash = 0.89;

/** The largest logo in bytes. It is loaded with every page of the organization. */
const largestLogo = 100_000;

/** The branding of the configured organizations, and its assets. */
export function readBranding({ organizations }: Pick<Config, 'organizations'>): {
  brands: ReadonlyMap<string, Brand>;
  assets: ReadonlyMap<string, Uint8Array>;
} {
  const brands = new Map<string, Brand>();
  const assets = new Map<string, Uint8Array>();
  for (const [org, { accent, logo }] of Object.entries(organizations)) {
    const style = accent === undefined ? null : `brand-${org}.css`;
    const image = logo === undefined ? null : `logo-${org}${extname(logo).toLowerCase()}`;
    if (style !== null) assets.set(style, Buffer.from(styleOf(org, accent!)));
    if (image !== null) assets.set(image, readLogo(org, logo!));
    if (style !== null || image !== null) brands.set(org, { style, logo: image });
  }
  return { brands, assets };
}

function styleOf(org: string, accent: NonNullable<OrganizationConfig['accent']>): string {
  for (const scheme of ['light', 'dark'] as const) {
    for (const ground of [...grounds[scheme], washOf(accent[scheme], scheme)])
      assertReadable(org, scheme, accent[scheme], ground);
  }
  const both = (colorIn: (color: string, scheme: 'light' | 'dark') => string) =>
    `light-dark(${colorIn(accent.light, 'light')}, ${colorIn(accent.dark, 'dark')})`;
  const colors = `--accent: ${both((color) => color)}; --accent-ink: ${both(inkOn)}; --accent-wash: ${both(washOf)};`;
  return `:root { ${colors} }\n`;
}

function assertReadable(org: string, scheme: string, color: string, ground: string): void {
  const contrast = contrastOf(color, ground);
  if (contrast >= leastContrast) return;
  const than = scheme === 'light' ? 'darker' : 'lighter';
  throw malformed(
    `organizations.${org}.accent.${scheme}: ${color} has a contrast of ${contrast.toFixed(1)} with the ground ${ground}; text needs ${leastContrast}. Choose a ${than} color.`,
  );
}

function washOf(color: string, scheme: 'light' | 'dark'): string {
  return mixed(color, grounds[scheme][0], wash);
}

function readLogo(org: string, path: string): Uint8Array {
  const fault = (why: string) => malformed(`organizations.${org}.logo: ${path} ${why}`);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch {
    throw fault('cannot be read.');
  }
  if (bytes.byteLength > largestLogo) throw fault(`has ${bytes.byteLength} bytes; the limit is ${largestLogo}.`);
  return bytes;
}

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
  docs(): readonly DocPage[];
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
  const templates = openTemplates(registry.config.templates);
  const base = url.replace(/\/$/, '');
  let docs: readonly DocPage[] | null = null;
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
    docs: () => (docs ??= readDocs()),
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

const ours = fileURLToPath(new URL('../../templates/', import.meta.url));

/**
 * Opens the HTML templates, the files of `templates/`. The operator's folder overrides them by name
 * (content/docs/templates.md). `<%= %>` escapes its value; `<%~ %>` prints HTML that is already safe.
 */
function openTemplates(folder: string | null): Eta {
  const eta = new Eta({ views: ours, autoEscape: true, cache: true });
  const files = new Map<string, string>();
  const fileOf = (name: string): string => {
    const file = `${name.replace(/^\.?\//, '')}.eta`;
    const custom = folder === null ? null : join(folder, file);
    return custom !== null && existsSync(custom) ? custom : join(ours, file);
  };
  eta.resolvePath = (name) => files.getOrInsertComputed(name, fileOf);
  return eta;
}

/** A request to the registry, as in HTTP. */
export interface PageRequest {
  /** Path under the registry's base, with an optional query. */
  path: string;
  /** Default `GET`. */
  method?: 'GET' | 'HEAD' | 'OPTIONS';
  accept?: string;
  /** Default `identity`. */
  coding?: Coding;
}

export interface Answered {
  status: number;
  /** Values by lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}

/**
 * The registry as an anonymous HTTP client sees it. The static build uses it to make every file.
 */
export interface Answers {
  ask(asked: PageRequest): Promise<Answered>;
  close(): Promise<void>;
}
