import { isFilePath, isPagePath, mediaTypeOf, pageAt, relativePath, resolvePath, routeOf } from '../model/page-path.ts';
import type { PageLink } from '../model/source-page.ts';
import { decodePercent } from '../../model/text/decode.ts';

/** Where a link of a page leads. `href`: as written into the HTML; null: the link becomes plain text. */
export type Target =
  | { kind: 'outside'; href: string }
  | { kind: 'inside'; href: string | null; link: Pick<PageLink, 'to' | 'anchor'> }
  | { kind: 'unsafe'; href: null };

/**
 * Resolves a link as written in a page. Links to pages may name the file (`intro.md`) or the URL
 * (`intro`); what starts with `/` is from the top of the site.
 */
export function resolveLink(from: string, written: string, isImage: boolean): Target {
  if (/^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(written)) return { kind: 'outside', href: written };
  // Browsers read a backslash as a slash, so that `/\example.com` would be another host.
  if (/^[\s\p{Cc}]*[a-z][a-z0-9+.-]*:/iu.test(written) || /^[/\\]{2}/.test(written) || written.includes('\\'))
    return { kind: 'unsafe', href: null };
  const [, path = '', hash = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(written) ?? [];
  const anchor = decodePercent(hash) ?? hash;
  const target = path === '' ? from : resolvePath(from, decodePercent(path) ?? path);
  const to = target === null ? null : fileOf(target, isImage);
  if (to === null) return { kind: 'inside', href: null, link: { to: null, anchor } };
  const end = anchor === '' ? '' : `#${encodeURIComponent(anchor)}`;
  if (path === '') return { kind: 'inside', href: end || '#', link: { to, anchor } };
  const route = isPagePath(to) ? routeOf(to) : to;
  return { kind: 'inside', href: relativePath(from, route) + end, link: { to, anchor } };
}

/** The file that a path means; null if no site can have it. */
function fileOf(path: string, isImage: boolean): string | null {
  if (isImage) return isFilePath(path) && mediaTypeOf(path)!.startsWith('image/') ? path : null;
  if (isFilePath(path)) return path;
  const page = pageAt(path.replace(/\.html$/, ''));
  return isPagePath(page) ? page : null;
}
