import {
  formatAddress,
  parseCoordinate,
  type Coordinate,
  type Format,
  type Selector,
  type AddressView,
} from '../model/address.ts';
import { findVersion, neighbours, type Resource, type Version } from '../model/resource.ts';

interface LinkOptions {
  label?: string;
  view?: AddressView;
  format?: Format | null;
  part?: string;
}

/** Links as paths under the registry's base, which work under any host name. */
export type Links = ReturnType<typeof createLinks>;

/** Creates links under the public base URL, including its path. */
export function createLinks(url: string) {
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/$/, '');
  /** Path of a resource, a version, or a view of either. `part`: of the views `part` and `image`. */
  function to(coordinate: Coordinate, { label, view = 'document', format = null, part }: LinkOptions = {}): string {
    const selector: Selector = label === undefined ? { kind: 'latest' } : { kind: 'version', version: label };
    return `${base}${formatAddress({ kind: 'resource', coordinate, selector, view, format, ...(part !== undefined && { part }) })}`;
  }
  return {
    to,
    /** Path under the base. */
    path: (path: string): string => `${base}${path}`,
    /** The absolute URL of a path, for documents that are read elsewhere. */
    whole: (path: string): string => `${origin}${path}`,
    /** As `to`, the absolute URL. */
    url: (...of: Parameters<typeof to>): string => `${origin}${to(...of)}`,
  };
}

/** The `Link` value of a version (RFC 8288; relations of RFC 5829, RFC 6596 and RFC 6892). */
export function versionLinks(links: Links, resource: Resource, version: Version): string {
  const toVersion = (label: string) => links.to(resource, { label });
  const { predecessor, successor } = neighbours(resource, version);
  const next = replacementOf(links, resource, version) ?? (successor && toVersion(successor.label));
  const all: (readonly [string, string | null])[] = [
    ['canonical', canonicalOf(links, resource, version)],
    ['latest-version', resource.latest === null ? null : links.to(resource)],
    ['predecessor-version', predecessor && toVersion(predecessor.label)],
    ['successor-version', next],
    ['version-history', links.to(resource, { view: 'versions' })],
    ['describedby', links.to(resource, { label: version.label, view: 'report' })],
  ];
  return all.flatMap(([relation, target]) => (target === null ? [] : [`<${target}>; rel="${relation}"`])).join(', ');
}

/**
 * The canonical path of a version, in its page and in `Link`: the path of the resource for the
 * latest version, otherwise the pinned one. `Content-Location` always has the pinned one.
 */
export function canonicalOf(links: Links, resource: Resource, { label }: Version): string {
  return links.to(resource, resource.latest === label ? {} : { label });
}

/**
 * The replacement of a deprecated version: a label of the same resource, a coordinate, or an
 * external URL.
 */
export function replacementOf(links: Links, resource: Resource, { status }: Version): string | null {
  if (status.state !== 'deprecated' || status.replacement === undefined) return null;
  const named = findVersion(resource, status.replacement);
  if (named) return links.to(resource, { label: named.label });
  const other = parseCoordinate(status.replacement);
  if (other) return links.path(formatAddress({ kind: 'resource', ...other, view: 'document', format: null }));
  const url = URL.parse(status.replacement);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) of a version, if its status has them. */
export function statusHeaders({ status }: Version): Readonly<Record<string, string>> {
  if (status.state !== 'deprecated') return {};
  const since = Math.floor(Date.parse(status.since) / 1000);
  const sunset = status.sunset === undefined ? NaN : Date.parse(status.sunset);
  return { Deprecation: `@${since}`, ...(!Number.isNaN(sunset) && { Sunset: new Date(sunset).toUTCString() }) };
}
