import type { Config } from '../../config.ts';
import type { Visibility } from '../../model/access.ts';
import { corsHeaders, securityHeaders, type FlatHeaders } from '../headers.ts';

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
  keys: readonly string[] = [],
): FlatHeaders {
  if (visibility === 'private') {
    const vary = 'Accept, Accept-Encoding, Authorization, Cookie';
    return ['Cache-Control', 'private, no-store', 'Vary', vary, ...securityHeaders];
  }
  const vary = 'Accept, Accept-Encoding';
  const age = publicLifetimes(config)[lifetime];
  return ['Cache-Control', age, ...purgeable(config, lifetime, keys), 'Vary', vary, ...corsHeaders, ...securityHeaders];
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
export function purgeable({ cache }: Pick<Config, 'cache'>, lifetime: Lifetime, keys: readonly string[]): FlatHeaders {
  if (keys.length === 0) return [];
  const age = `max-age=${cache.shared ?? cache[lifetime]}`;
  const surrogate = cache.shared === null ? [] : ['Surrogate-Control', age];
  return [
    'CDN-Cache-Control',
    `public, ${age}`,
    ...surrogate,
    'Surrogate-Key',
    keys.join(' '),
    'Cache-Tag',
    keys.join(','),
  ];
}
