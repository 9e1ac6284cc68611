import { resourceTypes } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';
import { exactly, map, type Row } from './rules-nginx-text.ts';

/**
 * Evaluates `Accept` with regular expressions: the first available type with the full weight, else
 * a wildcard, else the first of any weight. Weights between 0 and 1 are not compared.
 */
export function acceptMaps(): string[] {
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
