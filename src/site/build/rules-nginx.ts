import { readFileSync } from 'node:fs';
import { formatReprDigest, type Digest } from '../../model/digest.ts';
import { fillText } from '../../model/escape.ts';
import { types } from '../../model/kinds.ts';
import { resourceTypes } from '../../model/address.ts';
import { catalogPath } from '../discovery.ts';
import type { ProblemKind } from '../pages/message-pages.ts';
import { sitePlaces } from './rules-edge.ts';
import type { RulesTable, VersionRules } from './rules-table.ts';

/** Header fields that differ between files of a kind, or that nginx handles itself. */
const special = new Set(['content-type', 'content-security-policy', 'cache-control']);

/** Kinds of files that may be cached for long while they are asked for by a version. */
const aging = /^(?:json|yaml|record|image|drawing)$/;

/** Kinds of files that have several media types. */
const varied = /^(?:json|yaml|image|asset|discovery|site-list|site-file|site-drawing)$/;

const templates = new URL('../../../content/nginx/', import.meta.url);

function fill(name: string, values: Parameters<typeof fillText>[1]): string {
  return fillText(readFileSync(new URL(`${name}.conf`, templates), 'utf8'), values);
}

/** The maps of nginx's `http` block. They need no third-party module. */
export function httpRules(table: RulesTable): string {
  const { base, headers, resources, moved, codings } = table;
  const versions = versionsIn(table);
  const { aliases, ranges, gone } = namesIn(table);
  const valueOf = (kind: string, name: string, otherwise = '') =>
    quoteForNginx(literal(headers[kind]?.[name] ?? otherwise));
  const policyOf = (kind: string, otherwise = '') => valueOf(kind, 'content-security-policy', otherwise);
  const kindRows = (name: string, but: RegExp) => rowsOf(fieldRows(table, name).filter(([kind]) => !but.test(kind)));
  const ofVersions = (value: (version: VersionRules) => string | null | undefined) =>
    versions.flatMap((version): Row[] => {
      const text = value(version);
      return typeof text !== 'string' ? [] : [[version.path, literal(text)]];
    });
  return fill('http', {
    base,
    path: quoted(exactly(base)),
    size: String(
      2 ** Math.ceil(Math.log2(versions.length * 16 + ranges.length + aliases.length + moved.length + 2048)),
    ),
    wants: [
      ...resourceTypes.map((type) =>
        acceptMap(`$stele_wants_${type}`, [...types[type].mediaTypes.json, ...types[type].mediaTypes.yaml]),
      ),
      acceptMap('$stele_wants_record', ['application/json']),
    ],
    wants_diff: acceptMap('$stele_wants_diff', ['application/json', 'text/markdown']),
    ...Object.fromEntries(
      ['br', 'zstd', 'gzip'].map((coding) => [`no_${coding}`, codings.includes(coding) ? '' : ' ']),
    ),
    unpublished: rowsOf(
      [...resources].flatMap(([path, { latest, isGone }]) =>
        latest === null && !isGone
          ? ['  text/html', '/index.html  text/html'].map((end): Row => [`${path}${end}`, 'users'])
          : [],
      ),
    ),
    site_kinds: rowsOf(sitePlaces.map(({ path, kind }) => [`~^${path} `, kind])),
    site_types: rowsOf(
      sitePlaces.flatMap(({ path, kind, mediaType }): Row[] =>
        mediaType === null ? [] : [[`~^${kind} [^ ]* ${path}$`, mediaType]],
      ),
    ),
    types: kindRows('content-type', varied),
    aliases: rowsOf(aliases),
    ranges: rowsOf(ranges),
    moved: rowsOf(moved),
    gone: rowsOf(gone),
    latest_cache: valueOf('latest', 'cache-control'),
    json_cache: valueOf('json', 'cache-control'),
    caches: kindRows('cache-control', aging),
    fields: fieldNames(table).map((name) => map('$stele_kind', variableOf(name), fieldRows(table, name))),
    own_fields: ownNames(table).map((name) =>
      map('$stele_subject', variableOf(name), [
        ...ofVersions(({ headers: own }) => own[name]),
        ...(name === 'link' ? [['catalog', `<${base}${catalogPath}>; rel="api-catalog"`] as Row] : []),
      ]),
    ),
    try_policies: rowsOf(ofVersions(({ policy }) => policy)),
    page_policies: rowsOf(ofVersions(({ pagePolicy }) => pagePolicy)),
    page_policy: policyOf(headers['page'] ? 'page' : 'users'),
    policies: kindRows('content-security-policy', /^(?:try|page|users|part)$/),
    absent_policy: policyOf('absent'),
    data_policy: policyOf('json', "default-src 'none'"),
    etags: rowsOf(digestRows(versions, (digest) => `"${digest}"`)),
    digests: rowsOf(digestRows(versions, formatReprDigest)),
    sizes: rowsOf(
      versions.flatMap(({ path, sizes }) =>
        sizes.map(([ending, size]): Row => [`${path}${ending}`, String(size).padStart(digits, '0')]),
      ),
    ),
  });
}

/** The digits of a position in a file that are compared, as `http.conf` spells them out. */
const digits = 12;

/** Errors that nginx itself detects, by problem code. */
const refusals = ['malformed', 'method_not_allowed', 'not_acceptable', 'precondition_failed', 'range_not_satisfiable'];

/** Additional header fields of some errors. */
const more: Readonly<Record<string, string>> = {
  method_not_allowed: '  add_header Allow "GET, HEAD, OPTIONS" always;',
  range_not_satisfiable: '  add_header Content-Range $stele_extent always;',
};

/**
 * The locations of nginx's `server` block. Fields of successful responses are added without
 * `always`, so errors, which have their own locations, do not have them.
 */
export function serverRules(table: RulesTable): string {
  const { base, problems } = table;
  const refused = refusals.flatMap((code) => problems.find((problem) => problem.code === code) ?? []);
  const add = (name: string) => `  add_header ${name} ${variableOf(name)};`;
  const own = ownNames(table);
  const refusalHeaders = ['cache-control', 'referrer-policy', 'x-content-type-options'].flatMap((name) => {
    const value = table.headers['absent']?.[name];
    return value === undefined ? [] : [`  add_header ${name} ${quoteForNginx(literal(value))} always;`];
  });
  const values = {
    base,
    path: quoted(exactly(base)),
    headers: [...own.filter((name) => name !== 'link'), ...fieldNames(table)].map(add),
  };
  const answer = fill('answer', {
    ...values,
    error_pages: refused.map(({ code, status }) => `  error_page ${status} @stele_${code};`),
  });
  return fill('server', {
    ...values,
    answer: answer.trimEnd(),
    root: base === '' ? [] : [`location = ${base} { return 308 ${base}/; }`],
    place: base === '' ? '/' : `^~ ${base}/`,
    own_headers: own.map(add),
    json_headers: Object.entries(table.headers['json'] ?? {})
      .filter(([name]) => name !== 'content-type')
      .map(([name, value]) => `  add_header ${name} ${quoteForNginx(literal(value))};`),
    refusal_headers: refusalHeaders,
    refusals: refused.flatMap((problem) => refusal(table.url, problem, refusalHeaders)),
  });
}

function refusal(url: string, { code, status, title, meaning }: ProblemKind, headers: readonly string[]): string[] {
  const body = JSON.stringify({ type: `${url}/problems/${code}`, title, status, detail: meaning });
  return [
    `location @stele_${code} {`,
    '  types { }',
    '  default_type "";',
    '  add_header Content-Type application/problem+json always;',
    '  add_header Content-Security-Policy $stele_data_policy always;',
    ...headers,
    ...(more[code] === undefined ? [] : [more[code]]),
    `  return ${status} ${quoteForNginx(literal(body))};`,
    '}',
  ];
}

function versionsIn({ resources }: Pick<RulesTable, 'resources'>): (VersionRules & { path: string })[] {
  return [...resources].flatMap(([base, { versions }]) =>
    [...versions].map(([label, rules]) => ({ path: `${base}@${label}`, ...rules })),
  );
}

function namesIn({ resources }: RulesTable): Record<'aliases' | 'ranges' | 'gone', Row[]> {
  const all = [...resources].map(([base, { latest, isGone, digests, ranges, gone }]) => {
    const at = ([name, label]: readonly [string, string]): Row => [`${base}@${name}`, `${base}@${label}`];
    const toLatest: Row[] = latest === null ? [] : [[base, `${base}@${latest}`], at(['latest', latest])];
    const whole: Row[] = isGone ? [[`~^${exactly(base)}(?:@[^/]*)?$`, base]] : [];
    return {
      aliases: [...toLatest, ...[...digests].map(at)],
      ranges: [...ranges].map(at),
      gone: [...whole, ...gone.map((name) => at([name, name]))],
    };
  });
  const rows = (name: 'aliases' | 'ranges' | 'gone') => all.flatMap((each) => each[name]);
  return { aliases: rows('aliases'), ranges: rows('ranges'), gone: rows('gone') };
}

function fieldNames({ headers }: RulesTable): string[] {
  const names = new Set(Object.values(headers).flatMap((fields) => Object.keys(fields)));
  return [...names].filter((name) => !special.has(name)).sort();
}

/** Names of the header fields that differ between versions. */
function ownNames(table: RulesTable): string[] {
  return [...new Set(['link', ...versionsIn(table).flatMap(({ headers }) => Object.keys(headers))])];
}

function fieldRows({ headers }: RulesTable, name: string): Row[] {
  return Object.entries(headers).flatMap(([kind, fields]): Row[] => {
    const value = fields[name];
    return value === undefined ? [] : [[kind, literal(value)]];
  });
}

function digestRows(versions: ReturnType<typeof versionsIn>, format: (digest: Digest) => string): Row[] {
  return versions.flatMap(({ path, digests }) =>
    digests.map(([ending, digest]): Row => [`${path}${ending}`, format(digest)]),
  );
}

/** `x-content-type-options` → `$stele_x_content_type_options` */
function variableOf(name: string): string {
  return `$stele_${name.replaceAll('-', '_')}`;
}

const full = '(?:;\\s*q=1(?:\\.0*)?\\s*)?(?:,|$)';
const some = '(?:;(?!\\s*q=0(?:\\.0*)?\\s*(?:,|$))[^,]*)?(?:,|$)';
/** Parameters other than the weight, which are ignored. */
const parameter = '\\s*(?:;(?!\\s*q\\s*=)(?:[^,;"]|"[^"]*")*)*';

/**
 * The media type for an `Accept` value: one of these, `text/html`, or none. For a wildcard, the
 * first of these.
 */
function acceptMap(variable: string, mediaTypes: readonly string[]): string {
  const all = ['text/html', ...mediaTypes];
  const names = `(?:${all.map(exactly).join('|')})`;
  const first = (type: string, weight: string) =>
    `~*^(?:(?!\\s*${names}${parameter}${weight})[^,]*,)*\\s*${exactly(type)}${parameter}${weight}`;
  const wild = (pattern: string, weight: string) => `~*(?:^|,)\\s*(?:${pattern})${parameter}${weight}`;
  const rows = [full, some].flatMap((weight): Row[] => [
    ...all.map((type): Row => [first(type, weight), type]),
    [wild('\\*/\\*|application/\\*', weight), mediaTypes[0]!],
    ...(mediaTypes.includes('text/yaml') ? [[wild('text/\\*', weight), 'text/yaml'] as Row] : []),
  ]);
  // What programs send is looked up, before the patterns.
  return map('$http_accept', variable, [['', mediaTypes[0]!], ['*/*', mediaTypes[0]!], ...rows]);
}

/**
 * A row of a map: the source (`~` marks an expression) and its value, in which `$name` is a
 * variable.
 */
type Row = readonly [string, string];

/** A `map` block. The default value is empty. */
function map(source: string, variable: string, rows: readonly Row[]): string {
  const from = source.startsWith('"') ? source : `"${source}"`;
  return [`map ${from} ${variable} {`, ...rowsOf(rows), '}'].join('\n');
}

function rowsOf(rows: readonly Row[]): string[] {
  return rows.map(([key, value]) => `  ${key === 'default' ? key : quoteForNginx(key)} ${quoteForNginx(value)};`);
}

function quoteForNginx(text: string): string {
  return `"${quoted(text)}"`;
}

function quoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}

/** Quotes a text without variables. nginx has no escape for a dollar sign. */
function literal(text: string): string {
  return text.replaceAll('$', '${stele_dollar}');
}

function exactly(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
