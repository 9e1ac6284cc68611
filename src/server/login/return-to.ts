import { basePathOf, belowBase } from '../base-path.ts';

/** Longest path to return to. */
const longest = 2048;

/**
 * Returns the absolute URL of a path of this registry to return to after sign-in. Null for anything
 * that might be elsewhere: paths that are not below the registry's, other origins in any form (`//host`, `/\host`, `https:`), control
 * characters, escapes that become these when decoded twice, and the sign-in pages. The URL is
 * absolute so that browsers have nothing left to resolve.
 */
export function resolveReturnTo(text: string, url: string): string | null {
  // Printable ASCII without the backslash: URL parsers drop tabs and line ends, and treat `\` as
  // `/`.
  if (text.length > longest || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null;
  const base = new URL(url);
  const target = URL.parse(text, base);
  if (target === null || target.origin !== base.origin || target.username !== '' || target.password !== '') return null;
  const { pathname } = target;
  if (text.startsWith('//') || pathname.startsWith('//') || /%(?:2f|5c|25|[01][0-9a-f]|7f)/i.test(pathname))
    return null;
  const below = belowBase(pathname, basePathOf(url));
  if (!pathname.startsWith(basePathOf(url)) || below === null || /^\/log(?:in|out)(?:\/|$)/.test(below)) return null;
  return `${base.origin}${pathname}${target.search}`;
}
