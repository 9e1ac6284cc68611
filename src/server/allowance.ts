import { rateLimited } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import type { IncomingMessage } from 'node:http';
import { ipKeyGenerator } from 'express-rate-limit';

/** Other processes that answer at the same address, such as the workers of `stele serve`. */
export interface Peers {
  /** Sends one use to the others, within a tenth of a second. */
  send(kind: string, name: string): void;
  /** Calls `add` with the uses of this kind that others send. */
  listen(kind: string, add: (name: string, uses: number) => void): void;
}

/** Counts one use for the name. Returns its uses in this window, and when the window ends. */
export type Count = (name: string) => { uses: number; milliseconds: number };

const maxNames = 100_000;

/**
 * Counts uses by name in windows of so many milliseconds, which are the same for all names. Names of
 * past windows are forgotten, and all names if there are too many. `peers`: the processes that
 * count together with this one.
 */
export function createCount(
  kind: string,
  window: number,
  { monotonic, peers }: { monotonic: () => number; peers?: Peers | undefined },
): Count {
  let counted = new Map<string, number>();
  let endsAt = 0;

  function add(name: string, uses: number): ReturnType<Count> {
    const time = monotonic();
    if (time >= endsAt || counted.size >= maxNames) {
      counted = new Map();
      endsAt = time + window;
    }
    const total = (counted.get(name) ?? 0) + uses;
    counted.set(name, total);
    return { uses: total, milliseconds: endsAt - time };
  }

  peers?.listen(kind, add);
  return (name) => {
    peers?.send(kind, name);
    return add(name, 1);
  };
}

/** What remains of a limit in the current window. */
export interface Left {
  /** Negative if the limit was exceeded. */
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  seconds: number;
}

/** What remains of a limit after a use. */
export function leftOf(limit: number, { uses, milliseconds }: ReturnType<Count>): Left {
  return { remaining: limit - uses, seconds: Math.max(1, Math.ceil(milliseconds / 1000)) };
}

/**
 * Allows `limit` requests of a kind for each client address in each window that is configured. Counting one throws
 * `rate_limited` above the limit, after `show` has got what remains.
 */
export function limitAddresses(
  kind: string,
  limit: number,
  message: string,
  { registry, peers }: { registry: Pick<Registry, 'config' | 'monotonic'>; peers?: Peers | undefined },
): (request: IncomingMessage, show?: (left: Left) => void) => void {
  const { config, monotonic } = registry;
  const count = createCount(kind, config.rateLimit.window * 1000, { monotonic, peers });
  return (request, show) => {
    const left = leftOf(limit, count(limitedName(request, config.proxies)));
    show?.(left);
    if (left.remaining < 0) throw rateLimited(message, { retryAfter: left.seconds });
  };
}

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
