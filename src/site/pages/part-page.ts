import { coordinateOf, nameOf } from '../../model/resource.ts';
import type { Pages } from '../../model/outline.ts';
import { renderedOf, renderedPart, wholePart } from '../../registry/derived.ts';
import { RegistryError } from '../../model/errors.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { crumbsWithin } from './crumbs.ts';
import { linkParts } from './link-parts.ts';
import { canonicalOf } from '../links.ts';
import { imageHref, partHref, versionsOf, type ResourcePage } from './resource-page.ts';
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
