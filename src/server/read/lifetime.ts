import type { Config } from '../../config.ts';
import type { Visibility } from '../../model/access.ts';
import { corsHeaders, securityHeaders, type Fields } from '../headers.ts';

/** Whether an answer stays as it is (a pinned version), or follows what is newest. */
export type Lifetime = 'pinned' | 'latest';

/**
 * Who may keep an answer and for how long, what it varies by, and the fields that every answer has (design §8).
 *
 * A public answer is the same for whoever asks, so it varies by no credential, and `public` lets a shared cache keep it even where a
 * credential was sent (RFC 9111 §3.5). A private one is kept by nobody.
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
    ...purgeable(config, lifetime, keys),
    ...vary,
    ...corsHeaders,
    ...securityHeaders,
  };
}

/** Whether a URL has the same answer for everyone who may read it, or shows one reader more than another. */
export type Audience = 'everyone' | 'reader';

/** What an answer varies by. Caches must never give one reader's answer to another. */
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

/**
 * What CDNs read of a public answer: for how long they may keep it (RFC 9213; `Surrogate-Control` for those that know only that), and the keys by
 * which they are told to forget it: `Surrogate-Key` for Fastly, `Cache-Tag` for Cloudflare and Netlify. Nothing without keys.
 */
export function purgeable({ cache }: Pick<Config, 'cache'>, lifetime: Lifetime, keys: readonly string[]): Fields {
  if (keys.length === 0) return {};
  const age = `max-age=${cache.shared ?? cache[lifetime]}`;
  return {
    'CDN-Cache-Control': `public, ${age}`,
    ...(cache.shared !== null && { 'Surrogate-Control': age }),
    'Surrogate-Key': keys.join(' '),
    'Cache-Tag': keys.join(','),
  };
}
