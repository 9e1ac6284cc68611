import { anonymous } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { Digest } from '../../model/digest.ts';
import { nameOf } from '../../model/resource.ts';
import {
  type DeployedPage,
  deploymentsOf,
  siteAddress,
  type DocumentationSite,
} from '../../sites/model/documentation-site.ts';
import { ownFiles, routeOf } from '../../sites/model/page-path.ts';
import type { PublicSnapshot } from '../../registry/public-snapshot.ts';
import { grantSite, type GrantedSite } from '../../sites/registry/read-site.ts';
import { otherAddresses } from '../../sites/pages/other-addresses.ts';
import { placeInRegistry } from '../../sites/pages/placed.ts';
import { siteMarkdown, sitePage, type SitePage } from '../../sites/pages/site-page.ts';
import type { Site } from '../site.ts';
import type { FileKind, Item, Unit } from './build-items.ts';

/** The site as everybody may read it. The snapshot has only such sites. */
async function granted({ registry }: Pick<Site, 'registry'>, site: DocumentationSite): Promise<GrantedSite> {
  return (await grantSite(registry, anonymous, site))!;
}

/**
 * Plans the documentation sites: a unit for each page, so that a changed page is one that is built
 * again, and one for everything else of the site. `inputs` makes the digest of what files depend on.
 */
export async function planSites(
  site: Site,
  { resources, sites }: Pick<PublicSnapshot, 'resources' | 'sites'>,
  inputs: (...values: unknown[]) => Digest,
): Promise<Unit[]> {
  const byName = new Map(resources.map((resource) => [nameOf(resource), resource]));
  const embedded = ({ facts }: DeployedPage) =>
    facts.embeds.map(({ coordinate }) => byName.get(nameOf(parseCoordinate(coordinate)!.coordinate)) ?? null);
  const units: Unit[] = [];
  for (const record of sites) {
    const open = await granted(site, record);
    const { contents, deployment } = open;
    const placed = placeInRegistry(site, record);
    const { settings, pages, files, embeds, renderer } = contents;
    const address = siteAddress(record);
    const named = Object.entries(pages).map(([path, { facts }]) => [path, facts.title, facts.order, facts.hidden]);
    const others = settings.versions.flatMap((version) => sites.filter(({ slug }) => slug === version.site));
    const frame = inputs(settings, named, Object.keys(files), renderer, others.map(siteAddress));
    const item = (path: string, kind: FileKind, file = path): Item => ({
      ask: `${address}/${path}`,
      file: `${address.slice(1)}/${file}`,
      kind,
      isCoded: true,
    });
    for (const [path, page] of Object.entries(pages)) {
      const versions = page.facts.embeds.map(({ coordinate }) => embeds[coordinate] ?? null);
      units.push({
        name: `${address.slice(1)}/${path}`,
        inputs: inputs(frame, page.source, page.facts, versions, embedded(page)),
        items: [
          {
            ...item(routeOf(path), 'site-page', path.replace(/md$/, 'html')),
            make: () => bytesOf(sitePage(site, open, placed, anonymous, path, page)),
          },
          { ...item(path, 'site-markdown'), make: () => bytesOf(siteMarkdown(site, open, placed, anonymous, page)) },
        ],
        again: null,
      });
    }
    const items = [
      ...ownFiles.map((path) => item(path, 'site-list')),
      ...Object.keys(files).map((path) =>
        item(path, path.toLowerCase().endsWith('.svg') ? 'site-drawing' : 'site-file'),
      ),
    ];
    const all = inputs(deploymentsOf(record), deployment, contents);
    units.push({ name: address.slice(1), inputs: all, items, again: null });
  }
  return units;
}

async function bytesOf(page: Promise<SitePage>): Promise<Uint8Array> {
  return Buffer.from((await page).text);
}

/** Paths of sites that lead elsewhere, each with where. */
export async function movedPaths(
  site: Pick<Site, 'registry'>,
  { sites }: Pick<PublicSnapshot, 'sites'>,
): Promise<[from: string, to: string][]> {
  const moved: [string, string][] = [];
  for (const record of sites) {
    const address = siteAddress(record);
    moved.push([address, `${address}/`]);
    for (const [from, to] of otherAddresses(await granted(site, record)))
      moved.push([`${address}/${from}`, `${address}/${to}`]);
  }
  return moved;
}
