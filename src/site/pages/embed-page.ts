import { RegistryError } from '../../model/errors.ts';
import { coordinateOf } from '../../model/resource.ts';
import { renderedOf } from '../../registry/derived.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { anchorOf, operationHtml, referenceHtml } from '../../sites/pages/embedded.ts';
import type { Site } from '../site.ts';
import { imageHref, partHref } from './resource-page.ts';
import { showImages } from './show-images.ts';

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
  const href = site.links.to(coordinateOf(resource), { label: version.label });
  const { registry } = site;
  const rendered = await renderedOf(registry, granted);
  const anchor = operation && (await anchorOf(registry, granted, operation));
  if (operation !== null && !anchor)
    throw new RegistryError('not_found', 'This version has no such operation. Name it by its id, or as GET /payments.');
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
