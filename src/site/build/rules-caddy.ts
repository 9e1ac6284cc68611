import type { Fields } from './build-manifest.ts';
import { conditionLines, errorLines, methodLines } from './rules-caddy-errors.ts';
import { contentTypeOf, deferred, mapLines, pattern, quoteForCaddy, type Field } from './rules-caddy-text.ts';
import { exactly } from './rules-nginx-text.ts';
import { sitePlaces } from './rules-sites.ts';
import type { RulesTable } from './rules-table.ts';

const types = '(?:apis|schemas|rulesets)';

interface Kind {
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
const kinds: readonly Kind[] = [
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
    path: `^/@.+/(?:report|provenance)$`,
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
  { path: `^/@.+/(?:report|provenance)$`, kind: 'record', file: '{path}.json', type: 'application/json' },
  { path: `^/@.+/versions$`, kind: 'versions', file: '{path}.json', type: 'application/json' },
  { path: `^/@[^/]+(?:/${types})?$`, accept: 'html', kind: 'front', file: '{path}/index.html', type: 'text/html' },
  { path: `^/@[^/]+(?:/${types})?$`, kind: 'listing', file: '{path}.json', type: 'application/json' },
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
  { path: `^/assets/.+\\.svg$`, kind: 'asset', file: '{path}', type: 'image/svg+xml' },
  { path: `^/\\.well-known/api-catalog$`, kind: 'catalog', file: '{path}', type: 'application/linkset+json' },
  { path: `^/llms\\.txt$`, kind: 'discovery', file: '{path}', type: 'text/markdown' },
  { path: `^/robots\\.txt$`, kind: 'discovery', file: '{path}', type: 'text/plain' },
  { path: `^/sitemap[0-9-]*\\.xml$`, kind: 'discovery', file: '{path}', type: 'application/xml' },
  { path: `^/feeds?[/.].*atom$`, kind: 'discovery', file: '{path}', type: 'application/atom+xml' },
  { path: `^/feeds?[/.].*json$`, kind: 'discovery', file: '{path}', type: 'application/feed+json' },
  ...sitePlaces.map(({ path, kind, ending, mediaType }) => ({
    path: pattern(`^${path}$`),
    kind,
    file: `{path}${ending}`,
    type: mediaType ?? (kind === 'site-page' ? 'text/html' : 'text/markdown'),
  })),
];

const accepted: Readonly<Record<string, string>> = {
  html: '(?i)^\\s*text/html\\b',
  markdown: '(?i)^\\s*text/markdown\\b',
  yaml: '(?i)^\\s*(?:application/(?:openapi\\+|x-)?yaml|text/yaml|application/vnd\\.oai\\.openapi)\\s*(?:[,;]|$)',
};

/**
 * Caddy's rules, to be imported into a site block whose root is the build. Fields of successful
 * responses are deferred, so that errors, which are handled elsewhere, do not have them. Requests
 * that the file server would reject itself, with those fields, are rejected before.
 */
export function caddyRules(table: RulesTable): string {
  const { base, headers, unpublished } = table;
  const packed = ['br', 'zstd', 'gzip'].filter((coding) => table.codings.includes(coding));
  const pages = `^(?:${unpublished.map(exactly).join('|')})(?:/index\\.html)?$`;
  const unpublishedKinds: Kind[] =
    unpublished.length === 0
      ? []
      : [{ path: pages, accept: 'html', kind: 'users', file: '{stele_page}', type: 'text/html' }];
  const lines = [
    '# Written by `stele build`: import it in the block of a site, after `root * <the folder of the build>`. Reload Caddy after each build.',
    base === '' ? 'route {' : `route ${base}/* {`,
    ...(base === '' ? [] : [`\turi strip_prefix ${base}`]),
    ...methodLines(headers['preflight'] ?? {}),
    `\t@stele_name path_regexp stele ^(/@[^/]+/${types}/[^/]+?)(\\.json|\\.yaml)?(/[^/]+)?$`,
    '\tvars stele_name ""',
    '\tvars stele_kind ""',
    '\tvars @stele_name stele_name {re.stele.1}',
    '\tvars @stele_name stele_rest {re.stele.2}{re.stele.3}',
    '\tvars stele_age pinned',
    '\t@stele_newest vars_regexp {vars.stele_name} ^/@[^/]+/[^/]+/[^/@]+(?:@latest)?$',
    '\tvars @stele_newest stele_age latest',
    ...mapLines('stele_gone', goneRows(table)),
    '\t@stele_gone expression {stele_gone} != ""',
    '\terror @stele_gone 410',
    ...mapLines('stele_range', table.ranges),
    '\t@stele_range expression {stele_range} != ""',
    `\tredir @stele_range ${base}{stele_range}{vars.stele_rest} 307`,
    ...mapLines('stele_moved', table.moved, '{http.request.uri.path}'),
    '\t@stele_moved expression {stele_moved} != ""',
    ...deferred(
      '@stele_moved',
      Object.entries(headers['moved'] ?? {}).map(([name, value]): Field => [name, quoteForCaddy(value)]),
    ),
    `\tredir @stele_moved ${base}{stele_moved} 301`,
    ...mapLines(
      'stele_alias',
      table.aliases.filter(([from]) => /@(?:latest|sha256:.*)$/.test(from.slice(2))),
    ),
    '\t@stele_alias expression {stele_alias} != ""',
    '\trewrite @stele_alias {stele_alias}{vars.stele_rest}',
    '\tvars @stele_name stele_name {re.stele.1}',
    ...mapLines(
      'stele_page',
      unpublished.map((path) => [path, `${path}/index.html`]),
    ),
    ...ownMaps(table),
    ...[...unpublishedKinds, ...kinds].flatMap(({ path, accept, format, kind, file, type, without = [] }, index) => [
      `\t@stele_${index} {`,
      '\t\tvars {vars.stele_kind} ""',
      `\t\tpath_regexp ${path}`,
      ...(format === undefined ? [] : [`\t\tquery format=${format}`]),
      ...without.map((name) => `\t\tnot query ${name}=*`),
      ...(accept === undefined ? [] : [`\t\theader_regexp Accept ${pattern(accepted[accept]!)}`]),
      '\t}',
      `\troute @stele_${index} {`,
      `\t\tvars stele_kind ${kind}`,
      `\t\theader Content-Type ${quoteForCaddy(contentTypeOf(kind, type))}`,
      `\t\trewrite * ${file}`,
      '\t}',
    ]),
    '\t@stele_none vars {vars.stele_kind} ""',
    '\terror @stele_none 404',
    ...conditionLines(table),
    '\t# The first of two that set a field has the last word.',
    '\t@stele_latest {',
    '\t\tvars {vars.stele_kind} json yaml record image drawing',
    '\t\tvars {vars.stele_age} latest',
    '\t}',
    ...deferred('@stele_latest', [['Cache-Control', quoteForCaddy(headers['latest']?.['cache-control'] ?? '')]]),
    '\theader -Last-Modified',
    ...pagePolicies(table),
    ...Object.entries(headers).flatMap(([kind, fields]) => headerLines(kind, fields)),
    '\tfile_server {',
    ...(packed.length === 0 ? [] : [`\t\tprecompressed ${packed.join(' ')}`]),
    '\t\tdisable_canonical_uris',
    '\t\thide /.stele-build.json',
    '\t}',
    '}',
    ...errorLines(table),
    '',
  ];
  return lines.join('\n');
}

/** Header fields of one version, for its documents and pages. */
function ownMaps({ versions, aliases, base, unpublished }: RulesTable): string[] {
  const latest = aliases.filter(([from]) => !from.slice(2).includes('@'));
  const rows = (valueOf: (version: RulesTable['versions'][number]) => string | undefined) => {
    const replacements = versions.flatMap((version): [string, string][] => {
      const value = valueOf(version);
      return value === undefined ? [] : [[version.path, value]];
    });
    const byPath = new Map(replacements);
    return [
      ...replacements,
      ...latest.flatMap(([from, to]): [string, string][] => (byPath.has(to) ? [[from, byPath.get(to)!]] : [])),
    ];
  };
  const field = (variable: string, name: string) => [
    `\t@${variable} expression {${variable}} != ""`,
    ...deferred(`@${variable}`, [[name, `{${variable}}`]]),
  ];
  return [
    ...mapLines(
      'stele_link',
      rows(({ headers }) => headers['link']),
    ),
    ...field('stele_link', 'Link'),
    ...mapLines(
      'stele_deprecation',
      rows(({ headers }) => headers['deprecation']),
    ),
    ...field('stele_deprecation', 'Deprecation'),
    ...mapLines(
      'stele_sunset',
      rows(({ headers }) => headers['sunset']),
    ),
    ...field('stele_sunset', 'Sunset'),
    ...mapLines('stele_location', [
      ...unpublished.map((path): [string, string] => [path, `${base}${path}`]),
      ...rows(({ path }) => `${base}${path}`),
    ]),
    ...mapLines(
      'stele_policy',
      rows(({ policy }) => policy ?? undefined),
    ),
  ];
}

/** The policies of pages that show images of other hosts. */
function pagePolicies({ versions, aliases }: RulesTable): string[] {
  const policies = new Map(versions.flatMap(({ path, pagePolicy: text }) => (text === null ? [] : [[path, text]])));
  if (policies.size === 0) return [];
  const latest = aliases.flatMap(([from, to]): [string, string][] =>
    policies.has(to) ? [[from, policies.get(to)!]] : [],
  );
  return [
    ...mapLines('stele_page_policy', [...policies, ...latest]),
    '\t@stele_page_policy {',
    '\t\tvars {vars.stele_kind} page users part',
    '\t\texpression {stele_page_policy} != ""',
    '\t}',
    ...deferred('@stele_page_policy', [['Content-Security-Policy', '{stele_page_policy}']]),
  ];
}

function goneRows({ gone }: RulesTable): [string, string][] {
  return gone.map(({ path, isWhole }) => [isWhole ? `~^${exactly(path)}(?:@[^/]*)?$` : path, path]);
}

function headerLines(kind: string, fields: Fields): string[] {
  const changed = Object.entries(fields).filter(
    ([name]) => name !== 'content-type' && !(kind === 'try' && /policy/.test(name)),
  );
  if (changed.length === 0 || ['absent', 'gone', 'latest', 'range', 'moved', 'preflight'].includes(kind)) return [];
  const location = { json: '{stele_location}', yaml: '{stele_location}' }[kind];
  const page = ['page', 'users'].includes(kind) ? '{stele_location}/index.html' : undefined;
  const tails: Readonly<Record<string, string>> = { markdown: '/index.md', part: '{vars.stele_rest}' };
  const tail = tails[kind];
  const where = location ?? page ?? (tail === undefined ? undefined : `{stele_location}${tail}`);
  return [
    `\t@stele_kind_${kind} vars {vars.stele_kind} ${kind}`,
    ...deferred(`@stele_kind_${kind}`, [
      ...changed.map(([name, value]): Field => [name, quoteForCaddy(value)]),
      ...(where === undefined ? [] : [['Content-Location', where] as Field]),
      ...(kind === 'try'
        ? ([
            ['Content-Security-Policy', '{stele_policy}'],
            ['Referrer-Policy', 'same-origin'],
          ] as Field[])
        : []),
    ]),
  ];
}
