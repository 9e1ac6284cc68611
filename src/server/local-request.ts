import type { IncomingMessage } from 'node:http';

const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/;
const loopbackName = /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/i;
/** Headers that proxies add (RFC 7239, RFC 9110 §7.6.3, and customary ones). */
const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Whether a request comes from a program on this machine. Requests through a proxy also arrive from there, but do not count: proxies
 * add headers or change `Host`, or `proxies` is set.
 */
export function isLocal({ socket, headers }: IncomingMessage, proxies: number): boolean {
  return (
    proxies === 0 &&
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackName.test(headers.host ?? '') &&
    proxyFields.every((name) => headers[name] === undefined)
  );
}
