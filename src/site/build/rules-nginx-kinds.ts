import { sitePlaces } from './rules-edge.ts';
import type { RulesTable } from './rules-table.ts';

const types = '(?:apis|schemas|rulesets)';
const name = `/@[^/ ]+/${types}/[^/ ]+`;

/**
 * Maps the path, the parameter `format` and `Accept` to the kind of file, its path, and its media
 * type.
 */
export function kindMaps({ headers, resources }: Pick<RulesTable, 'headers' | 'resources'>): string[] {
  const unpublished = [...resources].flatMap(([path, { latest, isGone }]) =>
    latest === null && !isGone ? [path] : [],
  );
  return [
    '# The resource, with its version where the path has one, and what follows it.',
    map('$stele_path', '$stele_name', [
      [`~^(?<stele_n>/@[^/]+/${types}/[^/]+?)(?:\\.json|\\.yaml)?(?:/[^/]+)?$`, '$stele_n'],
    ]),
    map('$stele_path', '$stele_tail', [[`~^/@[^/]+/${types}/[^/]+?(?<stele_t>\\.json|\\.yaml|/[^/]+)$`, '$stele_t']]),
    map('$stele_path', '$stele_folder', [['~^(?<stele_f>.*?)(?:/|/index\\.md)?$', '$stele_f']]),
    map('$stele_name', '$stele_age', [
      ['~^/@[^/]+/[^/]+/[^/@]+@(?!latest$)', 'pinned'],
      ['default', 'latest'],
    ]),
    '# The cursor names the file of a page of a list.',
    map('$arg_cursor', '$stele_page', [['~^(?<stele_c>[A-Za-z0-9_-]+)$', '.$stele_c']]),
    '# The kind of file that answers.',
    map('$stele_path $arg_format $stele_wants', '$stele_kind_by_name', [
      ...unpublished.flatMap((path): Row[] =>
        ['  text/html', '/index.html  text/html'].map((end) => [`${path}${end}`, 'users']),
      ),
      ...kindRows(),
    ]),
    '# Comparisons of other versions than a version and its predecessor are not here.',
    map('$stele_kind_by_name $arg_from$arg_to', '$stele_kind_of_path', [
      ['~^diff[^ ]* .', ''],
      ['default', '$stele_kind_by_name'],
    ]),
    map('$request_method $stele_range $stele_moved', '$stele_kind', [
      ['~^OPTIONS ', 'preflight'],
      ['~^[A-Z]+ /', 'range'],
      ['~^[A-Z]+  /', 'moved'],
      ['default', '$stele_kind_of_path'],
    ]),
    map('$stele_path', '$stele_page_file', [
      ['~/$', '${stele_path}index.html'],
      ['default', '$stele_path.html'],
    ]),
    map('$stele_kind', '$stele_file', fileRows),
    map('$stele_kind', '$stele_type', [
      ...Object.entries(headers).flatMap(([kind, { 'content-type': type }]): Row[] =>
        type === undefined || varied.test(kind) ? [] : [[kind, type]],
      ),
      ['default', '$stele_type_of_file'],
    ]),
    map('$stele_kind $stele_wants $stele_file', '$stele_type_of_file', typeRows),
  ];
}

function kindRows(): Row[] {
  const page = (ending: string): Row[] => [
    [`~^/@[^/ ]+/rulesets/[^/ ]+${ending}`, 'users'],
    [`~^${name}${ending}`, 'page'],
  ];
  const listing = `~^/@[^/ ]+(?:/${types}|/graph|/${types}/[^/@ ]+/dependants)?`;
  return [
    [`~^${name} json `, 'json'],
    [`~^${name} yaml `, 'yaml'],
    [`~^${name} [^ ]`, 'malformed'],
    [`~^${name}\\.json `, 'json'],
    [`~^${name}\\.yaml `, 'yaml'],
    ...page('  text/html$'),
    [`~^${name}  [^ ]*json$`, 'json'],
    [`~^${name}  [^ ]+$`, 'yaml'],
    [`~^${name}  $`, 'unacceptable'],
    ...page('/index\\.html '),
    [`~^${name}/index\\.md `, 'markdown'],
    ['~^/@[^/ ]+/apis/[^/ ]+/try ', 'try'],
    ['~^/@[^/ ]+/apis/[^/ ]+/part-[a-z0-9-]+ ', 'part'],
    [`~^${name}/diff(?:\\.json|\\.md)? json `, 'diff'],
    [`~^${name}/diff(?:\\.json|\\.md)? html `, 'diff-page'],
    [`~^${name}/diff(?:\\.json|\\.md)? (?:markdown|md) `, 'diff-markdown'],
    [`~^${name}/diff(?:\\.json|\\.md)? [^ ]`, 'unacceptable'],
    [`~^${name}/diff\\.json `, 'diff'],
    [`~^${name}/diff\\.md `, 'diff-markdown'],
    [`~^${name}/diff  text/html$`, 'diff-page'],
    [`~^${name}/diff  text/markdown$`, 'diff-markdown'],
    [`~^${name}/diff  [^ ]*json$`, 'diff'],
    [`~^${name}/diff `, 'unacceptable'],
    [`~^${name}/image-[0-9a-f]+\\.svg `, 'drawing'],
    [`~^${name}/image-[0-9a-f]+\\.(?:png|jpg|gif|webp|avif) `, 'image'],
    [`~^${name}/(?:report|provenance)  text/html$`, 'record-page'],
    [`~^/@[^/ ]+/${types}/[^/@ ]+/versions  text/html$`, 'versions-page'],
    [`~^${name}/(?:report|provenance|manifest|attestation|versions) (?!(?:json)? [^ ])`, 'unacceptable'],
    [`~^${name}/(?:report|provenance|manifest|attestation) `, 'record'],
    [`~^/@[^/ ]+/${types}/[^/@ ]+/versions `, 'versions'],
    [`${listing}  text/html$`, 'front'],
    [`${listing} (?!(?:json)? [^ ])`, 'unacceptable'],
    [`${listing} `, 'listing'],
    ['~^/@[^/ ]+/catalog(?:\\.json|-info\\.yaml) ', 'discovery'],
    ['~^/@', ''],
    ['~^/problems(?:/[a-z_]+)? [^ ]* text/html$', 'plain-page'],
    ['~^/problems(?:/[a-z_]+)? ', 'problem'],
    ['~^/docs(?:/[a-z0-9-]+)?/? [^ ]* text/markdown$', 'doc-markdown'],
    ['~^/docs(?:/[a-z0-9-]+)?/index\\.md ', 'doc-markdown'],
    ['~^/docs(?:/[a-z0-9-]+)?/? ', 'plain-page'],
    ['~^/ ', 'home'],
    ['~^/search  text/html$', 'home'],
    ['~^/search ', 'unacceptable'],
    ['~^/search/[^ ]+\\.json ', 'index'],
    ['~^/assets/[^ ]+\\.(?:css|js|svg|png|txt|woff2) ', 'asset'],
    ['~^/\\.well-known/api-catalog ', 'catalog'],
    ['~^/(?:llms\\.txt|robots\\.txt|apis\\.json|sitemap(?:-[0-9]+)?\\.xml|feed\\.(?:atom|json)) ', 'discovery'],
    ['~^/feeds/[^ ]+\\.(?:atom|json) ', 'discovery'],
    ['~^/log/(?:checkpoint|key(?:\\.pem|\\.proof)?) ', 'log'],
    ['~^/log/tile/[0-9a-z/.]+ ', 'log-tile'],
    ...sitePlaces.map(({ path, kind }): Row => [`~^${path} `, kind]),
  ];
}

const fileRows: Row[] = [
  ['json', '$stele_version.json'],
  ['yaml', '$stele_version.yaml'],
  ['page', '$stele_version/index.html'],
  ['users', '$stele_version/index.html'],
  ['markdown', '$stele_version/index.md'],
  ['try', '$stele_version/try/index.html'],
  ['record', '$stele_version$stele_tail.json'],
  ['~^(?:record-page|part)$', '$stele_version$stele_tail/index.html'],
  ['diff', '$stele_version/diff.json'],
  ['diff-page', '$stele_version/diff/index.html'],
  ['diff-markdown', '$stele_version/diff.md'],
  ['~^(?:image|drawing)$', '$stele_version$stele_tail'],
  ['versions', '$stele_name/versions$stele_page.json'],
  ['versions-page', '$stele_name/versions/index.html'],
  ['listing', '$stele_path$stele_page.json'],
  ['home', '$stele_folder/index.html'],
  ['front', '$stele_path/index.html'],
  ['plain-page', '$stele_folder/index.html'],
  ['doc-markdown', '$stele_folder/index.md'],
  ['problem', '$stele_path.json'],
  ['~^(?:index|asset|catalog|discovery|log|log-tile|site-markdown|site-list|site-file|site-drawing)$', '$stele_path'],
  ['site-page', '$stele_page_file'],
];

/** Kinds of files that have several media types. */
const varied = /^(?:json|yaml|image|asset|discovery|site-list|site-file|site-drawing)$/;

const typeRows: Row[] = [
  ['~^json (?<stele_json>[^ ]*json) ', '$stele_json'],
  ['~^json ', 'application/json'],
  ['~^yaml text/yaml ', 'text/yaml; charset=utf-8'],
  ['~^yaml (?<stele_yaml>[^ ]*(?:yaml|openapi)) ', '$stele_yaml'],
  ['~^yaml ', 'application/yaml'],
  ['~^image .*\\.jpg$', 'image/jpeg'],
  ['~^image .*\\.(?<stele_image>[a-z]+)$', 'image/$stele_image'],
  ['~^asset .*\\.css$', 'text/css; charset=utf-8'],
  ['~^asset .*\\.js$', 'text/javascript; charset=utf-8'],
  ['~^asset .*\\.png$', 'image/png'],
  ['~^asset .*\\.txt$', 'text/plain; charset=utf-8'],
  ['~^asset .*\\.woff2$', 'font/woff2'],
  ['~^asset ', 'image/svg+xml'],
  ['~^discovery .*/llms\\.txt$', 'text/markdown; charset=utf-8'],
  ['~^discovery .*\\.txt$', 'text/plain; charset=utf-8'],
  ['~^discovery .*\\.xml$', 'application/xml'],
  ['~^discovery .*\\.atom$', 'application/atom+xml; charset=utf-8'],
  ['~^discovery .*/apis\\.json$', 'application/apis+json'],
  ['~^discovery .*/catalog\\.json$', 'application/json'],
  ['~^discovery .*\\.yaml$', 'application/yaml'],
  ['~^discovery ', 'application/feed+json'],
  ...sitePlaces.flatMap(({ path, kind, mediaType }): Row[] =>
    mediaType === null ? [] : [[`~^${kind} [^ ]* ${path}$`, mediaType]],
  ),
];

/**
 * A row of a map: the source (`~` marks an expression) and its value, in which `$name` is a
 * variable.
 */
export type Row = readonly [string, string];

/** A `map` block. The default value is empty. */
export function map(source: string, variable: string, rows: readonly Row[]): string {
  const from = source.startsWith('"') ? source : `"${source}"`;
  const lines = rows.map(
    ([key, value]) => `  ${key === 'default' ? key : quoteForNginx(key)} ${quoteForNginx(value)};`,
  );
  return [`map ${from} ${variable} {`, ...lines, '}'].join('\n');
}

/** Empty if this is empty, which is looked up; else what `…_if` is. */
export function unless(source: string, variable: string): string {
  return map(source, variable, [
    ['', ''],
    ['default', `${variable}_if`],
  ]);
}

/** Quotes a text for nginx. */
export function quoteForNginx(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Quotes a text without variables. nginx has no escape for a dollar sign. */
export function literal(text: string): string {
  return text.replaceAll('$', '${stele_dollar}');
}

/** An expression that matches exactly this text. */
export function exactly(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
