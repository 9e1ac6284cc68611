import { nameOf } from '../../model/resource.ts';
import type { Pages } from '../../model/outline.ts';
import { renderedOf, renderedPart, wholePart, renderedMarkdown, outlineOf } from '../../registry/derived.ts';
import { notFound } from '../../model/errors.ts';
import { type GrantedVersion, readConfig } from '../../registry/read.ts';
import { crumbsWithin, organizationTitle } from './describe-version.ts';
import { linkParts, imageHref, partHref, versionsOf, type ResourcePage } from './resource-page.ts';
import { canonicalOf } from '../links.ts';
import { showImages } from './show-images.ts';
import type { Site } from '../site.ts';
import { anchorOf, operationHtml, referenceHtml } from '../../sites/pages/embedded.ts';

/**
 * A page of a long document: a tag with its operations, schemas, or the whole as one page. Throws
 * `not_found` if the document has no such part.
 */
export async function partPage(site: Site, granted: GrantedVersion, name: string): Promise<ResourcePage> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const rendered = await renderedOf(registry, granted);
  const pages = rendered?.pages ?? null;
  const at = pages?.parts.findIndex((part) => part.name === name) ?? -1;
  const isWhole = name === wholePart;
  if (rendered !== null && (pages === null || (at < 0 && !isWhole))) {
    throw notFound(`The page of this version has no part ${name}.`);
  }
  const html = pages === null ? null : await renderedPart(registry, granted, name);
  const to = (part: string | null) => partHref(site, granted, part);
  const linked = (text: string) => (isWhole || pages === null ? text : linkParts(text, pages, name, to));
  const shown = (text: string) => showImages(site, resource, linked(text), { hrefOf: imageHref(site, granted) });
  const title = isWhole ? 'The whole reference' : (pages?.parts[at]?.title ?? name);
  const text = site.page('part', {
    org: resource.org,
    title: `${title} · ${resource.name} ${version.label}`,
    crumbs: crumbsWithin(site, resource, title, version.label),
    canonical: links.whole(
      canonicalOf(links, resource, version) === links.to(resource)
        ? links.to(resource, { view: 'part', part: name })
        : to(name),
    ),
    // The same content is on the other pages.
    hidden: resource.visibility === 'private' || isWhole,
    resource: { name: resource.name, coordinate: nameOf(resource) },
    version: { label: version.label, isLatest: resource.latest === version.label, state: version.status.state },
    heading: title,
    home: to(null),
    whole: isWhole ? null : to(wholePart),
    reference: html === null ? null : isWhole ? shown(html) : `<div class="reference">${shown(html)}</div>`,
    navigation: unfold(linked(rendered?.navigation ?? '')),
    isCut: isWhole && rendered!.truncated,
    previous: neighbour(pages, at - 1, to),
    next: neighbour(pages, at < 0 ? -1 : at + 1, to),
    versions: versionsOf(site, resource, version),
    tryHref: resource.type === 'apis' ? links.to(resource, { label: version.label, view: 'try' }) : null,
    scripts: ['reference.js'],
  });
  return { text, isWhole: html !== null };
}

/** Unfolds the group of the table of contents whose links stay on the page. */
function unfold(navigation: string): string {
  return navigation.replace(/<details>(?=<summary>[^<]*<\/summary><ul><li><a href="#)/g, '<details open>');
}

function neighbour(pages: Pages | null, at: number, to: (part: string) => string): object | null {
  const part = at < 0 ? undefined : pages?.parts[at];
  return part === undefined ? null : { title: part.title, href: to(part.name) };
}

/** The page of a version as Markdown, for programs and language models. */
export async function resourceMarkdown(site: Site, granted: GrantedVersion): Promise<ResourcePage> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const [config, rendered] = await Promise.all([readConfig(registry, granted), renderedMarkdown(registry, granted)]);
  const { status, label } = version;
  const lines = [
    `# ${plain(resource.name)} ${label}`,
    '',
    `- Coordinate: \`${nameOf(resource)}@${label}\``,
    `- Specification: ${plain(config.kind)} ${plain(config.specification)}`,
    `- Published: ${version.publishedAt}`,
    `- JSON: <${links.url(resource, { label, format: 'json' })}>`,
    `- YAML: <${links.url(resource, { label, format: 'yaml' })}>`,
    `- Latest: <${links.url(resource, {})}>`,
    ...(status.state === 'active' ? [] : [`- Status: ${status.state}. ${plain(status.reason)}`]),
    '',
  ];
  const shortened = 'The document is longer than this page. Get all of it at the URLs above.';
  const rest =
    rendered === null ? 'This document cannot be shown as Markdown. Get it at the URLs above.\n' : rendered.markdown;
  const text = `${lines.join('\n')}\n${rest.trimEnd()}\n${rendered?.truncated ? `\n${shortened}\n` : ''}`;
  return { text, isWhole: rendered !== null };
}

/** Escapes user text for one line of Markdown. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|~!&]/g, (character) => `\\${character}`);
}

const themes = ['light', 'dark'] as const;
type Theme = (typeof themes)[number];

export function isTheme(text: string): text is Theme {
  return (themes as readonly string[]).includes(text);
}

/** What to embed: one operation, by its id or as `GET /payments`, or all. */
export interface EmbedOptions {
  operation: string | null;
  /** Null: what the reader's system prefers. */
  theme: Theme | null;
}

/**
 * The reference of a version for a frame: without the registry's header, navigation and search. Of a
 * long document the overview, whose links lead to the registry. Throws `not_found` if there is no
 * such operation.
 */
export async function embedPage(
  site: Site,
  granted: GrantedVersion,
  { operation, theme }: EmbedOptions,
): Promise<string> {
  const { resource, version } = granted;
  const href = site.links.to(resource, { label: version.label });
  const { registry } = site;
  const rendered = await renderedOf(registry, granted);
  const anchor = operation && (await anchorOf(registry, granted, operation));
  if (operation !== null && !anchor)
    throw notFound('This version has no such operation. Name it by its id, or as GET /payments.');
  const html =
    rendered &&
    (anchor
      ? await operationHtml(registry, granted, { rendered, anchor, href })
      : referenceHtml(rendered, (part) => partHref(site, granted, part)));
  return site.page('embed', {
    org: resource.org,
    title: `${resource.name} ${version.label}`,
    hidden: true,
    theme,
    name: resource.name,
    version: { label: version.label, state: version.status.state },
    href: anchor ? `${href}#${anchor}` : href,
    html: html && leaveFrame(showImages(site, resource, html, { hrefOf: imageHref(site, granted), hosts: [] })),
  });
}

/** Links that leave the reference open a tab of their own: no other page may be in the frame. */
function leaveFrame(html: string): string {
  // Text is escaped, so this is an element.
  return html.replaceAll(/<a (?=href="[^#])/g, '<a target="_blank" ');
}

/** The most servers that a page may reach. More would make the header too long for proxies. */
const maxServers = 20;

/** The page for trying requests of an API, and the origins that it needs to reach. */
export async function tryPage(site: Site, granted: GrantedVersion): Promise<{ html: string; servers: string[] }> {
  const { links } = site;
  const { resource, version } = granted;
  const outline = await outlineOf(site.registry, granted);
  const servers = [...new Set((outline?.servers ?? []).flatMap(serverOrigins))].slice(0, maxServers);
  const back = links.to(resource, { label: version.label });
  const html = site.page('try', {
    org: resource.org,
    title: `Try ${resource.name} ${version.label}`,
    crumbs: [
      { text: organizationTitle(site, resource.org), href: links.path(`/@${resource.org}`) },
      { text: `${resource.name} ${version.label}`, href: back },
      { text: 'Try it' },
    ],
    hidden: true,
    resource: { name: resource.name },
    version: { label: version.label },
    back,
    servers,
    document: links.to(resource, { label: version.label, format: 'json' }),
    styles: ['try.css'],
    scripts: ['reference.js', 'try.js'],
  });
  return { html, servers };
}

/**
 * The origins of a server's URL as a `Content-Security-Policy` names them (CSP 3, host-source);
 * empty if that is not safe. A variable as scheme means http and https; as port, any port; at the
 * start of the host, any subdomain of at least two labels: `https://{region}.api.example.com` gives
 * `https://*.api.example.com`, and `https://{anything}.com` gives none.
 */
export function serverOrigins(url: string): string[] {
  const parts = /^(https?|\{[^{}]*\}):\/\/([^/?#:@\\]+)(?::([^/?#:@\\]*))?(?:[/?#]|$)/i.exec(url);
  if (!parts) return [];
  const [, scheme, name, port] = parts;
  const host = hostSource(name!.toLowerCase());
  const place = port === undefined ? '' : /^\d{1,5}$/.test(port) ? `:${port}` : /^\{[^{}]*\}$/.test(port) ? ':*' : null;
  if (host === null || place === null) return [];
  const schemes = scheme!.startsWith('{') ? ['https', 'http'] : [scheme!.toLowerCase()];
  return schemes.map((each) => `${each}://${host}${place}`);
}

function hostSource(name: string): string | null {
  // A variable may contain dots, so it is replaced before parsing the host.
  const labels = name.replace(/\{[^{}]*\}/g, '*').split('.');
  const variable = labels.findLastIndex((label) => label.includes('*'));
  const rest = labels.slice(variable + 1);
  if (!rest.every((label) => /^[a-z0-9-]+$/.test(label))) return null;
  // Rejects a literal `*` in the document, which is neither a variable nor a host.
  if (variable < 0) return rest.join('.');
  return name.includes('*') || rest.length < 2 ? null : `*.${rest.join('.')}`;
}
