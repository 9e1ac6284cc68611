import type { IncomingMessage, ServerResponse } from 'node:http';
import { RegistryError } from '../../model/errors.ts';
import { createAllowance } from './allowance.ts';
import { limitedName } from './client-address.ts';
import type { ServerContext } from '../server-context.ts';

/** Counts a read for its client address. Throws `rate_limited` above the limit. */
export type ReadLimit = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The configured limit of reads; null if there is none. Headers:
 * draft-ietf-httpapi-ratelimit-headers.
 */
export function createReadLimit({ registry, peers }: Pick<ServerContext, 'registry' | 'peers'>): ReadLimit | null {
  const { config, monotonic } = registry;
  const { reads, window } = config.rateLimit;
  if (reads === undefined) return null;
  const allowance = createAllowance('reads', { limit: reads, window }, { monotonic, peers });
  return (request, response) => {
    const { remaining, seconds } = allowance(limitedName(request, config.proxies));
    response.setHeader('RateLimit-Policy', `"reads";q=${reads};w=${window}`);
    response.setHeader('RateLimit', `"reads";r=${Math.max(0, remaining)};t=${seconds}`);
    if (remaining < 0)
      throw new RegistryError('rate_limited', 'Too many requests from your address. Wait, then retry.', {
        retryAfter: seconds,
      });
  };
}
