import type { Pages } from '../../model/outline.ts';

/**
 * Points links to anchors at the page of a long document that has them. `current`: the part that
 * the links are on; null: the overview. `hrefOf`: the page of a part, or of the overview.
 */
export function linkParts(
  html: string,
  { parts }: Pages,
  current: string | null,
  hrefOf: (part: string | null) => string,
): string {
  const places = new Map(parts.flatMap(({ name, anchors }) => anchors.map((anchor) => [anchor, name] as const)));
  // Text is escaped, so this is an element. Rendered links have no other attribute before.
  return html.replace(/<a href="#([A-Za-z0-9._/-]+)"/g, (link, anchor: string) => {
    const part = places.get(anchor) ?? null;
    return part === current ? link : `<a href="${hrefOf(part)}#${anchor}"`;
  });
}
