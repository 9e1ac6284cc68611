import type { RequestHandler } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { rateLimited } from '../model/errors.ts';
import { principalOf } from './authenticate.ts';
import { createCount, leftOf, limitAddresses, type Left } from './allowance.ts';
import type { ServerContext } from './server-context.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Limits requests of a kind for each key or person, or for each address without either, and sends `RateLimit` and
 * `RateLimit-Policy`. All keys of an organization have a limit together. Webhook deliveries count only if rejected (see `createReceiveHook`): a host
 * sends those of all its repositories from a few addresses, and does not repeat rejected ones.
 */
export function createRateLimit(
  kind: string,
  { registry, peers }: Pick<ServerContext, 'registry' | 'peers'>,
): RequestHandler {
  const { config, monotonic } = registry;
  const { window, key, address, organization } = config.rateLimit;
  const hookPaths = Object.keys(config.hosts).map((name) => `/hooks/${name}`);
  const count = createCount(kind, window * 1000, { monotonic, peers });
  return (request, response, next) => {
    const principal = principalOf(request);
    if (request.method !== 'POST' || !hookPaths.includes(request.path)) {
      const isKey = principal.kind !== 'anonymous';
      const name = isKey ? `${principal.kind} ${principal.id}` : `address ${ipKeyGenerator(request.ip ?? '')}`;
      const limit = isKey ? key : address;
      const left = leftOf(limit, count(name));
      showLeft(response, isKey ? 'key' : 'address', { limit, window }, left);
      assertLeft(left, 'Too many requests');
    }
    if (principal.kind === 'key')
      assertLeft(
        leftOf(organization, count(`organization ${principal.org}`)),
        'Too many requests of all keys of your organization',
      );
    next();
  };
}

function assertLeft({ remaining, seconds }: Left, what: string): void {
  if (remaining < 0) throw rateLimited(`${what}: wait ${seconds} s.`, { retryAfter: seconds });
}

/** Headers: draft-ietf-httpapi-ratelimit-headers. */
function showLeft(
  response: ServerResponse,
  name: string,
  { limit, window }: { limit: number; window: number },
  { remaining, seconds }: Left,
): void {
  response.setHeader('RateLimit-Policy', `"${name}";q=${limit};w=${window}`);
  response.setHeader('RateLimit', `"${name}";r=${Math.max(0, remaining)};t=${seconds}`);
}

/** Counts a read for its client address. Throws `rate_limited` above the limit. */
export type ReadLimit = (request: IncomingMessage, response: ServerResponse) => void;

/** The configured limit of reads; null if there is none. */
export function createReadLimit(context: Pick<ServerContext, 'registry' | 'peers'>): ReadLimit | null {
  const { reads, window } = context.registry.config.rateLimit;
  if (reads === undefined) return null;
  const message = 'Too many requests from your address. Wait, then retry.';
  const count = limitAddresses('reads', reads, message, context);
  return (request, response) => count(request, (left) => showLeft(response, 'reads', { limit: reads, window }, left));
}
