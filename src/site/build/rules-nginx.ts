import { formatReprDigest, type Digest } from '../../model/digest.ts';
import { catalogPath } from '../discovery.ts';
import { kindMaps, exactly, literal, map, unless, type Row } from './rules-nginx-kinds.ts';
import type { RulesTable, VersionRules } from './rules-table.ts';
import { resourceTypes } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';

/** Header fields that differ between files of a kind, or that nginx handles itself. */
const special = new Set(['content-type', 'content-security-policy', 'cache-control']);

/** Kinds of files that have the own header fields of their version. */
const ofVersions = ['json', 'yaml', 'page', 'users', 'markdown', 'try', 'record', 'record-page', 'part'];

/** Those that may be cached for long while they are asked for by a version. */
const aging = ['json', 'yaml', 'record', 'image', 'drawing'];

/** The maps of nginx's `http` block. They need no third-party module. */
export function httpRules(table: RulesTable): string {
  const { base, headers } = table;
  const versions = versionsIn(table);
  const { aliases, ranges, gone } = namesIn(table);
  const size =
    2 ** Math.ceil(Math.log2(versions.length * 16 + ranges.length + aliases.length + table.moved.length + 2048));
  return [
    '# Written by `stele build`: include it in the http block, and nginx-server.conf in the server block whose root is the build.',
    '# Reload nginx after each build. Until then what is new is not known here, and what it took the place of is served.',
    `map_hash_max_size ${size};`,
    'map_hash_bucket_size 512;',
    'variables_hash_max_size 2048;',
    '# A dollar sign, which nginx cannot escape.',
    'geo $stele_dollar { default "$"; }',
    '# A path that is spelled otherwise than a registry spells it is absent: escapes but those of @ ^ ~ + and :, empty and dotted segments,',
    '# capitals where names and digests have none. The maps below do not tell those from small letters.',
    map('$request_uri', '$stele_odd', [
      ['~^(?:/[a-z0-9@^~+_-][a-z0-9@^~+_.-]*)*/?(?:\\?|$)', ''],
      ['~^[^?]*%(?!40|5[Ee]|7[Ee]|2[Bb]|3[Aa])', '1'],
      ['~^[^?]*(?://|/\\.\\.?(?:/|\\?|$))', '1'],
      [`~^${exactly(base)}/(?:@|%40)[^@%?]*[A-Z]`, '1'],
      ['~^[^?]*(?:@|%40)(?!latest)(?i:latest)(?:[./?]|$)', '1'],
      ['~^[^?]*(?:@|%40)(?i:sha256)(?::|%3[Aa])[0-9a-f]*[A-F]', '1'],
      ['~^[^?]*(?:@|%40)(?!sha256)(?i:sha256)', '1'],
    ]),
    map('$uri', '$stele_path', [[`~^${exactly(base)}(?<stele_p>/.*)$`, '$stele_p']]),
    ...acceptMaps(),
    ...codingMaps(table.codings),
    ...kindMaps(table),
    '# Latest, and what digests name; what ranges mean; what is there no longer.',
    map('$stele_name', '$stele_version', [...aliases, ['default', '$stele_name']]),
    map('$stele_name', '$stele_range', ranges),
    map('$stele_path', '$stele_moved', table.moved),
    map('$stele_name', '$stele_gone', gone),
    '# Header fields.',
    map('$stele_age', '$stele_aging', [
      ['latest', headers['latest']?.['cache-control'] ?? ''],
      ['default', headers['json']?.['cache-control'] ?? ''],
    ]),
    map('$stele_kind', '$stele_cache', [
      ...aging.map((kind): Row => [kind, '$stele_aging']),
      ...fieldRows(table, 'cache-control').filter(([kind]) => !aging.includes(kind)),
    ]),
    ...fieldNames(table).map((name) => map('$stele_kind', variableOf(name), fieldRows(table, name))),
    map('$stele_kind', '$stele_subject', [
      ...ofVersions.map((kind): Row => [kind, '$stele_version']),
      ['catalog', 'catalog'],
    ]),
    ...ownNames(table).map((name) =>
      map('$stele_subject', variableOf(name), [
        ...versions.flatMap(({ path, headers: own }): Row[] =>
          own[name] === undefined ? [] : [[path, literal(own[name])]],
        ),
        ...(name === 'link' ? [['catalog', `<${base}${catalogPath}>; rel="api-catalog"`] as Row] : []),
      ]),
    ),
    map(
      '$stele_version',
      '$stele_try_policy',
      versions.flatMap(({ path, policy }): Row[] => (policy === null ? [] : [[path, literal(policy)]])),
    ),
    map('$stele_version', '$stele_page_policy', [
      ...versions.flatMap(({ path, pagePolicy }): Row[] => (pagePolicy === null ? [] : [[path, literal(pagePolicy)]])),
      ['default', literal((headers['page'] ?? headers['users'])?.['content-security-policy'] ?? '')],
    ]),
    map('$stele_kind', '$stele_policy', [
      ['try', '$stele_try_policy'],
      ...['page', 'users', 'part'].map((kind): Row => [kind, '$stele_page_policy']),
      ...fieldRows(table, 'content-security-policy').filter(([kind]) => !/^(?:try|page|users|part)$/.test(kind)),
    ]),
    map('$stele_kind', '$stele_location', [
      ['~^(?:json|yaml)$', `${base}$stele_version`],
      ['~^(?:page|users|markdown)$', `${base}$stele_file`],
      ['part', `${base}$stele_version$stele_tail`],
    ]),
    '# Documents are known by the digests of their bytes. Of files that change, nginx makes the tags itself.',
    map(
      '$stele_file$stele_coded',
      '$stele_etag',
      digestRows(table, (digest) => `"${digest}"`),
    ),
    map('$stele_file$stele_coded', '$stele_digest', digestRows(table, formatReprDigest)),
    map('$stele_etag', '$stele_tag', [
      ['', '$sent_http_etag'],
      ['default', '$stele_etag'],
    ]),
    unless('$http_if_none_match', '$stele_known'),
    map('$http_if_none_match $stele_etag', '$stele_known_if', [
      ['~(?:^|[,\\s])(?:W/)?("sha256:[0-9a-f]+")(?:\\s*,.*)? \\1$', '1'],
      ['~^\\* "', '1'],
    ]),
    '# What most ask: no conditions, no ranges, and any type.',
    map(
      '$request_method $http_accept $http_if_match$http_if_none_match$http_if_unmodified_since$http_range',
      '$stele_usual',
      ['GET  ', 'GET */* ', 'HEAD  ', 'HEAD */* '].map((key): Row => [key, '1']),
    ),
    ...rangeMaps(table),
    map('$stele_size', '$stele_extent', [['~^0*(\\d+)$', 'bytes */$1']]),
    map('$stele_coded', '$stele_encoding', [
      ['.br', 'br'],
      ['.zst', 'zstd'],
      ['.gz', 'gzip'],
    ]),
    '# What is said of what is absent: to people a page, to programs a problem document.',
    map('$stele_wants_record', '$stele_refusal', [
      ['text/html', '.html'],
      ['default', '.json'],
    ]),
    map('$stele_refusal', '$stele_refusal_type', [
      ['.html', 'text/html; charset=utf-8'],
      ['default', 'application/problem+json'],
    ]),
    map('$stele_refusal', '$stele_refusal_policy', [
      ['.html', literal(headers['absent']?.['content-security-policy'] ?? '')],
      ['default', '$stele_data_policy'],
    ]),
    map('$stele_kind', '$stele_data_policy', [
      ['default', literal(headers['json']?.['content-security-policy'] ?? "default-src 'none'")],
    ]),
    '',
  ].join('\n');
}

/** All versions by their paths. */
function versionsIn({ resources }: Pick<RulesTable, 'resources'>): (VersionRules & { path: string })[] {
  return [...resources].flatMap(([base, { versions }]) =>
    [...versions].map(([label, rules]) => ({ path: `${base}@${label}`, ...rules })),
  );
}

/** Other paths of versions, ranges, and what is gone. */
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

/** Names of the header fields of all kinds of files. */
export function fieldNames({ headers }: RulesTable): string[] {
  const names = new Set(Object.values(headers).flatMap((fields) => Object.keys(fields)));
  return [...names].filter((name) => !special.has(name)).sort();
}

/** Names of the header fields that differ between versions. */
export function ownNames(table: RulesTable): string[] {
  return [...new Set(['link', ...versionsIn(table).flatMap(({ headers }) => Object.keys(headers))])];
}

function fieldRows({ headers }: RulesTable, name: string): Row[] {
  return Object.entries(headers).flatMap(([kind, fields]): Row[] => {
    const value = fields[name];
    return value === undefined ? [] : [[kind, literal(value)]];
  });
}

function digestRows(table: RulesTable, format: (digest: Digest) => string): Row[] {
  return versionsIn(table).flatMap(({ path, digests }) =>
    digests.map(([ending, digest]): Row => [`${path}${ending}`, format(digest)]),
  );
}

/** `x-content-type-options` → `$stele_x_content_type_options` */
export function variableOf(name: string): string {
  return `$stele_${name.replaceAll('-', '_')}`;
}

/**
 * Evaluates `Accept` with regular expressions: the first available type with the full weight, else
 * a wildcard, else the first of any weight. Weights between 0 and 1 are not compared.
 */
function acceptMaps(): string[] {
  return [
    '# The type to send: the first available one with the full weight, else the first acceptable one.',
    ...resourceTypes.map((type) =>
      acceptMap(`$stele_wants_${type}`, [...types[type].mediaTypes.json, ...types[type].mediaTypes.yaml]),
    ),
    acceptMap('$stele_wants_record', ['application/json']),
    map('$http_accept', '$stele_wants_doc', [['~*^\\s*text/markdown\\s*(?:[,;]|$)', 'text/markdown']]),
    acceptMap('$stele_wants_diff', ['application/json', 'text/markdown']),
    map('$stele_path', '$stele_wants', [
      [`~^/@[^/]+/(?:${resourceTypes.join('|')})/[^/]+/diff$`, '$stele_wants_diff'],
      ['~^/docs(?:/|$)', '$stele_wants_doc'],
      ...resourceTypes.map((type): Row => [`~^/@[^/]+/${type}/[^/]+$`, `$stele_wants_${type}`]),
      ['default', '$stele_wants_record'],
    ]),
  ];
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

/** The digits of a position that are compared. A longer number is past the end of every file. */
const digits = 12;
const beyondAll = '9'.repeat(digits);

/**
 * Evaluates `Range`: `part` if nginx may handle it, `beyond` if it starts past the end of a plain
 * document, else empty, which sends everything. nginx checks it too, but only after writing the
 * header fields of a success.
 */
function rangeMaps(table: RulesTable): string[] {
  const sizes = versionsIn(table).flatMap(({ path, sizes: own }) =>
    own.map(([ending, size]): Row => [`${path}${ending}`, String(size).padStart(digits, '0')]),
  );
  return [
    '# Byte ranges of plain documents: where they begin and end, and the size.',
    map('$http_range', '$stele_first', [
      ['~*^bytes=\\s*-0+\\s*$', beyondAll],
      ['~*^bytes=\\s*-\\d+\\s*$', '0'.repeat(digits)],
      ...padded((number) => `^bytes=\\s*${number}-\\d*\\s*$`),
    ]),
    map('$http_range', '$stele_last', [
      ...padded((number) => `^bytes=\\s*\\d+-${number}\\s*$`),
      ['default', beyondAll],
    ]),
    map('$stele_file', '$stele_size', sizes),
    map('$stele_first $stele_last', '$stele_backwards', greater('1')),
    map('$stele_first $stele_size', '$stele_beyond', [...greater('1'), equal('1')]),
    map('$http_if_range $stele_etag', '$stele_same', [
      ['~^ ', '1'],
      ['~^(\\S+) \\1$', '1'],
    ]),
    unless('$http_range', '$stele_part'),
    map(
      '$request_method$stele_coded $stele_first,$stele_size,$stele_same,$stele_backwards,$stele_beyond',
      '$stele_part_if',
      [
        ['~^GET \\d+,\\d+,1,,$', 'part'],
        ['~^GET \\d+,\\d+,1,,1$', 'beyond'],
      ],
    ),
  ];
}

/** Rows that pad a number of any length with zeros. */
function padded(pattern: (number: string) => string): Row[] {
  const rows = Array.from({ length: digits }, (_, index): Row => {
    const length = index + 1;
    return [`~*${pattern(`0*(\\d{${length}})`)}`, `${'0'.repeat(digits - length)}$1`];
  });
  return [...rows, [`~*${pattern('\\d+')}`, beyondAll]];
}

/**
 * Evaluates `Accept-Encoding`: the file extension of the coding with the highest weight, br before
 * zstd before gzip if equal; empty for plain bytes, `none` if not even those are accepted. A weight
 * has four digits, `0500.br`, so that weights compare as strings. `codings`: those that have files.
 */
export function codingMaps(codings: readonly string[]): string[] {
  const weighed = (coding: string, ending: string) =>
    codings.includes(coding)
      ? weigh(coding, ending, '$stele_q_else')
      : map('$http_accept_encoding', `$stele_q_${coding}`, [['default', `0000${ending}`]]);
  return [
    '# What may be packed how: each coding with its weight of four digits, and the better of two, until one is left.',
    map('$http_accept_encoding', '$stele_q_any', weights('\\*', '')),
    map('$stele_q_any', '$stele_q_else', [
      ['', '0000'],
      ['default', '$stele_q_any'],
    ]),
    // Plain bytes are acceptable unless excluded, but after every named coding.
    map('$stele_q_any', '$stele_q_unnamed', [
      ['', '0001'],
      ['default', '$stele_q_any'],
    ]),
    weighed('br', '.br'),
    weighed('zstd', '.zst'),
    weighed('gzip', '.gz'),
    weigh('identity', '', '$stele_q_unnamed'),
    better('$stele_q_1', '$stele_q_br', '$stele_q_zstd'),
    better('$stele_q_2', '$stele_q_1', '$stele_q_gzip'),
    better('$stele_q_best', '$stele_q_2', '$stele_q_identity'),
    map('$stele_q_best', '$stele_coding_weighed', [
      ['~^0000', 'none'],
      ...['.br', '.zst', '.gz'].map((ending): Row => [`~\\${ending}$`, ending]),
    ]),
    '# What browsers and tools send is looked up. Anything else is weighed: that tries some fifty patterns.',
    map('$http_accept_encoding', '$stele_coding', [
      ...usual.map((names): Row => [names, bestOf(names, codings)]),
      ['default', '$stele_coding_weighed'],
    ]),
  ];
}

/** Usual values of `Accept-Encoding`, without weights. nginx compares them without regard to capitals. */
const usual = [
  '|identity|gzip|br|zstd|gzip, deflate|gzip,deflate|deflate, gzip|gzip, br|br, gzip|gzip, deflate, br',
  'deflate, gzip, br|br, gzip, deflate|gzip, compress, deflate, br|gzip, deflate, br, zstd|deflate, gzip, br, zstd',
].flatMap((line) => line.split('|'));

/** The ending of the best of these codings, as the maps would find it. Empty: plain bytes. */
function bestOf(names: string, codings: readonly string[]): string {
  const named = names.split(',').map((name) => name.trim());
  const endings = { br: '.br', zstd: '.zst', gzip: '.gz' };
  const best = Object.entries(endings).find(([coding]) => named.includes(coding) && codings.includes(coding));
  return best?.[1] ?? '';
}

/**
 * Rows that match if the first of two numbers with equally many digits (`0500 1000`) is greater,
 * and one if they are equal.
 */
function greater(value: string): Row[] {
  return Array.from({ length: 9 }, (_, index): Row => {
    const digit = 9 - index;
    return [`~^(\\d*)${digit}\\d*\\S* \\1[0-${digit - 1}]`, value];
  });
}

function equal(value: string): Row {
  return ['~^(\\d+)\\S* \\1(?!\\d)', value];
}

function weigh(coding: string, ending: string, otherwise: string): string {
  const rows = weights(coding, ending);
  return map('$http_accept_encoding', `$stele_q_${coding}`, [...rows, ['default', `${otherwise}${ending}`]]);
}

function weights(name: string, ending: string): Row[] {
  const of = (weight: string) => `~*(?:^|,)\\s*${name}\\s*${weight}\\s*(?:,|$)`;
  return [
    [of('(?:;\\s*q=1(?:\\.0*)?)?'), `1000${ending}`],
    [of(';\\s*q=0(?:\\.0*)?'), `0000${ending}`],
    [of(';\\s*q=0\\.(\\d)'), `0$100${ending}`],
    [of(';\\s*q=0\\.(\\d\\d)'), `0$10${ending}`],
    [of(';\\s*q=0\\.(\\d{3})'), `0$1${ending}`],
  ];
}

function better(variable: string, first: string, second: string): string {
  return map(`${first} ${second}`, variable, [...greater(first), equal(first), ['default', second]]);
}
