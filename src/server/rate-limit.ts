import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit, type Store } from 'express-rate-limit';
import { RegistryError } from '../model/errors.ts';
import { principalOf } from './authenticate.ts';
import { createCount, type Count, limitAddresses } from './allowance.ts';
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
): RequestHandler[] {
  const { config, monotonic } = registry;
  const { rateLimit: limits } = config;
  const hookPaths = Object.keys(config.hosts).map((name) => `/hooks/${name}`);
  const isKey = (request: Parameters<RequestHandler>[0]) => principalOf(request).kind !== 'anonymous';
  const store = createRateWindows(createCount(kind, limits.window * 1000, { monotonic, peers }));
  const common = { windowMs: limits.window * 1000, store, legacyHeaders: false, validate: false } as const;
  const ofAsker = rateLimit({
    ...common,
    limit: (request) => (isKey(request) ? limits.key : limits.address),
    identifier: (request) => (isKey(request) ? 'key' : 'address'),
    keyGenerator: (request) => {
      const principal = principalOf(request);
      return principal.kind !== 'anonymous'
        ? `${principal.kind} ${principal.id}`
        : `address ${ipKeyGenerator(request.ip ?? '')}`;
    },
    skip: ({ method, path }) => method === 'POST' && hookPaths.includes(path),
    standardHeaders: 'draft-8',
    handler: (request, _response, next) => next(tooMany(request, 'Too many requests')),
  });
  const ofOrganization = rateLimit({
    ...common,
    limit: limits.organization,
    keyGenerator: (request) => `organization ${organizationOf(request)}`,
    skip: (request) => organizationOf(request) === null,
    standardHeaders: false,
    handler: (request, _response, next) => next(tooMany(request, 'Too many requests of all keys of your organization')),
  });
  return [ofAsker, ofOrganization];
}

function organizationOf(request: Request): string | null {
  const principal = principalOf(request);
  return principal.kind === 'key' ? principal.org : null;
}

function tooMany(request: Request, what: string): RegistryError {
  const { resetTime } = (request as Request & { rateLimit: { resetTime?: Date } }).rateLimit;
  const wait = Math.max(1, Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1000));
  return new RegistryError('rate_limited', `${what}: wait ${wait} s.`, { retryAfter: wait });
}

/** Counts requests for `express-rate-limit`. Counts are never decremented. */
function createRateWindows(count: Count): Store {
  return {
    localKeys: true,
    increment(key) {
      const { uses, milliseconds } = count(key);
      return { totalHits: uses, resetTime: new Date(Date.now() + milliseconds) };
    },
    decrement: unsupported,
    resetKey: unsupported,
  };
}

function unsupported(): never {
  throw new Error('Requests that were counted stay counted.');
}

/** Counts a read for its client address. Throws `rate_limited` above the limit. */
export type ReadLimit = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The configured limit of reads; null if there is none. Headers:
 * draft-ietf-httpapi-ratelimit-headers.
 */
export function createReadLimit(context: Pick<ServerContext, 'registry' | 'peers'>): ReadLimit | null {
  const { reads, window } = context.registry.config.rateLimit;
  if (reads === undefined) return null;
  const message = 'Too many requests from your address. Wait, then retry.';
  const count = limitAddresses('reads', reads, message, context);
  return (request, response) =>
    count(request, ({ remaining, seconds }) => {
      response.setHeader('RateLimit-Policy', `"reads";q=${reads};w=${window}`);
      response.setHeader('RateLimit', `"reads";r=${Math.max(0, remaining)};t=${seconds}`);
    });
}
