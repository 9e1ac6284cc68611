import { pattern } from './rules-caddy-text.ts';
import { sitePlaces } from './rules-sites.ts';

/** The types of resources, as a pattern. */
export const types = '(?:apis|schemas|rulesets)';

/** An organization, a type in it, and who uses what. */
const listing = `^/@[^/]+(?:/${types}|/graph|/${types}/[^/@]+/dependants)?$`;

/** A kind of file, and how a request for it looks. */
export interface Kind {
  path: string;
  accept?: string;
  format?: string;
  kind: string;
  file: string;
  type: string;
  /** Parameters with which it is not this kind. */
  without?: readonly string[];
}

/** Comparisons with the predecessor. Those of other versions are not in a build. */
function diffKinds(): Kind[] {
  const base = `^/@[^/]+/${types}/[^/]+/diff`;
  const without = ['from', 'to'];
  const page = { kind: 'diff-page', file: '{path}/index.html', type: 'text/html', without };
  const markdown = { kind: 'diff-markdown', type: 'text/markdown', without };
  const json = { kind: 'diff', type: 'application/json', without };
  return [
    { ...json, path: `${base}$`, format: 'json', file: '{path}.json' },
    { ...page, path: `${base}$`, format: 'html' },
    { ...markdown, path: `${base}$`, format: 'markdown', file: '{path}.md' },
    { ...json, path: `${base}\\.json$`, file: '{path}' },
    { ...markdown, path: `${base}\\.md$`, file: '{path}' },
    { ...page, path: `${base}$`, accept: 'html' },
    { ...markdown, path: `${base}$`, accept: 'markdown', file: '{path}.md' },
    { ...json, path: `${base}$`, file: '{path}.json' },
  ];
}

/**
 * The kinds of files by the first type in `Accept`: `html`, `yaml`, `json`, in the order of
 * matching.
 */
export const caddyKinds: readonly Kind[] = [
  { path: `^/@[^/]+/${types}/[^/]+\\.json$`, kind: 'json', file: '{path}', type: 'application/json' },
  { path: `^/@[^/]+/${types}/[^/]+\\.yaml$`, kind: 'yaml', file: '{path}', type: 'application/yaml' },
  { path: `^/@[^/]+/rulesets/[^/]+$`, accept: 'html', kind: 'users', file: '{path}/index.html', type: 'text/html' },
  { path: `^/@[^/]+/${types}/[^/]+$`, accept: 'html', kind: 'page', file: '{path}/index.html', type: 'text/html' },
  { path: `^/@[^/]+/${types}/[^/]+$`, accept: 'yaml', kind: 'yaml', file: '{path}.yaml', type: 'application/yaml' },
  { path: `^/@[^/]+/${types}/[^/]+$`, kind: 'json', file: '{path}.json', type: 'application/json' },
  { path: `^/@[^/]+/rulesets/[^/]+/index\\.html$`, kind: 'users', file: '{path}', type: 'text/html' },
  { path: `^/@[^/]+/${types}/[^/]+/index\\.html$`, kind: 'page', file: '{path}', type: 'text/html' },
  { path: `^/@[^/]+/${types}/[^/]+/index\\.md$`, kind: 'markdown', file: '{path}', type: 'text/markdown' },
  ...diffKinds(),
  { path: `^/@[^/]+/apis/[^/]+/part-[a-z0-9-]+$`, kind: 'part', file: '{path}/index.html', type: 'text/html' },
  { path: `^/@.+/image-[0-9a-f]+\\.svg$`, kind: 'drawing', file: '{path}', type: 'image/svg+xml' },
  ...['png', 'jpg', 'gif', 'webp', 'avif'].map((ending) => ({
    path: `^/@.+/image-[0-9a-f]+\\.${ending}$`,
    kind: 'image',
    file: '{path}',
    type: `image/${ending === 'jpg' ? 'jpeg' : ending}`,
  })),
  { path: `^/@[^/]+/apis/[^/]+/try$`, kind: 'try', file: '{path}/index.html', type: 'text/html' },
  {
    path: `^/@.+/(?:report|provenance|attestation)$`,
    format: 'json',
    kind: 'record',
    file: '{path}.json',
    type: 'application/json',
  },
  { path: `^/@.+/versions$`, format: 'json', kind: 'versions', file: '{path}.json', type: 'application/json' },
  {
    path: `^/@.+/(?:report|provenance)$`,
    accept: 'html',
    kind: 'record-page',
    file: '{path}/index.html',
    type: 'text/html',
  },
  { path: `^/@.+/versions$`, accept: 'html', kind: 'versions-page', file: '{path}/index.html', type: 'text/html' },
  { path: `^/@.+/(?:report|provenance|attestation)$`, kind: 'record', file: '{path}.json', type: 'application/json' },
  { path: `^/@.+/versions$`, kind: 'versions', file: '{path}.json', type: 'application/json' },
  { path: listing, accept: 'html', kind: 'front', file: '{path}/index.html', type: 'text/html' },
  { path: listing, kind: 'listing', file: '{path}.json', type: 'application/json' },
  {
    path: `^/problems(?:/[a-z_]+)?$`,
    accept: 'html',
    kind: 'plain-page',
    file: '{path}/index.html',
    type: 'text/html',
  },
  { path: `^/problems(?:/[a-z_]+)?$`, kind: 'problem', file: '{path}.json', type: 'application/json' },
  { path: `^/docs(?:/[a-z0-9-]+)?/index\\.md$`, kind: 'doc-markdown', file: '{path}', type: 'text/markdown' },
  { path: `^/docs/?$`, kind: 'plain-page', file: '/docs/index.html', type: 'text/html' },
  { path: `^/docs/[a-z0-9-]+$`, kind: 'plain-page', file: '{path}/index.html', type: 'text/html' },
  { path: `^/$`, kind: 'home', file: '/index.html', type: 'text/html' },
  { path: `^/search$`, kind: 'home', file: '/search/index.html', type: 'text/html' },
  { path: `^/search/.+\\.json$`, kind: 'index', file: '{path}', type: 'application/json' },
  { path: `^/assets/.+\\.css$`, kind: 'asset', file: '{path}', type: 'text/css' },
  { path: `^/assets/.+\\.js$`, kind: 'asset', file: '{path}', type: 'text/javascript' },
  { path: `^/assets/.+\\.png$`, kind: 'asset', file: '{path}', type: 'image/png' },
  { path: `^/assets/.+\\.txt$`, kind: 'asset', file: '{path}', type: 'text/plain' },
  { path: `^/assets/.+\\.woff2$`, kind: 'asset', file: '{path}', type: 'font/woff2' },
  { path: `^/assets/.+\\.svg$`, kind: 'asset', file: '{path}', type: 'image/svg+xml' },
  { path: `^/\\.well-known/api-catalog$`, kind: 'catalog', file: '{path}', type: 'application/linkset+json' },
  { path: `^/apis\\.json$`, kind: 'discovery', file: '{path}', type: 'application/apis+json' },
  { path: `^/@[^/]+/catalog\\.json$`, kind: 'discovery', file: '{path}', type: 'application/json' },
  { path: `^/@[^/]+/catalog-info\\.yaml$`, kind: 'discovery', file: '{path}', type: 'application/yaml' },
  { path: `^/llms\\.txt$`, kind: 'discovery', file: '{path}', type: 'text/markdown' },
  { path: `^/robots\\.txt$`, kind: 'discovery', file: '{path}', type: 'text/plain' },
  { path: `^/sitemap[0-9-]*\\.xml$`, kind: 'discovery', file: '{path}', type: 'application/xml' },
  { path: `^/feeds?[/.].*atom$`, kind: 'discovery', file: '{path}', type: 'application/atom+xml' },
  { path: `^/feeds?[/.].*json$`, kind: 'discovery', file: '{path}', type: 'application/feed+json' },
  { path: `^/log/(?:checkpoint|key(?:\\.pem|\\.proof)?)$`, kind: 'log', file: '{path}', type: 'text/plain' },
  { path: `^/log/tile/[0-9a-z/.]+$`, kind: 'log-tile', file: '{path}', type: 'application/octet-stream' },
  ...sitePlaces.map(({ path, kind, ending, mediaType }) => ({
    path: pattern(`^${path}$`),
    kind,
    file: `{path}${ending}`,
    type: mediaType ?? (kind === 'site-page' ? 'text/html' : 'text/markdown'),
  })),
];
