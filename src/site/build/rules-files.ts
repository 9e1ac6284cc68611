import type { Fields } from './build-manifest.ts';
import type { RulesTable } from './rules-table.ts';

/** The most lines that Cloudflare Pages reads of each file. Netlify has no limit. */
const limits = { redirects: 2000 };

/**
 * `_redirects` and `_headers`, which Netlify and Cloudflare Pages read in the root of a build. See
 * content/docs/static-build.md for what they cannot express: they ignore `Accept`, so a URL without
 * an extension is its page.
 */
export function fileRules(table: RulesTable): { redirects: string; headers: string } {
  return { redirects: redirectLines(table), headers: headerBlocks(table) };
}

function redirectLines({ base, ranges, aliases, moved }: RulesTable): string {
  const latest = aliases.filter(([from]) => from.endsWith('@latest'));
  // Latest and short ranges come first, because lines beyond the limit are ignored.
  const rows = [...latest, ...ranges.toSorted(([a], [b]) => a.length - b.length)].flatMap(([from, to]) =>
    ['', '.json', '.yaml'].map((ending) => `${base}${from}${ending} ${base}${to}${ending} 307`),
  );
  // These hosts find `guide/start.html` and `guide/index.html` by themselves.
  const others = moved.filter(([from]) => !/(?:\/|\/index|\.html)$/.test(from));
  rows.push(...others.map(([from, to]) => `${base}${from} ${base}${to} 301`));
  return ['# Written by `stele build`.', ...rows.slice(0, limits.redirects), ''].join('\n');
}

/**
 * Patterns for each kind of file, as both hosts read them: a placeholder matches a segment, a star
 * anything. Later ones win.
 */
const places: readonly [string, string][] = [
  ['/', 'home'],
  ['/search/*', 'home'],
  ['/docs/*', 'plain-page'],
  ['/problems/*', 'plain-page'],
  ['/assets/*', 'asset'],
  ['/feeds/*', 'discovery'],
  ['/feed.atom', 'discovery'],
  ['/feed.json', 'discovery'],
  ['/llms.txt', 'discovery'],
  ['/apis.json', 'discovery'],
  ['/sitemap.xml', 'discovery'],
  ['/robots.txt', 'discovery'],
  ['/.well-known/api-catalog', 'catalog'],
  ['/log/*', 'log'],
  ['/log/tile/*', 'log-tile'],
  ['/sites/*', 'site-page'],
  ['/sites/*.svg', 'site-drawing'],
];

function headerBlocks({ base, headers }: RulesTable): string {
  const page = headers['page'] ?? headers['front'] ?? headers['home'] ?? {};
  const data = headers['json'] ?? headers['listing'] ?? {};
  const types: readonly [string, string][] = [
    [`${base}/.well-known/api-catalog`, 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
    [`${base}/*.yaml`, 'application/yaml'],
    [`${base}/*.atom`, 'application/atom+xml; charset=utf-8'],
  ];
  const hidden = ['/.stele-build.json', '/rules/*'].map((path) => `${base}${path}\n  X-Robots-Tag: noindex`);
  return [
    '# Written by `stele build`.',
    ...places.flatMap(([path, kind]) => (headers[kind] ? [block(`${base}${path}`, headers[kind])] : [])),
    // Documents, lists and records have extensions; URLs without one are pages.
    ...['*.json', '*.yaml'].map((path) => block(`${base}/@${path}`, { ...data, ...aging(headers['latest']) })),
    ...['', '/:type', '/:type/:resource', '/:type/:resource/'].map((path) => block(`${base}/@:org${path}`, page)),
    ...types.map(([path, type]) => `${path}\n  Content-Type: ${type}`),
    ...hidden,
    '',
  ].join('\n\n');
}

/** A pattern cannot tell pinned from latest, so both are cached like latest. */
function aging(latest: Fields | undefined): Fields {
  return latest?.['cache-control'] === undefined ? {} : { 'cache-control': latest['cache-control'] };
}

function block(path: string, fields: Fields): string {
  const sent = Object.entries(fields).filter(([name]) => name !== 'content-type');
  return [path, ...sent.map(([name, value]) => `  ${name}: ${value}`)].join('\n');
}
