import type { RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import type { Config } from '../../config.ts';
import { RegistryError } from '../../model/errors.ts';
import { principalOf } from '../authenticate.ts';

/**
 * Limits requests for each key, and without a key for each address; tells by `RateLimit` and `RateLimit-Policy` what is left. Of hooks, those
 * that were taken are given back: a host sends all its repositories' from a few addresses, and does not send again what was refused.
 */
export function createRateLimit(config: Pick<Config, 'rateLimit'>): RequestHandler {
  const all = createLimit(config, false);
  const hooks = createLimit(config, true);
  return (request, response, next) =>
    request.path.startsWith('/hooks/') ? hooks(request, response, next) : all(request, response, next);
}

function createLimit(
  { rateLimit: limits }: Pick<Config, 'rateLimit'>,
  skipSuccessfulRequests: boolean,
): RequestHandler {
  const isKey = (request: Parameters<RequestHandler>[0]) => principalOf(request).kind === 'key';
  return rateLimit({
    windowMs: limits.window * 1000,
    limit: (request) => (isKey(request) ? limits.key : limits.address),
    identifier: (request) => (isKey(request) ? 'key' : 'address'),
    keyGenerator: (request) => {
      const principal = principalOf(request);
      return principal.kind === 'key' ? `key ${principal.id}` : `address ${ipKeyGenerator(request.ip ?? '')}`;
    },
    skipSuccessfulRequests,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    validate: false,
    handler: (request, _response, next) => {
      const { resetTime } = (request as typeof request & { rateLimit: { resetTime?: Date } }).rateLimit;
      const wait = Math.max(1, Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1000));
      next(new RegistryError('rate_limited', `Too many requests: wait ${wait} s.`, { retryAfter: wait }));
    },
  });
}
