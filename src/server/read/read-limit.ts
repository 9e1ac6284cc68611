import type { IncomingMessage, ServerResponse } from 'node:http';
import { RegistryError } from '../../model/errors.ts';
import type { Registry } from '../../registry/registry.ts';
import { createAllowance } from '../allowance.ts';
import { limitedName } from '../client-address.ts';

/** Counts a read against its address's limit; throws `rate_limited` once that is passed. */
export type ReadLimit = (request: IncomingMessage, response: ServerResponse) => void;

/** The limit of reads that the configuration sets; null where it sets none (draft-ietf-httpapi-ratelimit-headers for the fields). */
export function createReadLimit({ config, monotonic }: Pick<Registry, 'config' | 'monotonic'>): ReadLimit | null {
  const { reads, window } = config.rateLimit;
  if (reads === undefined) return null;
  const allowance = createAllowance({ limit: reads, window }, monotonic);
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
