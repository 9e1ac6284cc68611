import type { Config } from '../../config.ts';
import type { Visibility } from '../../model/access.ts';
import { resourceKey } from '../../model/cache-key.ts';
import type { Resource } from '../../model/resource.ts';
import { corsHeaders, securityHeaders, type Fields } from '../headers.ts';
import type { IncomingHttpHeaders } from 'node:http';

/** Whether a response never changes (a pinned version) or follows the newest one. */
export type Lifetime = 'pinned' | 'latest';

/**
 * Caching headers and the headers of every response (design §8).
 *
 * A public response is the same for everyone, so it does not vary by credential, and `public` lets
 * a shared cache keep it even if the request had a credential (RFC 9111 §3.5). No cache keeps a
 * private one.
 */
export function sharing(
  config: Pick<Config, 'cache'>,
  visibility: Visibility,
  lifetime: Lifetime,
  { keys = [], by = 'everyone' }: { keys?: readonly string[]; by?: Audience } = {},
): Fields {
  const vary = varyOf(visibility === 'public', by);
  if (visibility === 'private') return { 'Cache-Control': 'private, no-store', ...vary, ...securityHeaders };
  const { cache } = config;
  return {
    'Cache-Control':
      lifetime === 'pinned'
        ? `public, max-age=${cache.pinned}, immutable`
        : `public, max-age=${cache.latest}, must-revalidate`,
    ...keyFields(keys),
    ...vary,
    ...corsHeaders,
    ...securityHeaders,
  };
}

/** As `sharing`, of what shows a resource. */
export function sharingOf(
  config: Pick<Config, 'cache'>,
  resource: Pick<Resource, 'visibility' | 'org' | 'type' | 'slug'>,
  lifetime: Lifetime,
  by: Audience = 'everyone',
): Fields {
  return sharing(config, resource.visibility, lifetime, { keys: [resourceKey(resource)], by });
}

/** Whether a URL has the same response for all who may read it, or shows some readers more. */
export type Audience = 'everyone' | 'reader';

/** The `Vary` header. Caches must never give one reader's response to another. */
export function varyOf(isPublic: boolean, by: Audience): Fields {
  const credentials = isPublic && by === 'everyone' ? '' : ', Authorization, Cookie';
  return { Vary: `Accept, Accept-Encoding${credentials}` };
}

/** The keys by which a CDN can drop a public response: `Surrogate-Key` for Fastly, `Cache-Tag` for Cloudflare and Netlify. */
export function keyFields(keys: readonly string[]): Fields {
  return keys.length === 0 ? {} : { 'Surrogate-Key': keys.join(' '), 'Cache-Tag': keys.join(',') };
}

/** Result of a request's conditions. */
export type ConditionOutcome = 'proceed' | 'not_modified' | 'failed';

/**
 * Evaluates `If-Match` and `If-None-Match` of a GET or HEAD in the order of RFC 9110 §13.2.2. Dates
 * are ignored, as §13.1.3 and §13.1.4 allow: `latest` may move to an older version.
 */
export function evaluateConditions(headers: IncomingHttpHeaders, etag: string): ConditionOutcome {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && !listsTag(ifMatch, etag, 'strong')) return 'failed';
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined && listsTag(ifNoneMatch, etag, 'weak')) return 'not_modified';
  return 'proceed';
}

/** Whether a list of ETags, or `*`, contains this strong ETag (RFC 9110 §8.8.3.2). */
function listsTag(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  for (const [tag] of list.matchAll(/(?:W\/)?"[^"]*"/g)) {
    if (tag === etag || (comparison === 'weak' && tag === `W/${etag}`)) return true;
  }
  return false;
}

/** A range of bytes, both ends included. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * The range that a GET asks for (RFC 9110 §14.2). Null to send everything: for no range, another
 * unit, several ranges, an invalid one, or an `If-Range` that does not match. `unsatisfiable` if it
 * starts after the end.
 */
export function chooseRange(
  { range, 'if-range': ifRange }: IncomingHttpHeaders,
  etag: string,
  size: number,
): ByteRange | 'unsatisfiable' | null {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return null;
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(range);
  if (!match || (match[1] === '' && match[2] === '')) return null;
  if (match[1] === '') {
    const length = Math.min(Number(match[2]), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  const first = Number(match[1]);
  const last = match[2] === '' ? Infinity : Number(match[2]);
  if (last < first) return null;
  return first >= size ? 'unsatisfiable' : { first, last: Math.min(last, size - 1) };
}
