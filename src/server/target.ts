/**
 * The path and query of a request target (RFC 9112 §3.2); of the absolute form, without scheme and
 * host. Null for an invalid target: a fragment, characters that URIs do not allow, or anything that
 * URL parsers understand differently.
 */
export function readTarget(url: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(url) || url.includes('#')) return null;
  if (url.startsWith('/') || url === '*') return url;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null;
  return url.replace(/^[^:]+:\/\/[^/?]*/, '').replace(/^(?!\/)/, '/');
}
