import type { IncomingMessage } from 'node:http';
import { ipKeyGenerator } from 'express-rate-limit';

/**
 * The client's network address. Trusts only the entries of `X-Forwarded-For` that our own `proxies`
 * reverse proxies appended, like Express' `request.ip` with the same number.
 */
export function clientAddress(request: IncomingMessage, proxies: number): string {
  const direct = request.socket.remoteAddress ?? '';
  if (proxies === 0) return direct;
  const hops = [...forwardedFor(request), direct];
  return hops.at(-1 - proxies) ?? hops[0]!;
}

/** The addresses in `X-Forwarded-For`: each proxy appends the one that it was asked from. */
export function forwardedFor({ headers }: IncomingMessage): string[] {
  const text = [headers['x-forwarded-for'] ?? []].flat().join(',');
  return text.split(',').flatMap((hop) => hop.trim() || []);
}

/**
 * What rate limits count by: the IPv4 address, or the IPv6 network that one client usually has (56
 * bits).
 */
export function limitedName(request: IncomingMessage, proxies: number): string {
  return ipKeyGenerator(clientAddress(request, proxies));
}
