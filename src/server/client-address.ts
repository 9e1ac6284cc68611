import type { IncomingMessage } from 'node:http';
import { ipKeyGenerator } from 'express-rate-limit';

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

/** What limits are counted by: the address, of IPv6 the network of it that one client is given (56 bits). */
export function limitedName(request: IncomingMessage, proxies: number): string {
  return ipKeyGenerator(clientAddress(request, proxies));
}
