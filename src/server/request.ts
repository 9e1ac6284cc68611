import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { malformed } from '../model/errors.ts';

const ids = new WeakMap<IncomingMessage, string>();

/**
 * The id of a request: the same UUID in `X-Request-Id`, in a problem's `instance` and in the log.
 * Never the client's.
 */
export function requestIdOf(request: IncomingMessage): string {
  return ids.getOrInsertComputed(request, () => randomUUID());
}

const names = new WeakMap<IncomingMessage, string>();

/** Sets the route pattern of a request for metrics and the log, where Express does not know it. */
export function nameRoute(request: IncomingMessage, pattern: string): void {
  names.set(request, pattern);
}

/** The route pattern of a request, or null. */
export function routeNameOf(request: IncomingMessage): string | null {
  return names.get(request) ?? null;
}

/** A signal that aborts when the client disconnects. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  response.once('close', () => closed.abort(malformed('The client closed the connection.')));
  return closed.signal;
}

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
    isDirect(headers, proxies) &&
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackName.test(headers.host ?? '')
  );
}

function isDirect(headers: IncomingMessage['headers'], proxies: number): boolean {
  return proxies === 0 && proxyFields.every((name) => headers[name] === undefined);
}

/**
 * Whether a page of another site may have caused the request: its `Origin` is not the registry's, or it came to this
 * machine under a name that is not the registry's, as where a site binds its own name to the address of a visitor.
 */
export function isOfOtherSite({ socket, headers }: IncomingMessage, url: string, proxies: number): boolean {
  const own = new URL(url);
  if (headers.origin !== undefined && headers.origin !== own.origin) return true;
  const { host = '' } = headers;
  const isHere = isDirect(headers, proxies) && loopbackAddress.test(socket.localAddress ?? '');
  return isHere && host.toLowerCase() !== own.host && !loopbackName.test(host);
}
