import type { ProblemKind } from '../pages/message-pages.ts';
import { exactly, literal, quoteForNginx } from './rules-nginx-kinds.ts';
import { fieldNames, ownNames, variableOf } from './rules-nginx.ts';
import type { RulesTable } from './rules-table.ts';

/** Errors that nginx itself detects, by problem code. */
const refusals = ['malformed', 'method_not_allowed', 'not_acceptable', 'precondition_failed', 'range_not_satisfiable'];

type Field = readonly [string, string];

/** Additional header fields of some errors. */
const more: Readonly<Record<string, Field>> = {
  method_not_allowed: ['Allow', '"GET, HEAD, OPTIONS"'],
  range_not_satisfiable: ['Content-Range', '$stele_extent'],
};

/**
 * The locations of nginx's `server` block. Fields of successful responses are added without
 * `always`, so errors, which have their own locations, do not have them.
 */
export function serverRules(table: RulesTable): string {
  const { base, problems } = table;
  const refused = refusals.flatMap((code) => problems.find((problem) => problem.code === code) ?? []);
  const variables = (names: readonly string[]) => names.map((name): Field => [name, variableOf(name)]);
  const own = variables(ownNames(table));
  const bytes: Field[] = [
    ['Content-Encoding', '$stele_encoding'],
    ['Repr-Digest', '$stele_digest'],
  ];
  const rules: Field[] = [
    ['Content-Location', '$stele_location'],
    ['Content-Security-Policy', '$stele_policy'],
    ['Cache-Control', '$stele_cache'],
    ['ETag', '$stele_tag'],
    ['Last-Modified', '""'],
    ...own.filter(([name]) => name !== 'link'),
    ...variables(fieldNames(table)),
  ];
  const whole: Field[] = [['Content-Type', '$stele_type'], ['link', '$stele_link'], ...bytes, ...rules];
  const plainly: Field[] = [
    ['Content-Location', `${base}$stele_own`],
    ['ETag', '$stele_etag'],
    ['Last-Modified', '""'],
    ...own,
    ...bytes,
    ['Content-Type', 'application/$stele_format'],
    ...Object.entries(table.headers['json'] ?? {})
      .filter(([name]) => name !== 'content-type')
      .map(([name, value]): Field => [name, quoteForNginx(literal(value))]),
  ];
  const headers = (fields: readonly Field[]) => fields.map(([name, value]) => `  add_header ${name} ${value};`);
  const anything = [
    '  absolute_redirect off;',
    '  recursive_error_pages on;',
    ...plain(0),
    '  error_page 403 404 @stele_absent;',
    '  error_page 410 @stele_gone;',
    ...refused.map(({ code, status }) => `  error_page ${status} @stele_${code};`),
    '  # 418 to 420 are never sent. A file sent as 304 has the length of its 200, where `return 304` has 0 (RFC 9110 §8.6).',
    '  error_page 418 =304 @stele_known;',
    '  error_page 419 = @stele_part;',
    ...headers(whole),
    '  set $stele_coded "";',
    '  if ($request_method !~ "^(?:GET|HEAD|OPTIONS)$") { return 405; }',
    '  if ($stele_kind = preflight) { return 204; }',
    '  if ($stele_odd) { return 404; }',
    '  if ($stele_gone) { return 410; }',
    `  if ($stele_range) { return 307 ${base}$stele_range$stele_tail$is_args$args; }`,
    `  if ($stele_moved) { return 301 ${base}$stele_moved; }`,
    '  if ($stele_kind = malformed) { return 400; }',
    '  if ($stele_kind = unacceptable) { return 406; }',
    '  if ($stele_kind = "") { return 404; }',
    '  if ($stele_coding = none) { return 406; }',
    '  set $stele_coded $stele_coding;',
    '  if (!-f $document_root$stele_file$stele_coded) { set $stele_coded ""; }',
    '  if ($stele_known) { return 418; }',
    '  if ($stele_part = beyond) { return 416; }',
    '  if ($stele_part) { return 419; }',
    '  rewrite ^ $stele_file$stele_coded break;',
  ];
  return [
    '# Written by `stele build`: include it in the server block. The `root` there is the folder of the build.',
    ...(base === '' ? [] : [`location = ${base} { return 308 ${base}/; }`]),
    base === '' ? 'location / {' : `location ^~ ${base}/ {`,
    ...anything,
    '  # A version by its own address, as most ask for it: with as little to evaluate as can be. It is there if it has a tag.',
    `  location ~ ${quoteForNginx(`^${exactly(base)}(?<stele_own>/@[a-z0-9-]+/[a-z]+/[a-z0-9-]+@(?!latest\\.)[a-z0-9.+~^_-]+)\\.(?<stele_format>json|yaml)$`)} {`,
    '  error_page 403 404 @stele_absent;',
    '  error_page 420 = @stele_anything;',
    ...headers(plainly),
    '  if ($request_uri != $uri) { return 420; }',
    '  if ($stele_usual = "") { return 420; }',
    '  set $stele_subject $stele_own;',
    '  set $stele_file $stele_own.$stele_format;',
    '  set $stele_coded $stele_coding;',
    '  if ($stele_etag = "") { return 420; }',
    '  rewrite ^ $stele_file$stele_coded break;',
    '  }',
    '}',
    'location @stele_anything {',
    ...anything,
    '}',
    'location @stele_known {',
    ...plain(0),
    ...headers(rules),
    '  rewrite ^ $stele_file$stele_coded break;',
    '}',
    'location @stele_part {',
    ...plain(1),
    ...headers(whole),
    '  rewrite ^ $stele_file break;',
    '}',
    ...absence(table, 'absent', '/404'),
    ...absence(table, 'gone', '$stele_gone/410'),
    ...refused.flatMap((problem) => refusal(table, problem)),
    '',
  ].join('\n');
}

/** A location that serves a file. `ranges`: the most byte ranges per request. */
function plain(ranges: number): string[] {
  return ['  if_modified_since off;', `  max_ranges ${ranges};`, '  gzip off;', '  types { }', '  default_type "";'];
}

/** Header fields of every error. */
function refusalHeaders(table: RulesTable, type: string, policy: string): string[] {
  const header = (name: string, value: string) => `  add_header ${name} ${value} always;`;
  return [
    header('Content-Type', type),
    header('Content-Security-Policy', policy),
    ...['cache-control', 'referrer-policy', 'x-content-type-options'].flatMap((name) => {
      const value = table.headers['absent']?.[name];
      return value === undefined ? [] : [header(name, quoteForNginx(literal(value)))];
    }),
  ];
}

/** Missing and deleted resources have files: a page for people, a problem document for programs. */
function absence(table: RulesTable, kind: string, file: string): string[] {
  return [
    `location @stele_${kind} {`,
    ...plain(0),
    '  etag off;',
    '  add_header Last-Modified "" always;',
    ...refusalHeaders(table, '$stele_refusal_type', '$stele_refusal_policy'),
    `  rewrite ^ ${file}$stele_refusal break;`,
    '}',
  ];
}

function refusal(table: RulesTable, { code, status, title, meaning }: ProblemKind): string[] {
  const body = JSON.stringify({ type: `${table.url}/problems/${code}`, title, status, detail: meaning });
  const fields = more[code];
  return [
    `location @stele_${code} {`,
    '  types { }',
    '  default_type "";',
    ...refusalHeaders(table, 'application/problem+json', '$stele_data_policy'),
    ...(fields === undefined ? [] : [`  add_header ${fields[0]} ${fields[1]} always;`]),
    `  return ${status} ${quoteForNginx(literal(body))};`,
    '}',
  ];
}
