import { coordinateOf, nameOf } from '../../model/resource.ts';
import type { Pages } from '../../model/outline.ts';
import { renderedOf, renderedPart, wholePart, renderedMarkdown } from '../../registry/derived.ts';
import { RegistryError } from '../../model/errors.ts';
import { type GrantedVersion, readConfig } from '../../registry/read.ts';
import { crumbsWithin } from './crumbs.ts';
import { linkParts, imageHref, partHref, versionsOf, type ResourcePage } from './resource-page.ts';
import { canonicalOf } from '../links.ts';
import { showImages } from './show-images.ts';
import type { Site } from '../site.ts';

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
    throw new RegistryError('not_found', `The page of this version has no part ${name}.`);
  }
  const html = pages === null ? null : await renderedPart(registry, granted, name);
  const coordinate = coordinateOf(resource);
  const to = (part: string | null) => partHref(site, granted, part);
  const linked = (text: string) => (isWhole || pages === null ? text : linkParts(text, pages, name, to));
  const shown = (text: string) => showImages(site, resource, linked(text), { hrefOf: imageHref(site, granted) });
  const title = isWhole ? 'The whole reference' : (pages?.parts[at]?.title ?? name);
  const text = site.page('part', {
    org: resource.org,
    title: `${title} · ${resource.name} ${version.label}`,
    crumbs: crumbsWithin(site, resource, title, version.label),
    canonical: links.whole(
      canonicalOf(links, resource, version) === links.to(coordinate)
        ? links.to(coordinate, { view: 'part', part: name })
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
    tryHref: resource.type === 'apis' ? links.to(coordinate, { label: version.label, view: 'try' }) : null,
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
  const coordinate = coordinateOf(resource);
  const [config, rendered] = await Promise.all([readConfig(registry, granted), renderedMarkdown(registry, granted)]);
  const to = (options: Parameters<typeof links.to>[1]) => links.whole(links.to(coordinate, options));
  const { status, label } = version;
  const lines = [
    `# ${plain(resource.name)} ${label}`,
    '',
    `- Coordinate: \`${nameOf(resource)}@${label}\``,
    `- Specification: ${plain(config.kind)} ${plain(config.specification)}`,
    `- Published: ${version.publishedAt}`,
    `- JSON: <${to({ label, format: 'json' })}>`,
    `- YAML: <${to({ label, format: 'yaml' })}>`,
    `- Latest: <${to({})}>`,
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
