/** Longest path that somebody is sent back to. */
const longest = 2048;

/**
 * The absolute URL of a path of this registry that somebody may be sent back to after signing in, or null for anything that is not
 * surely one: other origins in any spelling (`//host`, `/\host`, `https:`), control characters, escapes that a second decoding would
 * make into these, and the pages of the sign-in itself. Absolute, so that no browser has anything left to resolve.
 */
export function resolveReturnTo(text: string, url: string): string | null {
  // Printable ASCII but the backslash, as a browser sends it: URL parsers drop tabs and line ends, and take `\` for `/`.
  if (text.length > longest || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null;
  const base = new URL(url);
  const target = URL.parse(text, base);
  if (target === null || target.origin !== base.origin || target.username !== '' || target.password !== '') return null;
  const { pathname } = target;
  if (text.startsWith('//') || pathname.startsWith('//') || /%(?:2f|5c|25|[01][0-9a-f]|7f)/i.test(pathname))
    return null;
  if (/^\/log(?:in|out)(?:\/|$)/.test(pathname)) return null;
  return `${base.origin}${pathname}${target.search}`;
}
