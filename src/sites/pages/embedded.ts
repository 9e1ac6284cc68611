import { parseCoordinate } from '../../model/address.ts';
import { everywhereKey, resourceKey } from '../../model/cache-key.ts';
import { own } from '../../model/json.ts';
import type { Status } from '../../model/resource.ts';
import type { Embed } from '../model/source-page.ts';
import type { Rendered } from '../../compile/sandboxes.ts';
import { outlineOf, renderedMarkdown, renderedOf, renderedPart, wholePart } from '../../registry/derived.ts';
import { findGranted, type GrantedVersion } from '../../registry/read.ts';
import type { Registry } from '../../registry/registry.ts';
import { createFindAnchor } from '../registry/make-deployment.ts';
import { linkParts, imageHref, partHref } from '../../site/pages/resource-page.ts';
import { showImages } from '../../site/pages/show-images.ts';
import { registryLink, type SiteView } from './placed.ts';

/** An embedded reference as one reader sees it. */
export interface Embedded {
  /** Null: this reader sees nothing of it, whether it exists or not. */
  shown: {
    /** What it is a reference of, with the page in the registry. */
    name: string;
    label: string;
    state: Status['state'];
    href: string;
    /** The form for its requests. */
    tryHref: string | null;
    html: string;
    navigation: string;
    markdown: string;
  } | null;
  /** Whether everybody may see it as it is here. */
  isPublic: boolean;
  /** The key that purges it from shared caches. Without anything shown, it names no resource. */
  key: string;
}

const nothing: Embedded = { shown: null, isPublic: true, key: everywhereKey };

/**
 * The reference that a page embeds, at the version that its deployment recorded, with the rights of
 * the reader, who may read the site but perhaps not the API.
 */
export async function showEmbed({ site, granted, placed, reader }: SiteView, embed: Embed): Promise<Embedded> {
  const { registry, links } = site;
  const recorded = own(granted.contents.embeds, embed.coordinate);
  const parsed = parseCoordinate(embed.coordinate);
  if (recorded === undefined || parsed === null) return nothing;
  const digest = recorded.manifest;
  const version = (await findGranted(registry, reader, parsed.coordinate, { kind: 'digest', digest }))?.granted ?? null;
  if (version === null) return nothing;
  const { resource } = version;
  const rendered = await renderedOf(registry, version);
  if (rendered === null) return nothing;
  const path = links.to(resource, { label: version.version.label });
  const href = registryLink(site, placed, path);
  const { label, status } = version.version;
  const form = links.to(resource, { label, view: 'try' });
  const tryHref = resource.type === 'apis' ? registryLink(site, placed, form) : null;
  const about = { name: resource.name, label, state: status.state, href, tryHref };
  const sharing = { isPublic: resource.visibility === 'public', key: resourceKey(resource) };
  const shown = (text: string) =>
    showImages(site, resource, text, { hrefOf: placed.isElsewhere ? null : imageHref(site, version), hosts: [] });
  if (embed.operation === null) {
    const to = (part: string | null) => registryLink(site, placed, partHref(site, version, part));
    const { navigation, pages } = rendered;
    return {
      shown: {
        ...about,
        html: shown(referenceHtml(rendered, to)),
        navigation: pages === null ? navigation : linkParts(navigation, pages, null, to),
        markdown: (await renderedMarkdown(registry, version))?.markdown ?? '',
      },
      ...sharing,
    };
  }
  const anchor = await anchorOf(registry, version, embed.operation);
  const html = anchor && (await operationHtml(registry, version, { rendered, anchor, href }));
  if (!html || anchor === null) return nothing;
  const markdown = `See [${embed.operation.replaceAll(/[[\]\\]/g, '')}](${links.whole(path)}#${anchor}).`;
  return { shown: { ...about, html: shown(html), navigation: '', markdown }, ...sharing };
}

/** A reference within another page. Of a long document only the overview, whose links lead to its parts (`hrefOf`). */
export function referenceHtml({ html, pages }: Rendered, hrefOf: (part: string | null) => string): string {
  return pages === null ? html : linkParts(pages.overview, pages, null, hrefOf);
}

/** The anchor of an operation, by its id or as `GET /payments`. Null: the version has no such operation. */
export async function anchorOf(registry: Registry, granted: GrantedVersion, operation: string): Promise<string | null> {
  const outline = await outlineOf(registry, granted);
  return outline && createFindAnchor(outline)(operation);
}

/**
 * The section of one operation, out of a whole reference (`render.ts`), which a long document keeps
 * apart. What it links to there stays there.
 */
export async function operationHtml(
  registry: Registry,
  granted: GrantedVersion,
  { rendered, anchor, href }: { rendered: Rendered; anchor: string; href: string },
): Promise<string | null> {
  const html = rendered.pages === null ? rendered.html : await renderedPart(registry, granted, wholePart);
  const start = html?.indexOf(`<section class="operation" id="${anchor}">`) ?? -1;
  const end = html?.indexOf('</section>', start) ?? -1;
  if (html === null || start < 0 || end < 0) return null;
  const section = html.slice(start, end + '</section>'.length);
  const anchorLink = `href="#${anchor}"`;
  return section.replaceAll(/href="#[^"]*"/g, (link) =>
    link === anchorLink ? link : `href="${href}${link.slice('href="'.length)}`,
  );
}
