import { organizationIn } from '../../config/organization-config.ts';
import type { Resource } from '../../model/resource.ts';
import type { Site } from '../site.ts';

/**
 * Gives the images in rendered HTML their addresses. `hrefOf`: where an image of the version is, or
 * null if it has no URL; then its words are shown. Images of other hosts are shown if the page may
 * show those `hosts`. Default: those that the organization names.
 */
export function showImages(
  { registry }: Pick<Site, 'registry'>,
  { org }: Pick<Resource, 'org'>,
  html: string,
  {
    hrefOf,
    hosts = imageHosts(registry, org),
  }: { hrefOf: ((name: string) => string) | null; hosts?: readonly string[] },
): string {
  // Text is escaped, so these are elements, with the attributes in the order in which they were written.
  const shown = html.includes('<img src="image:')
    ? html.replace(/<img src="image:([0-9a-f]{16}\.[a-z]+)" alt="([^"]*)"/g, (_, name: string, words: string) =>
        hrefOf === null ? `<img alt="${words}"` : `<img src="${hrefOf(name)}" alt="${words}"`,
      )
    : html;
  if (hosts.length === 0 || !shown.includes('class="image"')) return shown;
  return shown.replace(
    /<a href="([^"]*)" class="image" rel="[^"]*">([^<]*)<\/a>|<span class="image" title="([^"]*)">([^<]*)<\/span>/g,
    (element, link: string | undefined, words: string, title: string, inLink: string) => {
      const address = link ?? title;
      const host = URL.parse(address.replaceAll('&amp;', '&'))?.host;
      if (host === undefined || !hosts.includes(host)) return element;
      const alt = (link === undefined ? inLink : words).replaceAll('"', '&quot;');
      return `<img src="${address}" alt="${alt}" loading="lazy" referrerpolicy="no-referrer">`;
    },
  );
}

/** The hosts whose images the pages of an organization show. */
export function imageHosts({ config }: Pick<Site['registry'], 'config'>, org: string): readonly string[] {
  return organizationIn(config, org)?.images ?? [];
}
