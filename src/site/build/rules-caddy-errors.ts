import type { Fields } from './build-manifest.ts';
import { deferred, mapLines, quoteForCaddy, type Field } from './rules-caddy-text.ts';
import type { RulesTable } from './rules-table.ts';

/** Allows only reads and CORS preflights. */
export function methodLines(preflight: Fields): string[] {
  const fields = Object.entries(preflight).map(([name, value]): Field => [name, quoteForCaddy(value)]);
  return [
    '\t@stele_write not method GET HEAD OPTIONS',
    '\terror @stele_write 405',
    '\t@stele_options method OPTIONS',
    '\troute @stele_options {',
    ...deferred('*', [['Allow', '"GET, HEAD, OPTIONS"'], ...fields]).map((line) => `\t${line}`),
    '\t\trespond 204',
    '\t}',
  ];
}

/**
 * Conditions and byte ranges. Caddy's entity tags are not the registry's, so `If-Match` never
 * matches; there are no dates; a range applies if the document is sent uncompressed and the range
 * starts before its end.
 */
export function conditionLines({ versions }: RulesTable): string[] {
  const sizes = versions.flatMap(({ path, sizes: own }) =>
    own.map(([ending, size]): [string, string] => [`${path}${ending}`, String(size)]),
  );
  return [
    '\t@stele_match {',
    '\t\theader If-Match *',
    '\t\tnot header If-Match "\\*"',
    '\t}',
    '\terror @stele_match 412',
    '\trequest_header -If-Match',
    '\trequest_header -If-Modified-Since',
    '\trequest_header -If-Unmodified-Since',
    ...mapLines('stele_size', sizes, '{http.request.uri.path}'),
    '\t@stele_packed header_regexp Accept-Encoding `(?i)br|zstd|gzip|\\*`',
    '\trequest_header @stele_packed -Range',
    '\tvars stele_first ""',
    '\tvars stele_last ""',
    '\t@stele_from header_regexp stele_from Range `(?i)^bytes=\\s*([0-9]{1,15})-([0-9]{0,15})\\s*$`',
    '\tvars @stele_from stele_first {re.stele_from.1}',
    '\tvars @stele_from stele_last {re.stele_from.2}',
    '\t@stele_backwards expression {vars.stele_first} != "" && {vars.stele_last} != "" && int({vars.stele_last}) < int({vars.stele_first})',
    '\trequest_header @stele_backwards -Range',
    '\t@stele_whole {',
    '\t\theader Range *',
    '\t\tnot header_regexp Range `(?i)^bytes=\\s*(?:[0-9]{1,15}-[0-9]*|-0*[1-9][0-9]{0,14})\\s*$`',
    '\t}',
    '\trequest_header @stele_whole -Range',
    '\t@stele_unsized expression {stele_size} == ""',
    '\trequest_header @stele_unsized -Range',
    '\t@stele_beyond {',
    '\t\theader Range *',
    '\t\texpression {stele_size} != "" && {vars.stele_first} != "" && int({vars.stele_first}) >= int({stele_size})',
    '\t}',
    '\t@stele_beyond_if {',
    '\t\theader Range *',
    '\t\theader If-Range *',
    '\t\texpression {stele_size} != "" && {vars.stele_first} != "" && int({vars.stele_first}) >= int({stele_size})',
    '\t}',
    '\trequest_header @stele_beyond_if -Range',
    '\terror @stele_beyond 416',
  ];
}

/** Additional header fields of some errors. */
const more: Readonly<Record<string, readonly string[]>> = {
  method_not_allowed: ['Allow "GET, HEAD, OPTIONS"'],
  range_not_satisfiable: ['Content-Range "bytes */{stele_size}"'],
};

/** Error responses: a page for people if there is one, a problem document for programs. */
export function errorLines({ headers, problems, url }: RulesTable): string[] {
  const fields: Field[] = ['cache-control', 'referrer-policy', 'x-content-type-options'].flatMap((name): Field[] => {
    const value = headers['absent']?.[name];
    return value === undefined ? [] : [[name, quoteForCaddy(value)]];
  });
  const policy = (kind: string) => quoteForCaddy(headers[kind]?.['content-security-policy'] ?? "default-src 'none'");
  const answers = ['method_not_allowed', 'precondition_failed', 'range_not_satisfiable'].flatMap((code) => {
    const problem = problems.find((each) => each.code === code);
    if (problem === undefined) return [];
    const { status, title, meaning: detail } = problem;
    const body = JSON.stringify({ type: `${url}/problems/${code}`, title, status, detail });
    return [
      `\t\t@stele_e${status} expression {err.status_code} == ${status}`,
      ...(more[code] ?? []).map((field) => `\t\theader @stele_e${status} ${field}`),
      `\t\trespond @stele_e${status} ${quoteForCaddy(body)} ${status}`,
    ];
  });
  return [
    'handle_errors {',
    '\troute {',
    '\t# They are about what was asked for, not about the file that says why it is not sent.',
    ...['Range', 'If-Range', 'If-None-Match'].map((name) => `\t\trequest_header -${name}`),
    ...deferred('*', [...fields, ['-Etag', ''], ['-Last-Modified', '']]).map((line) => `\t${line}`),
    '\t\theader Content-Type application/problem+json',
    `\t\theader Content-Security-Policy ${policy('json')}`,
    ...answers,
    '\t\t@stele_person {',
    '\t\t\theader_regexp Accept (?i)^\\s*text/html',
    '\t\t\texpression {err.status_code} in [404, 410]',
    '\t\t}',
    `\t\theader @stele_person Content-Security-Policy ${policy('absent')}`,
    '\t\theader @stele_person Content-Type "text/html; charset=utf-8"',
    '\t\tvars stele_ending .json',
    '\t\tvars @stele_person stele_ending .html',
    '\t\t@stele_e410 expression {err.status_code} == 410',
    '\t\troute @stele_e410 {',
    '\t\t\trewrite * {stele_gone}/410{vars.stele_ending}',
    '\t\t\tfile_server',
    '\t\t}',
    '\t\t@stele_e404 expression {err.status_code} == 404',
    '\t\troute @stele_e404 {',
    '\t\t\trewrite * /404{vars.stele_ending}',
    '\t\t\tfile_server',
    '\t\t}',
    '\t\trespond {err.status_code}',
    '\t}',
    '}',
  ];
}
