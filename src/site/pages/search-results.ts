import { nameOf } from '../../model/resource.ts';
import type { Found, Indexed } from '../../search/search.ts';
import type { Site } from '../site.ts';

/** A resource in search results. */
export interface SearchResult {
  coordinate: string;
  type: Indexed['coordinate']['type'];
  name: string;
  /** The title in its document, or its name. */
  title: string;
  description: string;
  /** Label of the latest version, or null. */
  version: string | null;
  url: string;
  /** Matching parts of the document, best first. `url`: their position on its page. */
  matches: { kind: string; name: string; url: string }[];
}

/** The results with links: paths under the registry's base, or absolute URLs with `isWhole`. */
export function searchResult(
  { links }: Pick<Site, 'links'>,
  { indexed, matches }: Found,
  { isWhole = false } = {},
): SearchResult {
  const { coordinate, name, title, description, version } = indexed;
  const path = links.to(coordinate);
  const url = isWhole ? links.whole(path) : path;
  return {
    coordinate: nameOf(coordinate),
    type: coordinate.type,
    name,
    title,
    description,
    version,
    url,
    matches: matches.map((item) => ({ kind: item.kind, name: item.name, url: `${url}#${item.anchor}` })),
  };
}
