/**
 * How a host without rules differs from the registry, a sentence each.
 * `content/docs/static-build.md` lists the same.
 */
export const plainHostLimits: readonly string[] = [
  'It ignores `Accept`: a URL without an ending is the page, and documents are at `.json` and `.yaml`.',
  "The data of `report`, `provenance`, `manifest`, `attestation`, `diff`, `versions`, `dependants` and of an organization's lists is at `….json`.",
  '`@latest`, digests and ranges such as `@^1` return 404.',
  'Withdrawn versions and deleted resources return 404 instead of 410.',
  'It does not use the compressed files.',
  'It does not send `Repr-Digest`, `Content-Location`, `Link`, `Deprecation`, `Sunset`, CORS, caching and security headers, and it guesses media types.',
];
