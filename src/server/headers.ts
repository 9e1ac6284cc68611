/** Header fields by name. Spread to combine: the later value of a name wins. */
export type Fields = Readonly<Record<string, string>>;

/** Fields as a list of names and values in turn, which Node writes fastest. */
export function flattenFields(fields: Fields): string[] {
  return Object.entries(fields).flat();
}

/**
 * Headers of every response with data: no sniffing, and a browser that shows it runs, loads and
 * frames nothing (CSP 3 with `sandbox`).
 */
export const securityHeaders: Fields = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
};

/** Those of every response but reads; what sends pages relaxes them for itself. */
export function defaultHeaders(url: string): Fields {
  return {
    ...securityHeaders,
    'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...(url.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' }),
  };
}

/** Headers that scripts of another origin may read, and that they may send. */
const exposed =
  'Accept-Ranges, Content-Location, Content-Range, Deprecation, ETag, Link, Location, Repr-Digest, Retry-After, Sunset';
const sendable = 'Accept, Authorization, If-Match, If-None-Match, If-Range, Range';

/**
 * Let scripts of any origin read a public response (Fetch standard, CORS protocol). Never sent with
 * private ones.
 */
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

/** Headers of the files of pages. Their policy counts for workers and for an image that is opened by itself. */
export const assetHeaders: Fields = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; script-src 'self'; frame-ancestors 'none'",
};

/**
 * Headers of every page: its own styles and scripts, nothing from other origins, no framing.
 * `connect`: other origins that its scripts may reach; `images`: other hosts whose images it shows. `framedBy`: whose pages may show it in a frame
 * (sources of CSP 3). The referrer policy lets forms post to this
 * registry, whose check against cross-site requests needs the origin.
 */
export function pageHeaders({
  connect = [],
  images = [],
  framedBy = ["'none'"],
}: { connect?: readonly string[]; images?: readonly string[]; framedBy?: readonly string[] } = {}): Fields {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    ["img-src 'self' data:", ...images.map((host) => `https://${host}`)].join(' '),
    "font-src 'self'",
    ["connect-src 'self'", ...connect].join(' '),
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${framedBy.join(' ')}`,
  ];
  return {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
}
