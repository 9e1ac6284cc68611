/** The path of the registry's public URL, without a trailing slash: empty, or such as `/contracts`. */
export function basePathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '');
}

/**
 * What is also answered without the base path: probes and metrics, which do not pass the proxy, and
 * what clients only look for at the root of a host (OCI; RFC 9727 §2).
 */
const atRoot = /^\/(?:healthz|readyz|metrics|\.well-known\/api-catalog|v2(?:\/[^?]*)?)(?:\?|$)/;

/**
 * A request target below the base path, as the parts of the server know it. Null for a target of
 * something else on the same host.
 */
export function belowBase(target: string, base: string): string | null {
  if (base === '') return target;
  if (target.startsWith(`${base}/`)) return target.slice(base.length);
  if (target === base || target.startsWith(`${base}?`)) return `/${target.slice(base.length)}`;
  return atRoot.test(target) ? target : null;
}
