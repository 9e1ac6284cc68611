import type { IncomingMessage } from 'node:http';

/**
 * The network address of the client. Of `X-Forwarded-For` only what our own `proxies` reverse proxies appended is believed, as Express'
 * `request.ip` does with the same number.
 */
export function clientAddress(request: IncomingMessage, proxies: number): string {
  const direct = request.socket.remoteAddress ?? '';
  if (proxies === 0) return direct;
  const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',');
  const hops = [...forwarded.split(',').flatMap((hop) => hop.trim() || []), direct];
  return hops.at(-1 - proxies) ?? hops[0]!;
}
