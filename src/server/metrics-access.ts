import type { IncomingMessage } from 'node:http';
import { isAllowed, type Principal } from '../model/access.ts';
import { RegistryError } from '../model/errors.ts';

const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/;
const loopbackName = /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/i;
/** What proxies add (RFC 7239, RFC 9110 §7.6.3, and the usual ones). */
const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Refuses whoever may not read the metrics. A program on this machine may, and a key with the scope `admin` for a whole organization. A
 * request that came through a proxy is not of this machine, though its connection is: it says so, or its `Host` does, or `proxies`.
 */
export function assertMayReadMetrics(request: IncomingMessage, principal: Principal, proxies: number): void {
  if (principal.kind === 'key' && isAllowed(principal, 'admin', { org: principal.org })) return;
  if (proxies === 0 && isLocal(request)) return;
  if (principal.kind === 'anonymous')
    throw new RegistryError(
      'unauthenticated',
      'Metrics need a key with the scope admin, or a request from the same machine.',
    );
  throw new RegistryError('forbidden', 'Metrics need a key with the scope admin for its whole organization.');
}

function isLocal({ socket, headers }: IncomingMessage): boolean {
  return (
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackName.test(headers.host ?? '') &&
    proxyFields.every((name) => headers[name] === undefined)
  );
}
