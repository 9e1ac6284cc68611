import type { Fields } from './build-manifest.ts';
import { conditionLines, errorLines, methodLines } from './rules-caddy-errors.ts';
import { contentTypeOf, deferred, mapLines, pattern, quoteForCaddy, type Field } from './rules-caddy-text.ts';
import { exactly } from './rules-nginx-text.ts';
import { caddyKinds, types, type Kind } from './rules-caddy-kinds.ts';
import type { RulesTable } from './rules-table.ts';

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
    ...[...unpublishedKinds, ...caddyKinds].flatMap(
      ({ path, accept, format, kind, file, type, without = [] }, index) => [
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
      ],
    ),
    '\t@stele_none vars {vars.stele_kind} ""',
    '\terror @stele_none 404',
    ...conditionLines(table),
    '\t# The first of two that set a field has the last word.',
    '\t# Of two `vars` in a matcher, one is enough.',
    '\t@stele_latest {',
    '\t\tvars_regexp {vars.stele_kind} ^(?:json|yaml|record|image|drawing)$',
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
