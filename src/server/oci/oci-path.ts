import { isResourceType, isSlug, type Coordinate } from '../../model/address.ts';

/** What a path of the OCI distribution API names. */
export type OciPath =
  | { kind: 'ping' }
  | { kind: 'tags'; coordinate: Coordinate }
  | { kind: 'manifests' | 'blobs' | 'referrers'; coordinate: Coordinate; reference: string };

const grammar =
  /^\/v2\/([^/]+)\/([^/]+)\/([^/]+)\/(?:(?<kind>manifests|blobs|referrers)\/(?<reference>[^/]+)|tags\/list)$/;

/** Whether a request target belongs to the OCI distribution API. */
export function isOci(target: string): boolean {
  return /^\/v2(?:[/?]|$)/.test(target);
}

/**
 * Parses a path of the OCI distribution API. A repository is named `{org}/{type}/{slug}`. Null for
 * anything else. Clients may percent-encode the `:` of a digest.
 */
export function parseOciPath(path: string): OciPath | null {
  if (path === '/v2' || path === '/v2/') return { kind: 'ping' };
  const match = path.length > 1024 ? null : grammar.exec(path.replaceAll(/%3a/gi, ':'));
  if (match === null) return null;
  const [, org, type, slug] = match as unknown as [string, string, string, string];
  if (!isSlug(org) || !isResourceType(type) || !isSlug(slug)) return null;
  const coordinate = { org, type, slug };
  const { kind, reference } = match.groups!;
  return kind === undefined
    ? { kind: 'tags', coordinate }
    : { kind: kind as 'manifests', coordinate, reference: reference! };
}
