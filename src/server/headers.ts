/** Header fields by name. Spread to combine: the later value of a name wins. */
export type Fields = Readonly<Record<string, string>>;

/** The fields as Node writes them fastest: names and values in turn. */
export function flatten(fields: Fields): string[] {
  return Object.entries(fields).flat();
}

/**
 * On every answer of the registry: what is sent is data. No sniffing, and where a browser shows it, nothing in it runs, loads or is
 * framed (CSP 3, `sandbox` included).
 */
export const securityHeaders: Fields = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
};

/** The fields that a script of another origin may see, and that it may send when it asks. */
const exposed =
  'Accept-Ranges, Content-Location, Content-Range, Deprecation, ETag, Link, Location, Repr-Digest, Retry-After, Sunset';
const sendable = 'Accept, Authorization, If-Match, If-None-Match, If-Range, Range';

/** What lets scripts of any origin read a public answer (Fetch standard, CORS protocol). Never sent with private ones. */
export const corsHeaders: Fields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposed,
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** The same for a preflight request. */
export const preflightHeaders: Fields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers': sendable,
  'Access-Control-Max-Age': '86400',
};

/**
 * On every page for people: its own styles and scripts, and nothing else, from nowhere else; framed by nobody. `connect`: further origins that
 * its scripts may reach. Pages post to this registry alone, whose guard against other sites wants their origin.
 */
export function pageHeaders({ connect = [] }: { connect?: readonly string[] } = {}): Fields {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...connect].join(' '),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
}
