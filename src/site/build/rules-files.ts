import type { Fields } from './build-manifest.ts';
import type { RulesTable } from './rules-table.ts';

/** Lines that Cloudflare Pages reads of each file; Netlify has no such limits. */
const most = { redirects: 2000 };

/**
 * `_redirects` and `_headers`, which Netlify and Cloudflare Pages read in the root of a build. What they cannot say is in content/docs/static-build.md: they know
 * no `Accept`, so that an address without an ending is its page.
 */
export function fileRules(table: RulesTable): { redirects: string; headers: string } {
  return { redirects: redirectLines(table), headers: headerBlocks(table) };
}

function redirectLines({ base, ranges, aliases }: RulesTable): string {
  const latest = aliases.filter(([from]) => from.endsWith('@latest'));
  // Latest and the ranges of few numbers are what people write; what is beyond the limit is not read.
  const rows = [...latest, ...ranges.toSorted(([a], [b]) => a.length - b.length)].flatMap(([from, to]) =>
    ['', '.json', '.yaml'].map((ending) => `${base}${from}${ending} ${base}${to}${ending} 307`),
  );
  const records = ['report', 'provenance', 'versions'].map(
    (name) => `${base}/:org/:type/:resource/${name} ${base}/:org/:type/:resource/${name}.json 200`,
  );
  return ['# Written by `stele build`.', ...rows.slice(0, most.redirects - records.length), ...records, ''].join('\n');
}

/** Which files are of a kind, in the patterns that both hosts read: a placeholder is a segment, a star stands for anything. The later ones win. */
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
  ['/sitemap.xml', 'discovery'],
  ['/robots.txt', 'discovery'],
  ['/.well-known/api-catalog', 'catalog'],
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
    // Documents, lists and records are data; addresses without an ending are pages.
    ...['*.json', '*.yaml'].map((path) => block(`${base}/@${path}`, { ...data, ...aging(headers['latest']) })),
    ...['', '/:type', '/:type/:resource', '/:type/:resource/'].map((path) => block(`${base}/@:org${path}`, page)),
    ...types.map(([path, type]) => `${path}\n  Content-Type: ${type}`),
    ...hidden,
    '',
  ].join('\n\n');
}

/** What is pinned and what is latest look alike in a pattern: all of it ages as latest does. */
function aging(latest: Fields | undefined): Fields {
  return latest?.['cache-control'] === undefined ? {} : { 'cache-control': latest['cache-control'] };
}

function block(path: string, fields: Fields): string {
  const own = Object.entries(fields).filter(([name]) => name !== 'content-type');
  return [path, ...own.map(([name, value]) => `  ${name}: ${value}`)].join('\n');
}
