/**
 * The path and query that a request asks for (RFC 9112 §3.2): of the origin form as they are, of the absolute form without scheme and host.
 * Null for what is no target: a fragment, characters that a URI does not have, anything else that URL parsers disagree about.
 */
export function readTarget(url: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(url) || url.includes('#')) return null;
  if (url.startsWith('/') || url === '*') return url;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  return url.replace(/^[^:]+:\/\/[^/?]*/, '').replace(/^(?!\/)/, '/');
}
