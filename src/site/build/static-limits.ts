/** What a host that reads none of a build's rules does otherwise than the registry, a sentence each. `content/docs/static-build.md` has them too. */
export const plainHostLimits: readonly string[] = [
  'It does not look at `Accept`: an address without an ending is its page, and documents are at `.json` and `.yaml`.',
  '`report`, `provenance`, `versions` and the lists of an organization are at addresses that end in `.json`.',
  '`@latest`, digests and ranges such as `@^1` lead nowhere.',
  'A version that was withdrawn and a resource that was deleted are 404, not 410.',
  'Packed files are not sent in place of the plain ones.',
  '`Repr-Digest`, `Content-Location`, `Link`, `Deprecation`, `Sunset`, CORS, caching and security fields are not sent, and media types are guessed.',
];
