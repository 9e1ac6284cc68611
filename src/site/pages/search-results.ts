import { nameOf } from '../../model/resource.ts';
import type { Found, Indexed } from '../../search/search.ts';
import type { Site } from '../site.ts';

/** A resource that a search found, as it is told. */
export interface SearchResult {
  coordinate: string;
  type: Indexed['coordinate']['type'];
  name: string;
  /** The title that its document states, else its name. */
  title: string;
  description: string;
  /** Label of the latest version; null where there is none. */
  version: string | null;
  url: string;
  /** Parts of the document that fit, the best first; `url` leads to their place on its page. */
  matches: { kind: string; name: string; url: string }[];
}

/** What was found, with links (paths from the registry's base; `isWhole`: whole URLs, for documents). */
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
