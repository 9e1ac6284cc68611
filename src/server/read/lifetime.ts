import type { Config } from '../../config.ts';
import type { Visibility } from '../../model/access.ts';
import { corsHeaders, securityHeaders, type Fields } from '../headers.ts';

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
  return {
    'Cache-Control': publicLifetimes(config)[lifetime],
    ...keyFields(keys),
    ...vary,
    ...corsHeaders,
    ...securityHeaders,
  };
}

/** Whether a URL has the same response for all who may read it, or shows some readers more. */
export type Audience = 'everyone' | 'reader';

/** The `Vary` header. Caches must never give one reader's response to another. */
export function varyOf(isPublic: boolean, by: Audience): Fields {
  const credentials = isPublic && by === 'everyone' ? '' : ', Authorization, Cookie';
  return { Vary: `Accept, Accept-Encoding${credentials}` };
}

function publicLifetimes({ cache }: Pick<Config, 'cache'>): Record<Lifetime, string> {
  return {
    pinned: `public, max-age=${cache.pinned}, immutable`,
    latest: `public, max-age=${cache.latest}, must-revalidate`,
  };
}

/** The keys by which a CDN can drop a public response: `Surrogate-Key` for Fastly, `Cache-Tag` for Cloudflare and Netlify. */
export function keyFields(keys: readonly string[]): Fields {
  return keys.length === 0 ? {} : { 'Surrogate-Key': keys.join(' '), 'Cache-Tag': keys.join(',') };
}
