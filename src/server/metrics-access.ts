import type { IncomingMessage } from 'node:http';
import { isAllowed, type Principal } from '../model/access.ts';
import { RegistryError } from '../model/errors.ts';

const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/;
const loopbackName = /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/i;
/** Headers that proxies add (RFC 7239, RFC 9110 §7.6.3, and customary ones). */
const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Throws unless the caller may read the metrics: a program on this machine, or a key with the scope
 * `admin` for a whole organization. Requests through a proxy also arrive from this machine, but do
 * not count as local: proxies add headers or change `Host`, or `proxies` is set.
 */
export function assertMayReadMetrics(request: IncomingMessage, principal: Principal, proxies: number): void {
  if (principal.kind === 'key' && isAllowed(principal, 'admin', { org: principal.org })) return;
  if (isLocal(request, proxies)) return;
  if (principal.kind === 'anonymous')
    throw new RegistryError(
      'unauthenticated',
      'Metrics need a key with the scope admin, or a request from the same machine.',
    );
  throw new RegistryError('forbidden', 'Metrics need a key with the scope admin for its whole organization.');
}

/** Whether a request comes from a program on this machine, as far as `proxies` and headers tell. */
export function isLocal({ socket, headers }: IncomingMessage, proxies: number): boolean {
  return (
    proxies === 0 &&
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackName.test(headers.host ?? '') &&
    proxyFields.every((name) => headers[name] === undefined)
  );
}
