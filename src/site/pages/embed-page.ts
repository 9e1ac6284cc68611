import { RegistryError } from '../../model/errors.ts';
import { coordinateOf } from '../../model/resource.ts';
import type { Rendered } from '../../compile/sandboxes.ts';
import { outlineOf, renderedOf } from '../../registry/derived.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { anchorOfOperation } from '../../sites/registry/make-deployment.ts';
import { operationHtml, referenceHtml, wholeHtml } from '../../sites/pages/embedded.ts';
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
  const rendered = await renderedOf(site.registry, granted);
  const html =
    rendered === null
      ? null
      : operation === null
        ? referenceHtml(rendered, (part) => partHref(site, granted, part))
        : await oneOperation(site, granted, rendered, operation);
  return site.page('embed', {
    org: resource.org,
    title: `${resource.name} ${version.label}`,
    hidden: true,
    theme,
    name: resource.name,
    version: { label: version.label, state: version.status.state },
    href: operation === null ? href : `${href}#${await anchorOf(site, granted, operation)}`,
    html: html && leaveFrame(showImages(site, resource, html, { hrefOf: imageHref(site, granted), hosts: [] })),
  });
}

async function oneOperation(
  site: Site,
  granted: GrantedVersion,
  rendered: Rendered,
  operation: string,
): Promise<string | null> {
  const { resource, version } = granted;
  const anchor = await anchorOf(site, granted, operation);
  const whole = await wholeHtml(site, granted, rendered);
  return whole && operationHtml(whole, anchor, site.links.to(coordinateOf(resource), { label: version.label }));
}

async function anchorOf(site: Site, granted: GrantedVersion, operation: string): Promise<string> {
  const outline = await outlineOf(site.registry, granted);
  const anchor = outline && anchorOfOperation(outline, operation);
  if (anchor !== null) return anchor;
  throw new RegistryError('not_found', 'This version has no such operation. Name it by its id, or as GET /payments.');
}

/** Links that leave the reference open a tab of their own: no other page may be in the frame. */
function leaveFrame(html: string): string {
  // Text is escaped, so this is an element.
  return html.replaceAll(/<a (?=href="[^#])/g, '<a target="_blank" ');
}
